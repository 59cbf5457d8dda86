/** A gateway whose database is unreachable for a while: a clear 503 in each protocol's shape meanwhile. */
import t from '../../fixtures/tap.js';
import { startEmbeddedPostgres } from '../../../storage/embedded.js';
import { filledFolderOf } from '../../fixtures/database/clusters.js';
import { exactly } from '../../fixtures/exactly.js';
import { startGateway, TEST_KEY } from '../../fixtures/gateway.js';
import { until } from '../../fixtures/until.js';

const AWAY = 'The database cannot be reached, try again later';
const KEYS_AWAY = 'The server cannot check the key now, try again';

/** Requests that need the database, and each protocol's answer while it is unreachable. */
const ASKS = [
  { path: '/v1/agent/agents', body: { status: 503, message: AWAY } },
  {
    path: '/compat/v1/realtime/client_secrets',
    post: {},
    body: { error: { code: 503, message: KEYS_AWAY } },
  },
  { path: '/compat/elevenlabs/v1/voices', body: { detail: { status: 'system_busy', message: AWAY } } },
] as const;

t.test('a database that is away is 503 in each protocol and in /health, and comes back', async (t) => {
  const folder = filledFolderOf(t);
  const first = await startEmbeddedPostgres({ dataDir: folder });
  const gateway = await startGateway({ DATABASE_URL: first.url });
  t.teardown(() => gateway.stop());
  const headers = { ...gateway.authorization, 'xi-api-key': TEST_KEY, 'content-type': 'application/json' };
  const ask = async ({ path, post }: { readonly path: string; readonly post?: object }) => {
    const init = post ? { method: 'POST', body: JSON.stringify(post) } : {};
    const response = await fetch(`${gateway.base}${path}`, { headers, ...init });
    return { status: response.status, body: (await response.json()) as object };
  };
  const healthy = async () => (await ask({ path: '/health' })).status === 200;
  const statuses = () => Promise.all(ASKS.map(async (row) => (await ask(row)).status));
  t.strictSame(await statuses(), [200, 200, 200]);

  await first.stop();
  for (const { body, ...row } of ASKS) exactly(t, await ask(row), { status: 503, body }, row.path);
  await until('the gateway is not ready', async () => !(await healthy()));

  const second = await startEmbeddedPostgres({ dataDir: folder });
  t.teardown(() => second.stop());
  t.equal(second.url, first.url);
  await until('all answer', async () => (await statuses()).every((status) => status === 200));
  await until('the gateway is ready', healthy);
});
