/**
 * One data folder and its Postgres, from the first start to the last stop. Between the two, SIGKILL during many writes: those that
 * were acknowledged are there, and nothing is half written.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { runningEmbeddedPostgres } from '../../../storage/embedded.js';
import { openDatabase } from '../../../storage/postgres/database.js';
import { type Answer, type Body, type Call, client, makeAgent } from '../../fixtures/platform/agents.js';
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

const bodyOf = async (ask: Call, path: string): Promise<Body> => (await ask(path)).body;

/** What the writes are about. */
interface Made {
  /** Agents with a draft. */
  readonly owned: readonly string[];
  /** A published agent. */
  readonly talking: string;
  readonly tool: unknown;
}

type Kind = 'agent' | 'config' | 'publish' | 'session' | 'source' | 'tool';

interface Write {
  readonly kind: Kind;
  readonly n: number;
  /** An agent of `owned`. */
  readonly target: string;
}

type Acknowledged = Write & { readonly body: Body };

/** A kind of writes, and how what was acknowledged is found afterwards. */
interface KindOfWrite {
  write(ask: Call, write: Write, made: Made): Promise<Answer>;
  check(t: Test, ask: Call, write: Acknowledged, made: Made): Promise<void>;
}

const TEXT = 'A paragraph of some length.\n\n'.repeat(200);

const KINDS: Readonly<Record<Kind, KindOfWrite>> = {
  agent: {
    write: (ask, { n }, { tool }) => {
      const config = { prompt: { system_prompt: `prompt ${n}` }, tools: { tool_ids: [tool] } };
      return ask('agents', { body: { name: `new ${n}`, config } });
    },
    check: async (t, ask, { n, body }, { tool }) => {
      const config = await bodyOf(ask, `agents/${String(body['agent_id'])}/config`);
      exactly(t, config, { prompt: { system_prompt: `prompt ${n}` }, tools: { tool_ids: [tool] } });
    },
  },
  config: {
    write: (ask, { n, target }) => {
      const prompt = { system_prompt: `next ${n}`, first_message: `next ${n}` };
      return ask(`agents/${target}/config`, { method: 'PATCH', body: { prompt } });
    },
    check: async (t, ask, { n, target }) =>
      void exactly(t, await bodyOf(ask, `agents/${target}/config`), {
        prompt: { system_prompt: `next ${n}` },
      }),
  },
  publish: {
    write: (ask, { target }) => ask(`agents/${target}/publish`, { method: 'POST' }),
    check: async (t, ask, { target, body }) =>
      void exactly(t, await bodyOf(ask, `agents/${target}/versions/1`), { config_hash: body['config_hash'] }),
  },
  session: {
    write: (ask, { n }, { talking }) => ask('sessions', { body: { agent_id: talking, metadata: { n } } }),
    check: async (t, ask, { n, body }, { talking }) => {
      const session = await bodyOf(ask, `sessions/${String(body['session_id'])}`);
      exactly(t, session, { metadata: { n }, agent_id: talking });
    },
  },
  source: {
    write: async () => {
      const raw = formOf({ source: new File([TEXT], 'a.md') });
      const address = `${first.base}/v1/agent/knowledge-sources`;
      const response = await fetch(address, { method: 'POST', headers: authorization, body: raw });
      const { status, headers } = response;
      return { status, headers, body: (await response.json()) as Body };
    },
    check: async (t, ask, { body }) => {
      const { status } = await ask(`knowledge-sources/${String(body['knowledge_source_id'])}/agents`);
      t.equal(status, 200);
    },
  },
  tool: {
    write: (ask, { n }) => ask('tools', { body: { name: `tool ${n}`, url: 'https://example.com/' } }),
    check: async (t, ask, { n, body }) =>
      void exactly(t, await bodyOf(ask, `tools/${String(body['tool_id'])}`), { name: `tool ${n}` }),
  },
};

async function makeTargets(ask: Call): Promise<Made> {
  const owned: string[] = [];
  const config = { prompt: { system_prompt: 'old' } };
  for (let index = 0; index < WRITES / 6; index += 1)
    owned.push(await makeAgent(ask, { name: `before ${index}`, config, published: false }));
  const talking = await makeAgent(ask);
  const { tool_id: tool } = (await ask('tools', { body: { name: 'tool', url: 'https://example.com/' } }))
    .body;
  return { owned, talking, tool };
}

/** Sends all writes at once, and kills the gateway in the midst of them; those that were acknowledged. */
async function writeUntilKilled(made: Made): Promise<readonly Acknowledged[]> {
  const ask = client(first.base, key);
  const kinds = Object.keys(KINDS) as Kind[];
  const writes = Array.from({ length: WRITES }, (_, n): Write => ({
    kind: kinds[n % kinds.length]!,
    n,
    target: made.owned[Math.floor(n / kinds.length)]!,
  }));
  const acknowledged: Acknowledged[] = [];
  const running = writes.map(async (write) => {
    const { status, body } = await KINDS[write.kind].write(ask, write, made);
    if (status >= 200 && status < 300) acknowledged.push({ ...write, body });
    if (acknowledged.length === KILL_AFTER) first.kill('SIGKILL');
  });
  await Promise.all([Promise.allSettled(running), first.exited]);
  return acknowledged;
}

