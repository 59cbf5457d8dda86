/** Offers that the gateway makes (LiveKit's clients with two connections): a client hears of our addresses once we have its answer. */
import { PeerConnection, type Track } from 'node-datachannel';
import t from '../../fixtures/tap.js';
import { OPUS_TYPE } from '../../../media/embedded/rtp.js';
import { Peer } from '../../../media/embedded/peer.js';
import { freePort } from '../../../media/embedded/udp-port.js';
import { letLibraryGo } from '../../fixtures/calls/caller-peer.js';
import { until } from '../../fixtures/until.js';

const none = (): void => undefined;
const BIND = '127.0.0.1';

t.test('addresses are told behind the answer to an offer, and the client is connected by them', async (t) => {
  const client = new PeerConnection('client', { iceServers: [], disableAutoNegotiation: true });
  const held: Track[] = [];
  client.onTrack((track) => held.push(track));
  const [told, states]: [string[], string[]] = [[], []];
  let isGathered = false;
  const server = new Peer(
    'server',
    { port: await freePort(0, BIND), bind: BIND, iceServers: [] },
    {
      ...{ channelOpen: none, packet: none, message: none },
      state: (state) => states.push(state),
      gathered: () => (isGathered = true),
      candidate: (candidate, mid) => {
        told.push(candidate);
        client.addRemoteCandidate(candidate, mid);
      },
    },
    () => true,
  );
  let isOver = false;
  client.onStateChange((state) => (isOver = state === 'closed'));
  t.teardown(async () => {
    server.close();
    client.close();
    await until('the client is closed', () => isOver);
    letLibraryGo();
    held.length = 0;
  });

  const offer = server.offer({ ssrc: 7, streamId: 'agent|track', trackId: 'track' }, OPUS_TYPE);
  t.notMatch(offer, /candidate/, 'the offer names none');
  client.setRemoteDescription(offer, 'offer');
  client.setLocalDescription('answer');
  await until('ours are known', () => isGathered);
  await until('the client has its own', () => client.gatheringState() === 'complete');
  t.strictSame(told, [], 'none is told before the answer');

  server.accept(client.localDescription()?.sdp ?? '');
  t.ok(told.length > 0, 'they are told behind it');
  await until('both are connected', () => states.includes('connected') && client.state() === 'connected');
});
