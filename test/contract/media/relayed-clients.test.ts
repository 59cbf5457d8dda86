/**
 * Browsers that reach us only by a TURN server over TCP or TLS (media/embedded/relayed-port.ts): checks with the tie-breaker 0, as a
 * client sends them, to a real connection of the library.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { Audio, PeerConnection } from 'node-datachannel';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { systemClock } from '../../../contracts/clock.js';
import { LIMITS } from '../../../contracts/limits.js';
import { Peer } from '../../../media/embedded/peer.js';
import { RelayedPort } from '../../../media/embedded/relayed-port.js';
import { passwordOf, userFragmentOf } from '../../../media/embedded/sdp.js';
import { holdPort } from '../../../media/embedded/udp-port.js';
import { letLibraryGo } from '../../fixtures/calls/caller-peer.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { exactly } from '../../fixtures/exactly.js';
import { checkOf, errorCodeOf } from '../../fixtures/media/stun.js';
import { until } from '../../fixtures/until.js';

const BIND = '127.0.0.1';
const SUCCESS = 0x0101;
const PASSWORD = 'password-of-22-characters';

/** A UDP socket of a client's relay, and what it got. */
async function relay(t: Pick<Test, 'teardown'>) {
  const socket = createSocket('udp4');
  const got: Buffer[] = [];
  socket.on('message', (message) => got.push(message));
  socket.bind(0, BIND);
  await once(socket, 'listening');
  t.teardown(() => socket.close());
  return { socket, got, send: (message: Buffer, port: number) => socket.send(message, port, BIND) };
}

/** The answer to a message that is sent until there is one: datagrams may be lost. */
async function answerTo(
  client: Awaited<ReturnType<typeof relay>>,
  message: Buffer,
  port: number,
): Promise<Buffer> {
  const transaction = message.subarray(8, 20);
  return until('it is answered', () => {
    client.send(message, port);
    return client.got.find((each) => each.subarray(8, 20).equals(transaction));
  });
}

t.test('our library refuses checks with tie-breaker 0, which are answered on the second port', async (t) => {
  const port = await holdPort(0, BIND);
  const relayed = await RelayedPort.open({ wanted: 0, bind: BIND, to: port, clock: systemClock });
  const client = new PeerConnection('client', { iceServers: [], disableAutoNegotiation: true });
  const line = new Audio('0', 'SendRecv');
  line.addOpusCodec(111);
  const track = client.addTrack(line);
  track.onClosed(() => undefined);
  client.setLocalDescription('offer');
  const offer = client.localDescription()?.sdp ?? '';
  const candidates: string[] = [];
  const none = (): void => undefined;
  const server = new Peer(
    'server',
    { port, bind: BIND, iceServers: [], relayed },
    {
      ...{ state: none, channelOpen: none, message: none, packet: none },
      candidate: (candidate) => candidates.push(candidate),
    },
    () => false,
  );
  let isOver = false;
  client.onStateChange((state) => (isOver = state === 'closed'));
  t.teardown(async () => {
    server.close();
    client.close();
    relayed.close();
    await until('the client is closed', () => isOver);
    letLibraryGo();
  });
  const { sdp } = server.answer(offer, { ssrc: 7, streamId: 'agent', trackId: 'track' });
  await until('both ports are told', () => candidates.length === 2);
  const [own, second] = candidates.map((candidate) => candidate.split(' '));
  exactly(t, [own?.[4], own?.[5]], [BIND, String(port)]);
  exactly(t, [second?.[4], second?.[5]], [BIND, String(relayed.port)]);
  t.ok(Number(second?.[3]) < Number(own?.[3]), 'the second is the last choice');

  const username = `${userFragmentOf(sdp) ?? ''}:${userFragmentOf(offer) ?? ''}`;
  const password = passwordOf(sdp) ?? '';
  const browser = await relay(t);
  const check = () => checkOf({ username, password, tie: 0n });
  const refused = await answerTo(browser, check(), port);
  t.equal(errorCodeOf(refused), 400, 'once the library takes it, the second port can go');
  t.equal((await answerTo(browser, check(), relayed.port)).readUInt16BE(0), SUCCESS);
  t.equal(relayed.size, 1);
  await until('checks of the library reach the client', () =>
    browser.got.some((each) => each.readUInt16BE(0) === 1),
  );
  server.close();
  t.equal(relayed.size, 0, 'a call takes its ways with it');
});

