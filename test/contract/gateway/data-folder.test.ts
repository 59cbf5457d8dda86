/**
 * One data folder and its Postgres, from the first start to the last stop. Between the two, SIGKILL during many writes: those that
 * were acknowledged are there, and nothing is half written.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from '../../fixtures/tap.js';
import { runningEmbeddedPostgres } from '../../../storage/embedded.js';
import { openDatabase } from '../../../storage/postgres/database.js';
import { type Answer, type Body, client, makeAgent } from '../../fixtures/platform/agents.js';
import { exactly } from '../../fixtures/exactly.js';
import { commandOf, familyOf, isAlive } from '../../fixtures/processes/family.js';
import { folderOf } from '../../fixtures/folders.js';
import { EMBEDDED_POSTGRES, type Gateway, startGateway } from '../../fixtures/gateway.js';
import { formOf } from '../../fixtures/platform/platform.js';
import { until } from '../../fixtures/until.js';

const WRITES = 240;
const KILL_AFTER = 80;

/** 7 MB of audio, in part of the encoder; the sockets' buffers hold 4. */
const MINUTES = { text: 'abcdefghi '.repeat(200), format: 'pcm', sample_rate: 44_100 };

const dataDir = folderOf(t);
const settings = { ...EMBEDDED_POSTGRES, DATA_DIR: dataDir, API_KEY: '', CONCURRENCY: '1000' };
const gone = (pids: readonly number[]) => until('all processes have ended', () => !pids.some(isAlive));

