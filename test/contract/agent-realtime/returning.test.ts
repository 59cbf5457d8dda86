/**
 * A client whose socket broke off comes back to its call (docs/contract/agent-realtime.md 6): at the same machine, at another one, during a
 * drain, and once the process of its call has died; and who may not.
 */
import t from '../../fixtures/tap.js';
import { said, toolSaid } from '../../fixtures/chat/model.js';
import { MEDIA, messagesOf, Talks } from '../../fixtures/conversation/conversation.js';
import type { Body } from '../../fixtures/platform/agents.js';
import { startPostgres } from '../../fixtures/database/postgres.js';
import { exactly } from '../../fixtures/exactly.js';
import { type Gateway, startGateway, TEST_SECRET } from '../../fixtures/gateway.js';
import { AgentClient, connectAgent } from '../../fixtures/protocol-a/agent-client.js';
import { until } from '../../fixtures/until.js';

const postgres = await startPostgres(t);
const shared = { DATABASE_URL: postgres.url, SECRETS_KEY: TEST_SECRET };
const talks = await Talks.start(t, shared);
const { model, gateway } = talks;
const other = await startGateway({ ...MEDIA, ...shared, LLM_BASE_URL: model.url, LOG_LEVEL: 'warn' });
t.teardown(() => other.stop());

/** How long a client is away. */
const AWAY_MS = 5000;
/** Twelve seconds of tones. */
const LONG = Array.from({ length: 60 }, (_, index) => String(index + 100)).join(' ');
model.answer((messages) => {
  const result = toolSaid(messages);
  if (result !== undefined) return `It costs ${result}.`;
  const words = said(messages);
  if (words.includes('price')) return { calls: { price: {} } };
  return words.includes('Count') ? LONG : `You said: ${words}`;
});

const PRICE = { type: 'function', name: 'price', description: 'The price', parameters: { type: 'object' } };
const SORRY = 'Sorry, I lost you for a moment.';

type At = Pick<Gateway, 'base' | 'authorization'>;

function back(
  id: string,
  at: At = gateway,
  headers: Record<string, string> = at.authorization,
): Promise<AgentClient> {
  const client = new AgentClient(at, { base: '/v1', query: `?session_id=${id}`, headers });
  t.teardown(() => client.socket.close());
  return client.opened();
}

async function refused(...of: Parameters<typeof back>) {
  const client = await back(...of);
  return { error: await client.error(), code: await client.closed() };
}

/** A call in which something was said, with a function of its client. */
async function begun(): Promise<AgentClient> {
  const client = await connectAgent(t, talks, await talks.agent());
  client.update({ type: 'realtime', tools: [PRICE] });
  await client.next('session.updated');
  client.say('Hello.').respond();
  await client.untilHeard('You said: Hello.');
  return client;
}

t.test('a socket that breaks off: the same call goes on, with its functions and what was said', async (t) => {
  const before = await begun();
  const id = before.sessionId;
  before.leave();
  await before.closed();
  const client = await back(id);
  exactly(t, await client.next('session.created'), { session: { id, tools: [{ name: 'price' }] } });
  client.say('What is the price?').respond();
  const { call_id: callId } = await client.next('response.function_call_arguments.done');
  const item = { type: 'function_call_output', call_id: callId, output: 'two euros' };
  client.send({ type: 'conversation.item.create', item });
  await client.untilHeard('It costs two euros.');
  t.ok(client.audioBytes > 0, 'and is heard');
  client.socket.close(1000);
  const record = await talks.ended({ session_id: id });
  exactly(t, record, { ended_reason: 'hangup', status: 'completed' });
  t.same(messagesOf(record), [
    'user: Hello.',
    'assistant: You said: Hello.',
    'user: What is the price?',
    'assistant: It costs two euros.',
  ]);
});

t.test('one that is still open is closed, and what the agent says waits for its client', async (t) => {
  const before = await begun();
  before.say('Count.').respond();
  await until('it counts', () => before.audioBytes > 24_000);
  let reason = '';
  before.socket.on('close', (_code, why) => (reason = String(why)));
  const after = await back(before.sessionId, other);
  t.equal(await before.closed(), 1000);
  t.equal(reason, 'the session goes on by another socket');
  await until('it goes on counting', () => after.audioBytes > 24_000);
  after.leave();
  await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
  const client = await back(before.sessionId);
  await until('it counts to the end', () => client.of('response.done').length === 1);
  // PCM at 24 kHz: 48 bytes a millisecond.
  const ms = (before.audioBytes + after.audioBytes + client.audioBytes) / 48;
  const whole = LONG.length * 50;
  // What was under way when the line broke is lost: more on a busy machine, and never what it would have said meanwhile.
  t.ok(ms > whole - AWAY_MS + 1000, `${ms} of ${whole} ms were sent to somebody`);
  client.socket.close(1000);
  const record = await talks.ended({ session_id: before.sessionId });
  t.equal(messagesOf(record).at(-1), `assistant: ${LONG}`);
});

