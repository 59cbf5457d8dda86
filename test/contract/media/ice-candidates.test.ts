/**
 * Addresses named by a client to which the gateway sends ICE checks (docs/contract/transport.md "Embedded mode"): only those
 * that may be the client's own, and few of them; ignored ones do the client no harm.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { SessionDescription, SignalTarget, TrickleRequest } from '@livekit/protocol';
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { METADATA_ADDRESSES } from '../../../contracts/outbound/metadata-addresses.js';
import { destinationOf, RemoteCandidates, withAdmitted } from '../../../media/embedded/candidates.js';
import { Caller, letGo } from '../../fixtures/calls/caller.js';
import { CallerPeer } from '../../fixtures/calls/caller-peer.js';
import { Talks } from '../../fixtures/conversation/conversation.js';
import { addressOf, Signalling, wrapped } from '../../fixtures/calls/signalling.js';
import { until } from '../../fixtures/until.js';

const candidate = (address: string, port: number | string = 40_000, rest = 'typ host'): string =>
  `candidate:1 1 UDP 2122317823 ${address} ${port} ${rest}`;

t.test('an address is one that the client may be behind', (t) => {
  const classes = {
    public: ['8.8.8.8', '9.9.9.9', '2606:4700::1111'],
    private: ['10.1.2.3', '172.16.0.1', '192.168.1.9', 'fd12::9', '100.64.0.9'],
    linkLocal: ['169.254.3.4', 'fe80::1'],
    loopback: ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'],
    never: [
      ...METADATA_ADDRESSES,
      ...['0.0.0.0', '255.255.255.255', '224.0.0.251', '239.1.1.1', 'ff02::fb', '::', '240.0.0.1'],
      ...['localhost', 'a.example', '6cf0c6c1-9e65-4b1a-8c2b-51e6a4e2d1c6.local', '0x7f000001', '1.2.3'],
    ],
  };
  const reachable = (address: string, from: string) => destinationOf(candidate(address), from) !== undefined;
  const clients: readonly (readonly [from: string, reaches: readonly (keyof typeof classes)[]])[] = [
    ['', ['public']],
    ['8.8.4.4', ['public']],
    ['192.168.1.9', ['public', 'private']],
    ['fd12::1', ['public', 'private']],
    ['169.254.9.9', ['public', 'private', 'linkLocal']],
    ['127.0.0.1', ['public', 'private', 'linkLocal', 'loopback']],
    ['::1', ['public', 'private', 'linkLocal', 'loopback']],
  ];
  for (const [from, reaches] of clients)
    for (const [name, addresses] of Object.entries(classes))
      for (const address of addresses)
        t.equal(
          reachable(address, from),
          reaches.includes(name as keyof typeof classes),
          `${address} (${name}) for a client from ${from || 'somewhere'}`,
        );
  t.end();
});

t.test('malformed and unusable candidates are left out', (t) => {
  const taken = [
    candidate('8.8.8.8'),
    `a=${candidate('8.8.8.8')}`,
    candidate('8.8.8.8', 1024),
    candidate(
      '8.8.8.8',
      65_535,
      'typ srflx raddr 10.0.0.1 rport 4000 generation 0 ufrag abcd network-cost 999',
    ),
    candidate('2606:4700::1111', 40_000, 'typ relay raddr ::1 rport 9'),
  ];
  for (const one of taken) t.ok(destinationOf(one, ''), one);
  const left = [
    '',
    'candidate:',
    candidate('8.8.8.8', 1023),
    candidate('8.8.8.8', 53),
    candidate('8.8.8.8', 0),
    candidate('8.8.8.8', 65_536),
    candidate('8.8.8.8', '4e4'),
    candidate('8.8.8.8').replace('UDP', 'TCP'),
    `${candidate('8.8.8.8')}\r\n${candidate('127.0.0.1')}`,
    `${candidate('8.8.8.8')} ${'x'.repeat(300)}`,
    `x${candidate('8.8.8.8')}`,
  ];
  for (const one of left) t.equal(destinationOf(one, '127.0.0.1'), undefined, one);
  t.end();
});

t.test('addresses are bounded by connection, by time and by call', (t) => {
  const { perConnection, perCall, rate } = LIMITS.ice;
  let now = 0;
  const candidates = new RemoteCandidates(() => now);
  let port = 2000;
  const taken = (asked: number): number => {
    const admits = candidates.ofConnection('');
    return Array.from({ length: asked }, () => admits(candidate('8.8.8.8', ++port))).filter(Boolean).length;
  };
  t.equal(taken(100), perConnection);
  const twice = candidates.ofConnection('');
  t.same(
    [1, 2, 3].map(() => twice(candidate('8.8.8.8', 1999))),
    [true, false, false],
    'each once',
  );
  const inABurst = perConnection + 1 + Array.from({ length: 9 }, () => taken(100)).reduce((a, b) => a + b, 0);
  t.equal(inABurst, rate.burst);
  now += 10_000;
  t.equal(taken(100), 10 * rate.perSecond);
  let all = rate.burst + 10 * rate.perSecond;
  for (let round = 0; round < 100; round += 1) {
    now += 3_600_000;
    all += taken(100);
  }
  t.equal(all, perCall);
  t.end();
});

t.test('a description keeps the candidates that are taken', (t) => {
  const sdp = [
    'v=0',
    'm=audio 9 X',
    `a=${candidate('8.8.8.8')}`,
    `a=${candidate('127.0.0.1')}`,
    'a=mid:0',
    '',
  ];
  const kept = withAdmitted(sdp.join('\r\n'), new RemoteCandidates(() => 0).ofConnection(''));
  t.equal(kept, sdp.filter((line) => !line.includes('127.0.0.1')).join('\r\n'));
  t.end();
});

t.test('over the wire', async (t) => {
  t.teardown(letGo);
  const { talks } = await Talks.shared(t);
  const agent = await talks.agent({ prompt: { first_message_mode: 'fixed', first_message: 'Hello there.' } });

  /** Opens UDP sockets, and counts the packets that reach each. */
  const doors = async (count: number) => {
    const knocks = new Map<number, number>();
    const sockets: Socket[] = [];
    for (let index = 0; index < count; index += 1) {
      const socket = createSocket('udp4').bind(0, '127.0.0.1');
      sockets.push(socket);
      await once(socket, 'listening');
      const { port } = socket.address();
      socket.on('message', () => knocks.set(port, (knocks.get(port) ?? 0) + 1));
    }
    t.teardown(() => sockets.forEach((socket) => socket.close()));
    return { knocks, candidates: sockets.map((socket) => candidate('127.0.0.1', socket.address().port)) };
  };

  /** A client that joins, offers, names its candidates, and never sends media. */
  const name = async (candidates: readonly string[], headers: Record<string, string> = {}): Promise<void> => {
    const peer = new CallerPeer(
      { opus: 111, oneLine: false, bindAddress: '127.0.0.1' },
      { hear: () => undefined, receive: () => undefined },
    );
    await peer.gather();
    const publisherOffer = new SessionDescription({ type: 'offer', sdp: peer.offer, id: 1 });
    const address = addressOf(await talks.session(agent), wrapped({ publisherOffer }));
    const signalling = new Signalling(address, undefined, headers);
    await signalling.next('answer');
    for (const candidate of candidates) {
      const candidateInit = JSON.stringify({ candidate, sdpMid: '0', sdpMLineIndex: 0 });
      const value = new TrickleRequest({ candidateInit, target: SignalTarget.PUBLISHER });
      signalling.say({ case: 'trickle', value });
    }
    t.teardown(() => {
      signalling.terminate();
      peer.close();
    });
  };

  const ELSEWHERE = { 'x-forwarded-for': '203.0.113.9' };
  const { perConnection } = LIMITS.ice;

  t.test('few addresses of one client are checked, and none at which it cannot be', async (t) => {
    const [foreign, own] = [await doors(30), await doors(30)];
    await name(foreign.candidates, ELSEWHERE);
    await name(own.candidates);
    await until('as many as may be are checked', () => own.knocks.size >= perConnection);
    // All checks are paced together: once these repeat, the last first check has been sent.
    await until('they are checked again', () => [...own.knocks.values()].every((count) => count > 1));
    t.equal(own.knocks.size, perConnection, `${perConnection} addresses of 30`);
    t.equal(foreign.knocks.size, 0, 'none on this machine for a client that is not');
  });

  t.test('a client whose addresses are all left out is heard and hears', async (t) => {
    const caller = await Caller.join(await talks.session(agent), { headers: ELSEWHERE });
    await caller.untilHeard(0);
    t.ok(caller.heard.length > 0);
    caller.hangUp();
  });
});
