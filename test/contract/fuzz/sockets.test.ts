/**
 * Seeded fuzz of the speech sockets. Every frame of the gateway has a documented shape, every socket ends or answers its last frame,
 * and nothing is left behind.
 */
import t from '../../fixtures/tap.js';
import { exactly } from '../../fixtures/exactly.js';
import { lentGateway } from '../../fixtures/lent-gateway.js';
import { gauge, LiveClient } from '../../fixtures/native/live.js';
import { fuzz, roundsOf } from '../../fixtures/fuzz/rounds.js';
import { lifeOf } from '../../fixtures/fuzz/socket-life.js';
import { SOCKETS } from '../../fixtures/fuzz/sockets.js';
import { until } from '../../fixtures/until.js';

const gateway = await lentGateway(t);

fuzz(t, SOCKETS, {
  rounds: roundsOf(25, 1500),
  atOnce: 8,
  round: (target, draws) => lifeOf(gateway, target, draws),
});

t.test('no socket, job or call is left, and the gateway serves as before', async (t) => {
  await until('no socket is left', async () => (await gauge(gateway, 'open_sockets')) === 0);
  await until('no job is left', async () => (await gauge(gateway, 'speech_jobs_running')) === 0);
  await until('no call is left', async () => (await gauge(gateway, 'calls')) === 0);
  const client = await new LiveClient(gateway).opened();
  client.start({ format: 'wav' }).text('Still here.').stop();
  exactly(t, await client.finished(), { reason: 'stop' });
  client.leave();
});