t.test('the first start prints a key once, for the owner alone (decision 23)', async (t) => {
  t.ok(await speaks(first));
  t.match(first.stdout(), /curl/);
  t.match(first.stdout(), /calls +only from browsers on this machine/, 'without TLS it says so (decision 7)');
  t.equal(statSync(join(dataDir, 'api-key')).mode & 0o777, 0o600);
});

async function findsAcknowledged(t: Test, ask: Call, made: Made, acknowledged: readonly Acknowledged[]) {
  t.ok(acknowledged.length < WRITES, `${acknowledged.length} of ${WRITES} were acknowledged`);
  for (const write of acknowledged) await KINDS[write.kind].check(t, ask, write, made);
}

async function findsWholeAgents(t: Test, ask: Call, { owned }: Made) {
  for (const [index, id] of owned.entries()) {
    const config = await bodyOf(ask, `agents/${id}/config`);
    const { system_prompt: prompt, first_message: opener } = config['prompt'] as Body;
    const isNew = String(prompt).startsWith('next');
    t.ok(isNew ? opener === prompt : prompt === 'old', `agent ${index}`);
    const agent = await bodyOf(ask, `agents/${id}`);
    const { versions } = (await bodyOf(ask, `agents/${id}/versions`)) as { versions: Body[] };
    t.equal(versions.length, agent['publication_state'] === 'live' ? 1 : 0);
    if (versions.length > 0)
      exactly(t, await bodyOf(ask, `agents/${id}/versions/1`), {
        config: { prompt: { system_prompt: /^(old|next \d+)$/ } },
      });
  }
}

async function findsNoHalves(t: Test) {
  const database = await openDatabase({ url: (await runningEmbeddedPostgres(dataDir))! });
  const halves = await database.sql`
    select a.id from agents a where jsonb_array_length(a.config->'tools'->'tool_ids') <>
      (select count(*) from agent_tools g where g.agent_id = a.id)
    union all
    select s.id from knowledge_sources s left join knowledge_revisions r on r.source_id = s.id and r.revision = s.revision
    where r.chunk_count is distinct from
      (select count(*)::int from knowledge_chunks c where c.source_id = s.id and c.revision = s.revision)`;
  t.equal(halves.length, 0);
  await database.close();
}

async function drains(t: Test, gateway: Gateway) {
  const family = familyOf(gateway.pid);
  t.ok(family.length > 3, 'supervisor, encoder, database');
  const whole = await (await speak(gateway, MINUTES)).arrayBuffer();
  const spoken = await speak(gateway, MINUTES);
  gateway.kill('SIGTERM');
  await until('it says so', () => gateway.stderr().includes('each connection ends with its next answer'));
  const told = await speak(gateway, { text: 'a', format: 'wav' });
  t.strictSame([told.status, told.headers.get('connection')], [200, 'close'], 'the goodbye');
  await told.arrayBuffer();
  t.equal((await spoken.arrayBuffer()).byteLength, whole.byteLength, 'the running stream is complete');
  t.equal(await gateway.exited, 0);
  await gone(family);
  t.notMatch(gateway.stdout() + gateway.stderr(), /worker exited/, 'no worker was restarted');
  t.strictSame(readdirSync(join(dataDir, 'run')), ['uploads'], 'no socket and no pid file');
}

t.test('many writes, a kill, a new start, a drain', async (t) => {
  const made = await makeTargets(client(first.base, key));
  const isPostgres = (pid: number): boolean => commandOf(pid).includes('postgres');
  const children = familyOf(first.pid).filter((pid) => pid !== first.pid && !isPostgres(pid));
  const acknowledged = await writeUntilKilled(made);
  await t.test('SIGKILL of the supervisor orphans nothing', async (t) => {
    t.ok(children.length > 1);
    await gone(children);
  });

  const second = await startGateway({ ...settings, DRAIN_ANNOUNCE_SECONDS: '5' });
  t.teardown(() => second.stop());
  const ask = client(second.base, key);
  await t.test('the next start has its key, which it does not print', async (t) => {
    t.notOk(second.stdout().includes(key));
    t.match(second.stdout(), /api-key/);
    t.ok(await speaks(second));
  });
  await t.test('what was acknowledged is there', (t) => findsAcknowledged(t, ask, made, acknowledged));
  await t.test('each agent is as before or as after a write, not in between', (t) =>
    findsWholeAgents(t, ask, made),
  );
  await t.test('what was not acknowledged is there as a whole or not at all', findsNoHalves);
  await t.test('SIGTERM lets what runs come to its end, refuses nobody at once, and leaves nothing', (t) =>
    drains(t, second),
  );
});
