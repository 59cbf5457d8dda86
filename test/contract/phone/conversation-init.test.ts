/**
 * The question to an agent's owner before a call (docs/webhooks.md "Before a call"), with a real receiver: on the telephone and for
 * clients, what it is asked, what its answer does, and that a call begins whatever it does.
 */
import type { ServerResponse } from 'node:http';
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { SessionPlan } from '../../../contracts/ports/sessions/sessions.js';
import { letGo } from '../../fixtures/calls/caller.js';
import { messagesOf, type Record, Talks } from '../../fixtures/conversation/conversation.js';
import { exactly } from '../../fixtures/exactly.js';
import { ASKING, CALLER, IncomingCalls, STREAMING, untilSaid } from '../../fixtures/phone/incoming-calls.js';
import type { Body } from '../../fixtures/platform/agents.js';
import { isSignedBy, startReceiver } from '../../fixtures/platform/receiver.js';
import { until } from '../../fixtures/until.js';

t.teardown(letGo);
const calls = await IncomingCalls.start(t);
const { talks } = calls;
const { postgres } = await Talks.shared(t);
const { sql } = await postgres.open();
talks.model.answer(() => 'Yes.');

type Answer = (response: ServerResponse) => unknown;
const says =
  (body: unknown, status = 200): Answer =>
  (response) =>
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));

let answer: Answer = says({});
const { url, seen } = await startReceiver(t, (_, response) => void answer(response));
t.beforeEach(() => {
  seen.length = 0;
});

const prompt = {
  ...{ first_message_mode: 'fixed', first_message: 'Hello {{name}}.' },
  system_prompt: 'You talk to {{name}}, {{points}}, {{caller_number}}.',
};
const asks = (init: Body = {}): Body => ({
  prompt,
  webhooks: { conversation_init: { url, secret: 'sesame', ...init } },
});

const toolItemsOf = ({ items }: Record) => items.filter(({ type }) => type !== 'message');

for (const provider of [ASKING[0]!, STREAMING[0]!])
  t.test(`${provider.name}: the answer fills the prompt before the agent speaks`, async (t) => {
    answer = says({ dynamic_variables: { name: 'Ada', points: 7 }, other: { ignored: true } });
    const answered = await calls.dial(provider, asks());
    await untilSaid(answered, 'Hello Ada.');
    const [asked, ...more] = seen;
    t.same(more, [], 'it is asked once');
    t.ok(isSignedBy('sesame', asked!));
    const { agent_id, timezone } = await answered.record();
    t.strictSame(JSON.parse(asked!.body), {
      event: 'conversation.init',
      agent_id,
      session: { caller_number: CALLER, dialed_number: answered.number, direction: 'inbound', timezone },
    });
    answered.line.hangUp();
    const record = await answered.ended();
    t.equal(messagesOf(record)[0], 'assistant: Hello Ada.');
    exactly(t, toolItemsOf(record), [
      { type: 'tool_call', tool_name: 'conversation.init', tool_source: 'webhook' },
      { status: 'completed', output: '{"dynamic_variables":{"name":"Ada","points":7}}' },
    ]);
  });

/** The plan of a session that a client asks for. */
async function planned(init: Body, more: Body = {}, config: Body = {}): Promise<SessionPlan> {
  return planOf(await talks.agent({ ...asks(init), ...config }), more);
}

async function planOf(agent: string, more: Body = {}): Promise<SessionPlan> {
  const { session_id: id } = await talks.session(agent, more);
  const [row] = await sql<{ plan: SessionPlan }[]>`select plan from sessions where id = ${id}`;
  return row!.plan;
}

t.test('calls of clients ask only where that is wished; their own variables win', async (t) => {
  answer = says({ dynamic_variables: { name: 'Ada', points: '7' } });
  const plain = await planned({});
  t.same([seen.length, plain.init, plain.config.prompt.first_message], [0, undefined, 'Hello {{name}}.']);
  const web = await planned({ web: true }, { dynamic_variables: { name: 'Bob' }, timezone: 'Asia/Tokyo' });
  t.equal(web.config.prompt.system_prompt, 'You talk to Bob, 7, {{caller_number}}.');
  exactly(t, JSON.parse(seen[0]!.body), {
    session: { caller_number: null, dialed_number: null, direction: 'inbound', timezone: 'Asia/Tokyo' },
  });
  const agent = await talks.agent(asks({ web: true }));
  t.equal((await talks.call(`agents/${agent}/preview`, { method: 'POST' })).status, 201);
  t.equal(seen.length, 1, 'a preview asks nobody');
});

