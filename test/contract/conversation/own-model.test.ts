/**
 * Conversations of agents with a language model of their own, at a server beside the gateway's: what it is asked, with which key, and what
 * becomes of a call when it fails (docs/contract/platform.md 6.3, ops/adr/0068-own-models.md).
 */
import t from '../../fixtures/tap.js';
import { Caller, letGo } from '../../fixtures/calls/caller.js';
import { type Body, makeAgent } from '../../fixtures/platform/agents.js';
import {
  type Item,
  type Meeting,
  messagesOf,
  shownBy,
  Talks,
} from '../../fixtures/conversation/conversation.js';
import { over, scenarioId, start } from '../../fixtures/agent-tests/runs.js';
import { exactly } from '../../fixtures/exactly.js';
import { said, startModel } from '../../fixtures/chat/model.js';
import { until } from '../../fixtures/until.js';

t.teardown(letGo);
const { talks } = await Talks.shared(t);
const { model: gateways, call } = talks;
const own = await startModel();
t.teardown(() => own.stop());
const other = await startModel();
t.teardown(() => other.stop());
/** What the gateway's own model was asked, but for analyses: the gateway is shared, and calls of other files are analysed beside. */
const askedElsewhere = () =>
  gateways.asked.filter(([first]) => !String(first?.content).startsWith('You are given the transcript'));

t.beforeEach(() => {
  own.reset();
  other.reset();
  gateways.reset();
});
const SUMMARY = { analysis: { summary: { enabled: false } } };
const custom = (url = own.url, api_key = 'sesame') => ({ base_url: url, model: 'wise-1', api_key });

const type = ({ caller }: Meeting, text: string): void => caller.send({ type: 'user.message', text });
const untilShown = ({ caller }: Meeting, text: string) =>
  until(`"${text}" is shown`, () => shownBy(caller, 'agent').some((shown) => shown.trim() === text));
const hangUp = ({ caller, invite }: Meeting) => {
  caller.hangUp();
  return talks.ended(invite);
};
const failuresIn = ({ items }: { readonly items: readonly Item[] }) =>
  (items as readonly (Item & Partial<Body>)[])
    .filter(({ type: kind }) => kind === 'llm.endpoint_error')
    .map(({ created_at: _, turn_id: _turn, type: _type, ...failure }) => failure);
const HOST = new URL(own.url).host;
const failure = (error: string, status_code: number | null, retried = false) => ({
  model: 'wise-1',
  ...{ host: HOST, error, status_code, retried },
});

t.test('it is asked with its key, the session and the user; the gateway’s model is not', async (t) => {
  own.answer(() => 'I am your own.');
  const agent = await talks.agent({
    ...SUMMARY,
    prompt: {
      first_message_mode: 'prompt',
      first_message_prompt: 'Say who you are.',
      system_prompt: 'Be {{how}}.',
    },
    llm: { custom: custom() },
    tools: { system_tools: { hang_up_call: true } },
  });
  const invite = await talks.session(agent, { end_user_id: 'ada', dynamic_variables: { how: 'brief' } });
  const meeting = { invite, caller: await Caller.join(invite), record: () => talks.record(invite) };
  await untilShown(meeting, 'I am your own.');
  const [asked] = own.requests;
  exactly(t, asked, {
    url: '/v1/chat/completions',
    authorization: 'Bearer sesame',
    body: { model: 'wise-1', stream: true, session_id: invite.session_id, user_id: 'ada' },
  });
  t.notOk('stream_options' in (asked?.body ?? {}));
  exactly(t, own.asked[0]?.[0], { role: 'system', content: /^Be brief\./ });
  exactly(t, asked?.body['tools'], [{ type: 'function', function: { name: 'hang_up_call' } }]);
  own.answer((messages) => `You said: ${said(messages)}`);
  type(meeting, 'Hi');
  await untilShown(meeting, 'You said: Hi');
  const record = await hangUp(meeting);
  t.strictSame(failuresIn(record), []);
  t.strictSame(askedElsewhere(), []);
});

t.test(
  'without a user there is no user_id; a new key counts at once, for a published version, too',
  async (t) => {
    const agent = await talks.agent({ ...SUMMARY, llm: { custom: custom() } });
    const meet = async () => {
      const invite = await talks.session(agent);
      return { invite, caller: await Caller.join(invite), record: () => talks.record(invite) };
    };
    const meeting = await meet();
    type(meeting, 'One');
    await until('it is asked', () => own.requests.length === 1);
    t.notOk('user_id' in (own.requests[0]?.body ?? {}));
    exactly(
      t,
      await call(`agents/${agent}/config`, {
        method: 'PATCH',
        body: { llm: { custom: custom(own.url, 'newer') } },
      }),
      { status: 200 },
    );
    await untilShown(meeting, 'Yes.');
    type(meeting, 'Two');
    await until('it is asked again', () => own.requests.length === 2);
    t.strictSame(
      own.requests.map(({ authorization }) => authorization),
      ['Bearer sesame', 'Bearer newer'],
    );
    // Another address is only the draft's, and so is its key.
    await call(`agents/${agent}/config`, {
      method: 'PATCH',
      body: { llm: { custom: custom(other.url, 'others') } },
    });
    // Back to the version's address without a key: that of the version stays.
    const { api_key: _, ...keyless } = custom();
    await call(`agents/${agent}/config`, { method: 'PATCH', body: { llm: { custom: keyless } } });
    const next = await meet();
    type(next, 'Three');
    await until('the published one is asked', () => own.requests.length === 3);
    t.equal(own.requests[2]?.authorization, 'Bearer newer');
    t.strictSame(other.requests, []);
    await Promise.all([hangUp(meeting), hangUp(next)]);
  },
);

