/** Connections that the library closes by itself (media/embedded/peer.ts), while their clients still negotiate. */
import { throwsExactly } from '../../fixtures/exactly.js';
import t from '../../fixtures/tap.js';
import { peerPair } from '../../fixtures/media/peer-pair.js';
import { until } from '../../fixtures/until.js';

t.test('an offer on a connection that is gone is refused, and ends no process', async (t) => {
  const states: string[] = [];
  const { client, server, held, negotiate } = await peerPair(t, { state: (state) => states.push(state) });
  // A connection without a channel may not be told that its other side has closed.
  const channel = client.createDataChannel('_reliable');
  held.push(channel);
  channel.onClosed(() => undefined);
  negotiate();
  await until('it is up', () => states.includes('connected'));
  const offer = client.localDescription()?.sdp ?? '';
  client.close();
  await until('it is gone', () => states.at(-1) === 'disconnected');
  const refused = (): boolean => {
    try {
      server.answer(offer, undefined);
      return false;
    } catch {
      return true;
    }
  };
  await until('its offers are refused', refused);
  throwsExactly(t, () => server.answer(offer, undefined), { message: 'The connection is closed' });
  server.addCandidate('candidate:1 1 UDP 1 127.0.0.1 9 typ host', '0');
  t.notOk(server.sendMessage('_reliable', new Uint8Array(1)), 'nothing is sent on it');
});
