/** Many calls by socket in which nobody speaks: all of them stay, and what is beyond the places is refused at the door. */
import t from '../../fixtures/tap.js';
import { Talks } from '../../fixtures/conversation/conversation.js';
import { exactly } from '../../fixtures/exactly.js';
import { shortOrLong } from '../../fixtures/long.js';
import { gauge } from '../../fixtures/native/live.js';
import { RealtimeClient } from '../../fixtures/protocol-a/realtime-client.js';
import { until } from '../../fixtures/until.js';

/** In the long form more than a workspace had of a media process once. */
const CALLS = shortOrLong(8, 500);
const LASTS_MS = shortOrLong(1000, 30_000);
const BEGIN_MS = 300_000;

const talks = await Talks.start(t, { CALL_PLACES: String(CALLS), LOG_LEVEL: 'error' });
const { gateway } = talks;
const agentId = await talks.agent({
  conversation: { reengage_enabled: false, hangup_after_seconds: null },
});

const connect = (): Promise<RealtimeClient> =>
  new RealtimeClient(gateway, { base: '/v1', query: `?model=${agentId}` }).opened();

t.test('all of them begin and stay, and one more is refused before it begins', async (t) => {
  const clients: RealtimeClient[] = [];
  t.teardown(() => {
    for (const { socket } of clients) socket.close(1000);
  });
  while (clients.length < CALLS) clients.push(await connect());
  await until('all have begun', async () => (await gauge(gateway, 'calls')) === CALLS, BEGIN_MS);
  await new Promise((resolve) => setTimeout(resolve, LASTS_MS));
  t.equal(await gauge(gateway, 'calls'), CALLS);
  t.equal(clients.filter(({ closeCode }) => closeCode !== undefined).length, 0);
  const more = await connect();
  exactly(t, await more.error(), { code: 'overloaded', message: /no place for another call/ });
  t.equal(await more.closed(), 1008);
  const offer = await fetch(`${gateway.base}/v1/realtime/calls?model=${agentId}`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/sdp' },
    body: 'v=0\r\n',
  });
  t.equal(offer.status, 503);
  t.equal(offer.headers.get('retry-after'), '5');
  clients[0]?.socket.close(1000);
  await until('its place is free', async () => {
    const next = await connect();
    clients.push(next);
    await until('it is told', () => next.events[0]);
    return next.events[0]?.type === 'session.created';
  });
});
