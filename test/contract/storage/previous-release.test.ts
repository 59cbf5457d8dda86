/**
 * The previous release beside this one, and after it: during an upgrade machine by machine its own tests pass on today's schema, and
 * whoever goes back by one version starts it on data of this one.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { builtAt, ROOT, startCheckout } from '../../fixtures/ops/checkouts.js';
import { exactly } from '../../fixtures/exactly.js';
import { folderOf } from '../../fixtures/folders.js';
import { EMBEDDED_POSTGRES, MEDIA, TEST_KEY, TONE } from '../../fixtures/gateway.js';
import { shortOrLong } from '../../fixtures/long.js';
import {
  noNewSchema,
  noPreviousRelease,
  PREVIOUS,
  previousRelease,
} from '../../fixtures/ops/previous-release.js';

/**
 * Beginnings of the names, as that release has them, of tests that read and write most tables, the last through a gateway; in the
 * long form all tests of the agent platform, through its routes. Not `keys-and-workspaces`, which wants a row in every table, and
 * knows those of its time.
 */
const PREFIXES = shortOrLong(
  ['storage.test', 'platform-session-runs.test', 'agent-test-queue.test', 'platform-versions.test'],
  ['storage', 'platform-', 'client-secrets', 'protocol-b-library'],
);
t.setTimeout(shortOrLong(300_000, 1_800_000));

t.test('the previous release runs on the schema of today', { skip: noNewSchema() }, async (t) => {
  const release = previousRelease(t, PREFIXES);
  t.ok(release.tests.length >= PREFIXES.length);
  const runs = shortOrLong(
    [release.tests],
    release.tests.map((test) => [test]),
  );
  for (const tests of runs) t.equal(await release.failureOf(tests), undefined, tests.join(', '));
});

const SETTINGS = {
  ...EMBEDDED_POSTGRES,
  ...MEDIA,
  ...TONE,
  ...{ HOST: '127.0.0.1', PORT: '0', API_KEY: TEST_KEY, DRAIN_ANNOUNCE_SECONDS: '0', START_CHECKS: 'off' },
};

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}
type Call = (method: string, path: string, body?: object | FormData) => Promise<Answer>;

const callerOf =
  (base: string): Call =>
  async (method, path, body) => {
    const isForm = body instanceof FormData;
    const response = await fetch(`${base}/v1/agent/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${TEST_KEY}`,
        ...(body && !isForm && { 'content-type': 'application/json' }),
      },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Answer['body']) };
  };

/** Rows of a list that has one page. */
async function rowsOf(call: Call, list: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { body } = await call('GET', `${list}?page_size=100`);
  return body[list.replaceAll('-', '_')] as readonly Readonly<Record<string, unknown>>[];
}

const KNOWLEDGE = 'knowledge-sources';

/** Makes one of each, under this name: an agent with a tool, a text and a version, and a session that has ended. */
async function writes(t: Test, call: Call, name: string): Promise<void> {
  const made = async (path: string, body: object | FormData): Promise<Answer['body']> => {
    const answer = await call('POST', path, body);
    exactly(t, answer, { status: 201 }, `${name}: ${path}`);
    return answer.body;
  };
  const form = new FormData();
  form.set('source', new File([`# Hours\n\n${name} opens at seven.`], 'hours.md'));
  const { tool_id: tool } = await made('tools', { name: `Tool of ${name}` });
  const { knowledge_source_id: source } = await made(KNOWLEDGE, form);
  const config = {
    tools: { tool_ids: [tool] },
    knowledge_base: { enabled: true, knowledge_source_ids: [source] },
    webhooks: { post_call: { url: 'https://hooks.example.com/calls', secret: `of ${name}` } },
  };
  const { agent_id: agent } = await made('agents', { name, config });
  t.equal((await call('POST', `agents/${String(agent)}/publish`)).status, 200, name);
  const { session_id: session } = await made('sessions', { agent_id: agent, metadata: { of: name } });
  t.equal((await call('POST', `sessions/${String(session)}/end`)).status, 204, name);
}

/** Reads what all before it have made, and changes it. */
async function goesOn(t: Test, call: Call, name: string, before: readonly string[]): Promise<void> {
  const agents = await rowsOf(call, 'agents');
  t.strictSame(agents.map((agent) => agent['name']).sort(), [...before].sort(), name);
  for (const { agent_id: id, name: of } of agents) {
    const at = `agents/${String(id)}`;
    const what = `${name}, the agent of ${String(of)}`;
    exactly(t, await call('GET', `${at}/config`), {
      status: 200,
      body: { webhooks: { post_call: [{ has_secret: true }] }, tools: { tool_ids: [/./] } },
    });
    exactly(t, await call('PATCH', at, { description: `Seen by ${name}` }), { status: 200 }, what);
    exactly(t, await call('POST', `${at}/publish`), { status: 200 }, what);
    const started = await call('POST', 'sessions', { agent_id: id });
    exactly(t, started, { status: 201 }, what);
    await call('POST', `sessions/${String(started.body['session_id'])}/end`);
  }
  for (const { session_id: id } of await rowsOf(call, 'sessions'))
    exactly(t, await call('GET', `sessions/${String(id)}`), { status: 200 }, name);
  for (const list of ['tools', KNOWLEDGE])
    t.equal((await rowsOf(call, list)).length, before.length, `${name}: ${list}`);
}

const ONLY_LONG = shortOrLong<string | false>(
  'npm run test:long starts both releases, one after the other',
  false,
);

t.test(
  'the previous release starts on data of this one, and this one again',
  { skip: ONLY_LONG || noPreviousRelease() },
  async (t) => {
    const dataDir = join(folderOf(t), 'data');
    mkdirSync(dataDir);
    const previous = builtAt(t, PREVIOUS);
    const starts = [
      ['the previous release', previous],
      ['this one', ROOT],
      ['the previous one again', previous],
      ['this one again', ROOT],
    ] as const;
    const before: string[] = [];
    for (const [name, folder] of starts) {
      const gateway = await startCheckout(t, folder, { ...SETTINGS, DATA_DIR: dataDir });
      const call = callerOf(gateway.base);
      await goesOn(t, call, name, before);
      await writes(t, call, name);
      before.push(name);
      const code = await gateway.stop();
      t.equal(code, 0, code === 0 ? name : gateway.stderr().slice(-2000));
    }
  },
);
