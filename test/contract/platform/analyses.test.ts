/** Analysis after a call: a real language-model server is asked once, and the webhook gets the result (6.7, 6.8; decision 11). */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { httpDouble } from '../../fixtures/http-double.js';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { systemClock } from '../../../contracts/clock.js';
import { randomIds } from '../../../contracts/ids.js';
import { silentLog } from '../../../contracts/log.js';
import type { ChatModel } from '../../../contracts/ports/chat.js';
import type { SessionPlan } from '../../../contracts/ports/sessions/sessions.js';
import { type AgentConfig, DEFAULT_CONFIG } from '../../../contracts/schemas/agent-config.js';
import { RawJson } from '../../../contracts/text/raw-json.js';
import { createOpenaiChat } from '../../../engines/chat/openai-compatible.js';
import { startAnalyses } from '../../../gateway/agents/deliveries/analyses.js';
import { createSessions } from '../../../storage/sessions.js';
import { createAnalysisQueue } from '../../../storage/sessions/analyses.js';
import { ensureDefaultWorkspace } from '../../../storage/workspaces.js';
import { exactly } from '../../fixtures/exactly.js';
import { startPostgres } from '../../fixtures/database/postgres.js';
import { runsOn, storeAgent } from '../../fixtures/platform/session-runs.js';
import { until } from '../../fixtures/until.js';
import { plansOn } from '../../fixtures/platform/plans.js';

const postgres = await startPostgres(t);
const database = await postgres.migrated();
const { sql } = database;
const workspaceId = await ensureDefaultWorkspace(sql, randomIds);
await storeAgent(database, workspaceId);
const sessions = createSessions({ ...plansOn(sql), ids: randomIds, callsPerWorkspace: null });
const runs = await runsOn(t, database, 'one');

const planOf = (analysis: AgentConfig['analysis']): SessionPlan => ({
  config: {
    ...DEFAULT_CONFIG,
    analysis,
    webhooks: {
      conversation_init: null,
      post_call: [{ url: 'https://hooks.example.com/', has_secret: false }],
    },
  },
  tools: [],
  knowledge: [],
  configHash: 'sha256:00',
  maxDurationSeconds: 600,
  recordAudio: false,
  toolEvents: true,
  worldContext: true,
  timezone: 'UTC',
});

/** A conversation that has ended and waits for its analysis. */
async function ended(words = 'Where is my order A-17?', analysis = DEFAULT_CONFIG.analysis): Promise<string> {
  const { id } = await sessions.create({
    workspaceId,
    agentId: 'agent_1',
    agentName: 'Bakery',
    versionNumber: 1,
    source: 'api_key',
    name: null,
    endUserId: null,
    metadata: new RawJson('{}'),
    overrides: {},
    plan: planOf(analysis),
  });
  await runs.join(id);
  await runs.activate(id);
  if (words !== '')
    await runs.append(id, [
      { type: 'message', role: 'user', content: words, turnId: 1, createdAt: new Date() },
    ]);
  await runs.end(id, 'hangup');
  await sql`update sessions set analysis_due_at = now() where id = ${id}`;
  return id;
}

/** A chat-completions server that streams what `answer` writes. */
async function model(t: Pick<Test, 'teardown'>, answer: (response: ServerResponse) => void) {
  const asked: string[] = [];
  const server = httpDouble((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      asked.push(body);
      answer(response);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return { asked, chat: createOpenaiChat({ url, model: 'm', silenceMs: 30_000 }) };
}

const streams =
  (...texts: string[]) =>
  (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const content of texts)
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`);
    response.write(
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\n`,
    );
    response.end('data: [DONE]\n\n');
  };

function start(t: Pick<Test, 'teardown'>, chat?: ChatModel) {
  const queue = createAnalysisQueue(sql);
  const loop = startAnalyses({ queue, chatOf: () => chat, clock: systemClock, log: silentLog });
  t.teardown(() => loop.stop());
  return loop;
}

const analysed = (id: string) =>
  until('it is analysed', async () => (await sessions.read(id, workspaceId))?.analysis ?? undefined);
const eventOf = async (id: string) => {
  const [row] = await sql<{ body: string }[]>`
    select body from deliveries where session_id = ${id} and event = 'call.analyzed'`;
  return row && (JSON.parse(row.body) as Record<string, unknown>);
};

const NOTHING = { summary: null, data: [], criteriaResults: [], error: null };

t.test('the model is asked once, and its findings are stored and delivered', async (t) => {
  const { asked, chat } = await model(t, streams('{"summary": "Asked ', 'for an order."}'));
  start(t, chat);
  const id = await ended();
  exactly(t, await analysed(id), { status: 'completed', summary: 'Asked for an order.', error: null });
  t.equal(asked.length, 1);
  t.match(asked[0], /Where is my order A-17/);
  exactly(t, await eventOf(id), {
    analysis: { status: 'completed', summary: 'Asked for an order.', finished_at: /Z$/, error: null },
  });
});

t.test(
  'a silent conversation, or one without questions, costs nothing, and is delivered nevertheless',
  async (t) => {
    const { asked, chat } = await model(t, streams('{}'));
    start(t, chat);
    const id = await ended('');
    t.strictSame(await analysed(id), { status: 'skipped', ...NOTHING, reason: 'The user said nothing' });
    exactly(t, await eventOf(id), { analysis: { status: 'skipped' } });
    t.equal(asked.length, 0);
  },
);

t.test('a model that fails is not asked again', async (t) => {
  const failures: [string, (response: ServerResponse) => void, RegExp][] = [
    ['an error', (response) => response.writeHead(500).end(), /failed/],
    ['a broken stream', (response) => response.destroy(), /failed/],
    ['no JSON', streams('I would rather not.'), /did not answer as asked/],
  ];
  for (const [what, answer, error] of failures) {
    const { asked, chat } = await model(t, answer);
    const loop = start(t, chat);
    const id = await ended();
    exactly(t, await analysed(id), { status: 'error', error }, what);
    exactly(t, await eventOf(id), { analysis: { status: 'error', error } });
    t.equal(asked.length, 1);
    await loop.stop();
  }
});

t.test('without a model it is skipped with a reason, and delivered nevertheless', async (t) => {
  start(t);
  const id = await ended();
  const reason = 'No language model is configured';
  t.strictSame(await analysed(id), { status: 'skipped', ...NOTHING, reason });
  exactly(t, await eventOf(id), { analysis: { status: 'skipped', error: null, reason, finished_at: /Z$/ } });
});

t.test('analyses that a stopped process leaves behind are done by another', async (t) => {
  const silent = await model(t, () => undefined);
  const first = start(t, silent.chat);
  const id = await ended();
  await until('it is under way', () => silent.asked.length === 1);
  await first.stop();
  t.equal((await sessions.read(id, workspaceId))?.analysis, null);
  const { chat } = await model(t, streams('{"summary":"second"}'));
  start(t, chat);
  await sql`update sessions set analysis_due_at = now() where id = ${id}`;
  exactly(t, await analysed(id), { summary: 'second' });
});
