/** The data channels of one client (media/embedded/peer.ts): however it names and opens them, they hold no memory of ours. */
import { Audio, type DataChannel, PeerConnection } from 'node-datachannel';
import t from '../../fixtures/tap.js';
import { Peer } from '../../../media/embedded/peer.js';
import { freePort } from '../../../media/embedded/udp-port.js';
import { letLibraryGo } from '../../fixtures/calls/caller-peer.js';
import { until } from '../../fixtures/until.js';

const MOST = 32;
const AGENT = { ssrc: 7, streamId: 'agent|track', trackId: 'track' };

t.test('a client has a limited number of channels at once; closed ones make room', async (t) => {
  const heard: string[] = [];
  const client = new PeerConnection('client', { iceServers: [], disableAutoNegotiation: true });
  const line = new Audio('0', 'SendRecv');
  line.addOpusCodec(111);
  line.addSSRC(42, 'client', 'stream', 'track');
  const track = client.addTrack(line);
  /** References to channels: the library drops a channel without one. */
  const channels: DataChannel[] = [];
  const openSome = (many: number, label: string): DataChannel[] => {
    const some = Array.from({ length: many }, () => client.createDataChannel(label));
    for (const channel of some) channel.onClosed(() => undefined);
    channels.push(...some);
    return some;
  };
  const none = (): void => undefined;
  const server = new Peer(
    'server',
    { port: await freePort(0, '127.0.0.1'), bind: '127.0.0.1', iceServers: [] },
    {
      ...{ state: none, channelOpen: none, packet: none },
      candidate: (candidate, mid) => client.addRemoteCandidate(candidate, mid),
      message: (label) => heard.push(label),
    },
    () => true,
  );
  let isOver = false;
  client.onStateChange((state) => (isOver = state === 'closed'));
  track.onClosed(() => undefined);
  t.teardown(async () => {
    server.close();
    client.close();
    await until('the client is closed', () => isOver);
    letLibraryGo();
    channels.length = 0;
  });
  const [first] = openSome(1, '_reliable');
  client.onLocalCandidate((candidate, mid) => server.addCandidate(candidate, mid));
  client.setLocalDescription('offer');
  const { sdp } = server.answer(client.localDescription()?.sdp ?? '', AGENT);
  client.setRemoteDescription(sdp, 'answer');
  await until('the first is open', () => first?.isOpen());

  const others = openSome(MOST - 1, 'same name');
  await until('all that may be are open', () => others.every((channel) => channel.isOpen()));
  for (const channel of others) channel.sendMessageBinary(new Uint8Array(1));
  await until('all are heard', () => heard.length === MOST - 1);
  let isClosed = false;
  openSome(1, 'one more')[0]?.onClosed(() => (isClosed = true));
  await until('one more is closed', () => isClosed);
  for (const channel of others) channel.close();
  await until('another one is heard', () => {
    const [again] = openSome(1, 'again');
    // It may be refused once more, and closed meanwhile: what a callback of the library throws ends the process.
    const send = (): void => {
      try {
        again?.sendMessageBinary(new Uint8Array(1));
      } catch {
        // Another one is opened.
      }
    };
    again?.onOpen(send);
    return heard.includes('again');
  });
  t.notOk(heard.includes('one more'));
  first?.sendMessageBinary(new Uint8Array(1));
  await until('the first goes on', () => heard.includes('_reliable'));
});
