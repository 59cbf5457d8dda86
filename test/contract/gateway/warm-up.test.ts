/** The models of conversations are loaded once an agent is published, before the first call (gateway/wiring/warm-up.ts). */
import t from '../../fixtures/tap.js';
import { client, makeAgent } from '../../fixtures/platform/agents.js';
import { EMBEDDED, startGateway } from '../../fixtures/gateway.js';
import { until } from '../../fixtures/until.js';

t.test('models of conversations are loaded once an agent is published', async (t) => {
  const gateway = await startGateway({ ...EMBEDDED, LOG_LEVEL: 'info' });
  t.teardown(() => gateway.stop());
  const told = () => `${gateway.stdout()}${gateway.stderr()}`;
  t.notMatch(told(), /the models of conversations are loaded/);
  await makeAgent(client(gateway.base), {});
  await until('they are loaded', () => /the models of conversations are loaded/.test(told()));
  t.notMatch(told(), /the models of conversations are not loaded/);
  t.comment(/.*models of conversations are loaded.*/.exec(told())?.[0] ?? '');
});