/** A second port in front of a socket in place of the library. */
async function second(t: Test, clock = new SimulatedClock()) {
  const library = await relay(t);
  const { port: to } = library.socket.address();
  const relayed = await RelayedPort.open({ wanted: 0, bind: undefined, to, clock });
  t.teardown(() => relayed.close());
  return { library, relayed, clock };
}

const checkFor = (fragment: string, password = PASSWORD): Buffer =>
  checkOf({ username: `${fragment}:theirs`, password, tie: 0n });

t.test('only who has signed a check with the password of a call gets a way to the library', async (t) => {
  const { library, relayed } = await second(t);
  const shut = relayed.admit('ours', PASSWORD);
  const [stranger, client] = [await relay(t), await relay(t)];
  for (const message of [
    checkFor('ours', 'guessed'),
    checkFor('others'),
    Buffer.from('media'),
    Buffer.alloc(0),
  ])
    stranger.send(message, relayed.port);
  await until('the client is let in', () => {
    client.send(checkFor('ours'), relayed.port);
    return library.got.length > 0;
  });
  client.send(Buffer.from('media'), relayed.port);
  await until('its media follow', () => library.got.some((each) => each.toString() === 'media'));
  t.equal(relayed.size, 1, 'and nobody else');
  shut();
  t.equal(relayed.size, 0);
  const before = library.got.length;
  client.send(Buffer.from('late'), relayed.port);
  relayed.admit('next', PASSWORD);
  await until('the next call gets its clients', () => {
    client.send(checkFor('next'), relayed.port);
    return library.got.length > before;
  });
  t.notOk(library.got.some((each) => each.toString() === 'late'));
});

t.test('what comes to the way from elsewhere than the library does not reach the client', async (t) => {
  const { library, relayed } = await second(t);
  relayed.admit('ours', PASSWORD);
  const client = await relay(t);
  const from = new Promise<{ port: number; address: string }>((resolve) =>
    library.socket.once('message', (_, { port, address }) => resolve({ port, address })),
  );
  client.send(checkFor('ours'), relayed.port);
  const { port } = await from;
  const stranger = await relay(t);
  stranger.send(Buffer.from('forged'), port);
  await until('the library is heard', () => {
    library.send(Buffer.from('voice'), port);
    return client.got.length > 0;
  });
  t.notOk(client.got.some((each) => each.toString() === 'forged'));
});

t.test(
  'clients of one media worker by TURN over TCP: 512 at once; one that was not heard for 30 s makes room',
  async (t) => {
    const {
      perConnection,
      relayed: { ways, idleMs },
    } = LIMITS.ice;
    const { library, relayed, clock } = await second(t);
    const fragmentOf = (client: number): string => `call${Math.floor(client / perConnection)}`;
    for (let client = 0; client <= ways; client += 1) relayed.admit(fragmentOf(client), PASSWORD);
    const clients: { readonly socket: Socket; send(message: Buffer, port: number): void }[] = [];
    for (let many = 0; many < ways; many += 1) {
      const client = await relay(t);
      clients.push(client);
      await until('it is let in', () => {
        client.send(checkFor(fragmentOf(many)), relayed.port);
        return relayed.size > many;
      });
      if (many !== perConnection - 1) continue;
      const before = library.got.length;
      (await relay(t)).send(checkFor(fragmentOf(0)), relayed.port);
      await until('a client of the same call is heard', () => {
        client.send(Buffer.from('media'), relayed.port);
        return library.got.length > before;
      });
      t.equal(relayed.size, perConnection, 'a call has no more ways than addresses');
    }
    const late = await relay(t);
    const knocks = async () => {
      const before = library.got.length;
      late.send(checkFor(fragmentOf(ways)), relayed.port);
      clients[0]?.send(Buffer.from('still here'), relayed.port);
      await until('the first is heard', () => library.got.length > before);
    };
    await knocks();
    t.equal(relayed.size, ways);
    clock.advance(idleMs + 1);
    await until('it has room', async () => {
      await knocks();
      return relayed.size < ways;
    });
    t.ok(relayed.size >= 1, 'who is heard stays');
  },
);