t.test('one that has answered nothing is asked once more, and never replaced', async (t) => {
  own.answer(() => (own.requests.length === 1 ? 503 : 'Here I am.'));
  const meeting = await talks.meet({ ...SUMMARY, llm: { custom: custom() } });
  type(meeting, 'Hi');
  await untilShown(meeting, 'Here I am.');
  const record = await hangUp(meeting);
  t.strictSame(failuresIn(record), [failure('failed', 503, true)]);
  t.strictSame(messagesOf(record), ['user: Hi', 'assistant: Here I am.']);
  t.strictSame(askedElsewhere(), []);
});

t.test('three failed answers in a row end the call; each failure is in the record', async (t) => {
  own.answer(() => 401);
  const meeting = await talks.meet({ ...SUMMARY, llm: { custom: custom() } });
  const EXCUSE = 'Sorry, I could not answer that. Please try again.';
  for (const nth of [1, 2]) {
    type(meeting, `Question ${nth}`);
    await until(
      `excuse ${nth}`,
      () => shownBy(meeting.caller, 'agent').filter((text) => text.trim() === EXCUSE).length === nth,
    );
  }
  type(meeting, 'Question 3');
  const record = await talks.ended(meeting.invite);
  exactly(t, record, { status: 'failed', ended_reason: 'llm_endpoint_failure', failed_answers: 3 });
  t.strictSame(
    failuresIn(record),
    [1, 2, 3].map(() => failure('refused_key', 401)),
  );
  t.notMatch(JSON.stringify(record), 'sesame');
  t.strictSame(askedElsewhere(), []);
});

t.test('one that breaks off in the middle is recorded, too, and so is an answer that is none', async (t) => {
  own.answer((messages) => (response) => {
    if (said(messages) === 'Page')
      return void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"choices":[{"delta":{"content":"Well, "}}]}\n\n', () => response.destroy());
  });
  const meeting = await talks.meet({ ...SUMMARY, llm: { custom: custom() } });
  type(meeting, 'Page');
  await until('it fails', async () => failuresIn(await meeting.record()).length === 2);
  type(meeting, 'Half');
  await until('it fails again', async () => failuresIn(await meeting.record()).length === 3);
  const record = await hangUp(meeting);
  t.strictSame(failuresIn(record), [
    failure('invalid', null, true),
    failure('invalid', null),
    failure('failed', null),
  ]);
});

t.test('after a hand-over the other agent’s model is asked, with the key of that one', async (t) => {
  const second = await makeAgent(call, {
    name: 'Second',
    config: { prompt: { first_message_mode: 'off' }, llm: { custom: custom(other.url, 'others') } },
  });
  own.answer((messages) =>
    said(messages) === 'Pass me on'
      ? { calls: { transfer_to_agent: { agent_id: second, note: 'n' } } }
      : 'First.',
  );
  other.answer(() => 'Second.');
  const meeting = await talks.meet({
    ...SUMMARY,
    llm: { custom: custom() },
    tools: { filler_mode: 'off', transfer_agents: [{ agent_id: second }] },
  });
  type(meeting, 'Pass me on');
  await untilShown(meeting, 'Second.');
  exactly(t, other.requests[0], {
    authorization: 'Bearer others',
    body: { session_id: meeting.invite.session_id },
  });
  await hangUp(meeting);
  t.strictSame(askedElsewhere(), []);
});

t.test('the analysis asks it as well', async (t) => {
  own.answer((messages) =>
    messages[0]?.content?.includes('transcript') ? '{"summary": "Said hi."}' : 'Yes?',
  );
  const meeting = await talks.meet({ llm: { custom: custom() } });
  type(meeting, 'Hi');
  await untilShown(meeting, 'Yes?');
  await hangUp(meeting);
  const analysis = await until('it is analysed', async () => {
    const found = (await talks.record(meeting.invite))['analysis'] as Body | null;
    return found?.['status'] === 'completed' ? found : undefined;
  });
  exactly(t, analysis, { summary: 'Said hi.' });
  exactly(t, own.requests.at(-1), {
    authorization: 'Bearer sesame',
    body: { session_id: meeting.invite.session_id },
  });
  t.notMatch(JSON.stringify(gateways.asked), 'Yes?', 'the gateway’s model is not');
});

t.test('tests in writing ask it; there is no session, so the run and the place are its id', async (t) => {
  own.answer((messages) => `You said: ${said(messages)}`);
  const agentId = await talks.agent({ llm: { custom: custom() } });
  const platform = {
    call: async (method: string, path: string, { body }: { body?: unknown } = {}) => {
      const answer = await call(path.replace('/v1/agent/', ''), {
        method,
        ...(body !== undefined && { body }),
      });
      return { ...answer, text: JSON.stringify(answer.body) };
    },
  };
  const checks = [{ type: 'contains', text: 'You said: Hello?' }];
  await scenarioId(platform, agentId, { checks });
  const run = await over(platform, start(platform, { agent_id: agentId }));
  exactly(t, run, { status: 'passed', results: [{ error: null }] }, JSON.stringify(run));
  exactly(t, own.requests[0], { authorization: 'Bearer sesame', body: { session_id: `${run.run_id}_0` } });
  own.answer(() => 500);
  const failed = await over(platform, start(platform, { agent_id: agentId }));
  exactly(t, failed, { status: 'error' });
  t.strictSame(askedElsewhere(), []);
});