const many = Object.fromEntries(Array.from({ length: 51 }, (_, nth) => [`v${nth}`, 1]));
/** Answers with which a call goes on without, and what its record says. */
const WITHOUT: readonly (readonly [answer: Answer, said: RegExp])[] = [
  [says('', 500), /^it answered 500$/],
  [says('', 302), /^it answered 302$/],
  [says('no JSON'), /^it answered no JSON object$/],
  [says([]), /^it answered no JSON object$/],
  [says({ dynamic_variables: ['x'] }), /no object$/],
  [says({ dynamic_variables: { 'system.today': 'x' } }), /no variable: .*system\.today must begin with a letter/],
  [says({ dynamic_variables: { name: {} } }), /name must be a string, a number or a boolean/],
  [says({ dynamic_variables: { name: 'x'.repeat(1001) } }), /at most 1000 characters/],
  [says({ dynamic_variables: many }), /at most 50 entries/],
  [says('{"dynamic_variables":{"name":"a\\u0000"}}'), /holds NUL/],
  [says({ padding: 'x'.repeat(LIMITS.conversationInit.answerBytes) }), /more than 64 KiB$/],
  [(response) => response.destroy(), /could not be reached$/],
  [() => undefined, /did not answer in time$/],
]; // oxfmt-ignore

t.test(
  'whatever it does, the call begins in time, and the record and the log say why it goes on without',
  async (t) => {
    const agent = await talks.agent(asks({ web: true, timeout_seconds: 1 }));
    for (const [how, said] of WITHOUT) {
      answer = how;
      const since = performance.now();
      const plan = await planOf(agent);
      t.equal(plan.config.prompt.first_message, 'Hello {{name}}.');
      exactly(t, plan.init, { ok: false, output: said });
      t.ok(performance.now() - since < 10_000);
    }
    const lines = () =>
      talks.gateway
        .stderr()
        .split('\n')
        .filter((line) => line.includes('without the answer of its owner'));
    // The log repeats itself a few times only.
    await until('the log says so', () => lines().length > 0);
    const [line = '{}'] = lines();
    const { host } = new URL(url);
    exactly(t, JSON.parse(line) as Body, {
      part: 'init',
      agentId: /^agent_/,
      host,
      reason: 'it answered 500',
    });
    t.notMatch(lines().join(), 'xxxx', 'nothing of an answer is logged');
  },
);

t.test('a call that goes on without has that in its record', async (t) => {
  answer = says('', 503);
  const { caller, invite } = await talks.meet(asks({ web: true }));
  await until('it has begun', async () => messagesOf(await talks.record(invite)).length > 0);
  caller.hangUp();
  exactly(t, toolItemsOf(await talks.ended(invite)), [
    { tool_name: 'conversation.init' },
    { status: 'failed', error: 'it answered 503' },
  ]);
});

t.test('odd answers that are good: nothing at all, long numbers, null', async (t) => {
  answer = says('', 204);
  exactly(t, (await planned({ web: true })).init, { ok: true, output: '{"dynamic_variables":{}}' });
  answer = says('{"dynamic_variables":{"name":12345678901234567890,"points":"ü"}}');
  const plan = await planned({ web: true });
  t.match(plan.config.prompt.system_prompt, /^You talk to 12345678901234567890, ü,/u);
  answer = says({ dynamic_variables: null });
  exactly(t, (await planned({ web: true })).init, { ok: true });
});

t.test('a prompt that would be too long with its variables is left without them', async (t) => {
  answer = says({ dynamic_variables: { name: 'x'.repeat(1000) } });
  const long = { prompt: { ...prompt, system_prompt: '{{name}} '.repeat(400) } };
  const plan = await planned({ web: true }, {}, long);
  exactly(t, plan.init, { ok: false, output: /longer than 100000 characters/ });
  t.match(plan.config.prompt.system_prompt, /^\{\{name\}\}/);
});

t.test('it is published, its secret is kept where the address stays, and null removes it', async (t) => {
  answer = says({ dynamic_variables: { name: 'Ada' } });
  const agent = await talks.agent(asks({ web: true }));
  const path = `agents/${agent}/config`;
  const change = (conversation_init: unknown) =>
    talks.call(path, { method: 'PATCH', body: { webhooks: { conversation_init } } });
  const shown = async () => ((await talks.call(path)).body['webhooks'] as Body)['conversation_init'];
  t.strictSame(await shown(), { url, has_secret: true, timeout_seconds: 5, web: true });
  const publish = () => talks.call(`agents/${agent}/publish`, { method: 'POST' });

  t.equal((await change({ url, timeout_seconds: 2.5 })).status, 200);
  t.strictSame(await shown(), { url, has_secret: true, timeout_seconds: 2.5, web: true });
  await publish();
  await talks.session(agent);
  t.ok(isSignedBy('sesame', seen[0]!), 'the kept secret');

  await change({ url: `${url}/other` });
  t.strictSame(await shown(), { url: `${url}/other`, has_secret: false, timeout_seconds: 2.5, web: true });
  await talks.session(agent);
  t.ok(isSignedBy('sesame', seen[1]!), 'the published version goes on');
  await publish();
  await talks.session(agent);
  t.equal(seen[2]!.headers['x-svc-webhook-signature'], undefined);

  await change(null);
  t.equal(await shown(), null);
  await talks.session(agent);
  t.equal(seen.length, 4, 'until that is published');
  await publish();
  await talks.session(agent);
  t.equal(seen.length, 4);
});