t.test('who may not, and nobody comes back', async (t) => {
  const client = await begun();
  const id = client.sessionId;
  const secretFor = async (agentId: string): Promise<{ authorization: string }> => {
    const response = await fetch(`${gateway.base}/v1/realtime/client_secrets`, {
      method: 'POST',
      headers: { ...gateway.authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ session: { type: 'realtime', model: agentId } }),
    });
    return { authorization: `Bearer ${((await response.json()) as { value: string }).value}` };
  };
  const foreign = await secretFor(await talks.agent());
  exactly(
    t,
    await refused(id, gateway, foreign),
    { error: { code: 'not_found' }, code: 1008 },
    'another agent',
  );
  const unknown = 'sess_0123456789abcdef01234567';
  exactly(t, await refused(unknown), { error: { code: 'not_found', param: 'session_id' }, code: 1008 });
  client.leave();
  const record = await talks.ended({ session_id: id }, 30_000);
  exactly(t, record, { ended_reason: 'transport_lost', status: 'failed' });
  // Its record ends a moment before its connections.
  await until('it has ended', async () => {
    const late = await back(id);
    await late.closed();
    const [error] = late.of('error');
    return (error?.['error'] as Body | undefined)?.['code'] === 'not_found';
  });
});

t.test('the secret of its agent does', async (t) => {
  const agentId = await talks.agent();
  const response = await fetch(`${gateway.base}/v1/realtime/client_secrets`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ session: { type: 'realtime', model: agentId } }),
  });
  const { value } = (await response.json()) as { value: string };
  const headers = { authorization: `Bearer ${value}` };
  const before = await connectAgent(t, talks, agentId, { query: '', headers });
  before.say('Hello.').respond();
  await before.untilHeard('You said: Hello.');
  before.leave();
  await before.closed();
  const client = await back(before.sessionId, gateway, headers);
  client.say('Again.').respond();
  await client.untilHeard('You said: Again.');
  client.socket.close(1000);
  exactly(t, await talks.ended({ session_id: before.sessionId }), { ended_reason: 'hangup' });
});

t.test('once the process of its call has died, and while the other one drains', async (t) => {
  const before = await begun();
  const id = before.sessionId;
  process.kill(gateway.pid, 'SIGKILL');
  await before.closed();
  const client = await until('it may go on', async () => {
    const next = await back(id, other);
    await until('it is told', () => next.events[0]);
    if (next.events[0]?.type === 'session.created') return next;
    exactly(t, await next.error(), { code: 'overloaded' });
    return undefined;
  });
  exactly(t, await client.next('session.created'), { session: { id } });
  client.update({ type: 'realtime', tools: [PRICE] });
  await client.untilHeard(SORRY);
  client.say('What did I say?').respond();
  await client.untilHeard('You said: What did I say?');
  t.ok(
    model.asked.at(-1)?.some(({ content }) => content === 'You said: Hello.'),
    'the model knows what was said before',
  );
  const stopped = other.stop();
  await until('it drains', async () => (await fetch(`${other.base}/health`)).status === 503);
  client.leave();
  await client.closed();
  const last = await back(id, other);
  last.say('Goodbye.').respond();
  await last.untilHeard('You said: Goodbye.');
  last.socket.close(1000);
  await stopped;
  const { sql } = await postgres.open();
  const items = await sql<{ content: string }[]>`
    select content from session_items where session_id = ${id} and type = 'message' order by position`;
  t.strictSame(
    items.map(({ content }) => (JSON.parse(content) as Body)['content']),
    ['Hello.', 'You said: Hello.', SORRY, 'What did I say?', 'You said: What did I say?', 'Goodbye.', 'You said: Goodbye.'], // oxfmt-ignore
  );
  const [row] = await sql<{ reason: string; status: string }[]>`
    select ended_reason as reason, status from sessions where id = ${id}`;
  exactly(t, row, { reason: 'hangup', status: 'completed' });
});