const first = await startGateway(settings);
const key = /^ {2}key +(\S+)/m.exec(first.stdout())?.[1] ?? '';
const authorization = { authorization: `Bearer ${key}` };
const speak = (gateway: Gateway, body: object) =>
  fetch(`${gateway.base}/v1/tts`, {
    method: 'POST',
    headers: { ...authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const speaks = async (gateway: Gateway): Promise<boolean> => {
  const spoken = await speak(gateway, { text: 'a', format: 'mp3' });
  return (await spoken.arrayBuffer()).byteLength > 0 && spoken.status === 200;
};

t.test('the first start prints a key once, for the owner alone (decision 23)', async (t) => {
  t.ok(await speaks(first));
  t.match(first.stdout(), /curl/);
  t.match(first.stdout(), /calls +only from browsers on this machine/, 'without TLS it says so (decision 7)');
  t.equal(statSync(join(dataDir, 'api-key')).mode & 0o777, 0o600);
});

t.test('many writes, a kill, a new start, a drain', async (t) => {
  const before = client(first.base, key);
  const names = Array.from({ length: WRITES / 6 }, (_, index) => `before ${index}`);
  const owned: string[] = [];
  for (const name of names)
    owned.push(
      await makeAgent(before, { name, config: { prompt: { system_prompt: 'old' } }, published: false }),
    );
  const talking = await makeAgent(before);
  const { tool_id: tool } = (await before('tools', { body: { name: 'tool', url: 'https://example.com/' } }))
    .body;
  const text = 'A paragraph of some length.\n\n'.repeat(200);

  interface Write {
    readonly kind: 'agent' | 'config' | 'publish' | 'session' | 'source' | 'tool';
    readonly n: number;
    readonly target: string;
  }
  const KINDS: Record<Write['kind'], (write: Write) => Promise<Answer>> = {
    agent: ({ n }) =>
      before('agents', {
        body: {
          name: `new ${n}`,
          config: { prompt: { system_prompt: `prompt ${n}` }, tools: { tool_ids: [tool] } },
        },
      }),
    config: ({ n, target }) =>
      before(`agents/${target}/config`, {
        method: 'PATCH',
        body: { prompt: { system_prompt: `next ${n}`, first_message: `next ${n}` } },
      }),
    publish: ({ target }) => before(`agents/${target}/publish`, { method: 'POST' }),
    session: ({ n }) => before('sessions', { body: { agent_id: talking, metadata: { n } } }),
    source: async () => {
      const raw = formOf({ source: new File([text], 'a.md') });
      const address = `${first.base}/v1/agent/knowledge-sources`;
      const response = await fetch(address, { method: 'POST', headers: authorization, body: raw });
      const { status, headers } = response;
      return { status, headers, body: (await response.json()) as Body };
    },
    tool: ({ n }) => before('tools', { body: { name: `tool ${n}`, url: 'https://example.com/' } }),
  };
  const kinds = Object.keys(KINDS) as Write['kind'][];
  const writes = Array.from({ length: WRITES }, (_, n): Write => ({
    kind: kinds[n % kinds.length]!,
    n,
    target: owned[Math.floor(n / kinds.length)]!,
  }));
  const isPostgres = (pid: number): boolean => commandOf(pid).includes('postgres');
  const children = familyOf(first.pid).filter((pid) => pid !== first.pid && !isPostgres(pid));
  const acknowledged: (Write & { readonly body: Body })[] = [];
  const running = Promise.allSettled(
    writes.map(async (write) => {
      const { status, body } = await KINDS[write.kind](write);
      if (status >= 200 && status < 300) acknowledged.push({ ...write, body });
      if (acknowledged.length === KILL_AFTER) first.kill('SIGKILL');
    }),
  );
  await Promise.all([running, first.exited]);
  await t.test('SIGKILL of the supervisor orphans nothing', async (t) => {
    t.ok(children.length > 1);
    await gone(children);
  });
  t.ok(acknowledged.length < WRITES, `${acknowledged.length} of ${WRITES} were acknowledged`);

  const second = await startGateway({ ...settings, DRAIN_ANNOUNCE_SECONDS: '5' });
  t.teardown(() => second.stop());
  await t.test('the next start has its key, which it does not print', async (t) => {
    t.notOk(second.stdout().includes(key));
    t.match(second.stdout(), /api-key/);
    t.ok(await speaks(second));
  });
  const after = client(second.base, key);
  const bodyOf = async (path: string): Promise<Body> => (await after(path)).body;
  const CHECKS: Record<Write['kind'], (write: Write & { readonly body: Body }) => Promise<void>> = {
    agent: async ({ n, body }) => {
      const config = await bodyOf(`agents/${String(body['agent_id'])}/config`);
      exactly(t, config, { prompt: { system_prompt: `prompt ${n}` }, tools: { tool_ids: [tool] } });
    },
    config: async ({ n, target }) =>
      void exactly(t, await bodyOf(`agents/${target}/config`), { prompt: { system_prompt: `next ${n}` } }),
    publish: async ({ target, body }) =>
      void exactly(t, await bodyOf(`agents/${target}/versions/1`), { config_hash: body['config_hash'] }),
    session: async ({ n, body }) =>
      void exactly(t, await bodyOf(`sessions/${String(body['session_id'])}`), {
        metadata: { n },
        agent_id: talking,
      }),
    source: async ({ body }) => {
      const { status } = await after(`knowledge-sources/${String(body['knowledge_source_id'])}/agents`);
      t.equal(status, 200);
    },
    tool: async ({ n, body }) =>
      void exactly(t, await bodyOf(`tools/${String(body['tool_id'])}`), { name: `tool ${n}` }),
  };
  for (const write of acknowledged) await CHECKS[write.kind](write);

  for (const [index, id] of owned.entries()) {
    const config = await bodyOf(`agents/${id}/config`);
    const { system_prompt: prompt, first_message: opener } = config['prompt'] as Body;
    const isNew = String(prompt).startsWith('next');
    t.ok(
      isNew ? opener === prompt : prompt === 'old',
      `agent ${index} is as before or as after, not in between`,
    );
    const agent = await bodyOf(`agents/${id}`);
    const { versions } = (await bodyOf(`agents/${id}/versions`)) as { versions: Body[] };
    t.equal(versions.length, agent['publication_state'] === 'live' ? 1 : 0);
    if (versions.length > 0)
      exactly(t, await bodyOf(`agents/${id}/versions/1`), {
        config: { prompt: { system_prompt: /^(old|next \d+)$/ } },
      });
  }

  const database = await openDatabase({ url: (await runningEmbeddedPostgres(dataDir))! });
  const halves = await database.sql`
    select a.id from agents a where jsonb_array_length(a.config->'tools'->'tool_ids') <>
      (select count(*) from agent_tools g where g.agent_id = a.id)
    union all
    select s.id from knowledge_sources s left join knowledge_revisions r on r.source_id = s.id and r.revision = s.revision
    where r.chunk_count is distinct from
      (select count(*)::int from knowledge_chunks c where c.source_id = s.id and c.revision = s.revision)`;
  t.equal(halves.length, 0, 'what was not acknowledged is there as a whole or not at all');
  await database.close();

  await t.test(
    'SIGTERM lets what runs come to its end, refuses nobody at once, and leaves nothing',
    async (t) => {
      const family = familyOf(second.pid);
      t.ok(family.length > 3, 'supervisor, encoder, database');
      const whole = await (await speak(second, MINUTES)).arrayBuffer();
      const spoken = await speak(second, MINUTES);
      second.kill('SIGTERM');
      await until('it says so', () => second.stderr().includes('each connection ends with its next answer'));
      const told = await speak(second, { text: 'a', format: 'wav' });
      t.strictSame([told.status, told.headers.get('connection')], [200, 'close'], 'the goodbye');
      await told.arrayBuffer();
      t.equal((await spoken.arrayBuffer()).byteLength, whole.byteLength, 'the running stream is complete');
      t.equal(await second.exited, 0);
      await gone(family);
      t.notMatch(second.stdout() + second.stderr(), /worker exited/, 'no worker was restarted');
      t.strictSame(readdirSync(join(dataDir, 'run')), ['uploads'], 'no socket and no pid file');
    },
  );
});
