/**
 * What an agent does where an answering machine takes its call (`conversation.outbound`, docs/contract/platform.md 6.3 and 6.14): its
 * message with variables, one that the language model writes, and a call's own `voicemail`, which wins.
 */
import t from '../../fixtures/tap.js';
import { exactly } from '../../fixtures/exactly.js';
import { APIS, type Line, type Placed, PlacedCalls, SECRET } from '../../fixtures/phone/placed-calls.js';
import type { PhoneLine } from '../../fixtures/phone/line.js';
import type { Body } from '../../fixtures/platform/agents.js';
import { until } from '../../fixtures/until.js';

const calls = await PlacedCalls.start(t);
const { talks } = calls;
const { call: ask } = talks;

const prompt = {
  first_message_mode: 'fixed',
  first_message: 'Hello.',
  system_prompt: 'You remind {{name}} of dates.',
};
const agentWith = (outbound: Body): Promise<string> => talks.agent({ prompt, conversation: { outbound } });
const leaving = (action: string, message: string) => ({ amd_enabled: true, voicemail: { action, message } });

interface Held extends Placed {
  readonly line: PhoneLine;
}

/** A call with the name Ada that is answered and goes on. */
async function held(own: Line, agent_id: string, more: Body = {}): Promise<Held> {
  const call = await calls.placed(own, { agent_id, dynamic_variables: { name: 'Ada' }, ...more });
  const line = await calls.answered(call);
  await until('it goes on', async () => (await call.session()).status === 'active');
  return { ...call, line };
}

async function end({ line, call }: Held): Promise<void> {
  line.hangUp();
  await call.tell('ended', SECRET);
}

for (const dialect of APIS)
  t.test(`${dialect.name}: the agent’s message is left, with its variables`, async (t) => {
    const own = await calls.line(dialect);
    const agent = await agentWith(
      leaving(
        'leave_message',
        'Hi {{name}} at {{system.caller_number}}, on {{system.today}}: call {{dialed_number}}.',
      ),
    );
    const call = await held(own, agent);
    t.ok(['after_greeting', 'both'].includes(call.call.wanted.detection));
    await call.call.answeredBy('greeted', SECRET);
    const document = await until('it is said', () => call.api.replaced.get(call.call.callId));
    const said = dialect.messageIn(document);
    const pattern = `^Hi Ada at \\${call.call.to}, on \\d{4}-\\d\\d-\\d\\d: call \\${own.number}\\.$`;
    t.match(said?.text, new RegExp(pattern));
    t.equal(said?.language, 'en-US');
    await end(call);
    exactly(t, await call.over(), { state: 'voicemail', voicemail: { action: 'leave_message' } });
  });

const [dialect = APIS[0]!] = APIS;
const own = await calls.line(dialect);

t.test('the language model writes the message from an instruction', async (t) => {
  const asked: string[] = [];
  talks.model.answer((messages) => {
    const text = JSON.stringify(messages);
    if (!text.includes('answering machine')) return 'Yes.';
    asked.push(text);
    return '**Hello Ada**, your date is on Monday. 😀';
  });
  t.teardown(() => talks.model.answer(() => 'Yes.'));
  const agent = await agentWith(leaving('leave_prompt_message', 'Remind {{name}} of Monday.'));
  const call = await held(own, agent);
  await call.call.answeredBy('greeted', SECRET);
  const said = await until('it is said', () => call.api.replaced.get(call.call.callId));
  t.equal(dialect.messageIn(said)?.text, 'Hello Ada, your date is on Monday.', 'as it is spoken');
  t.equal(asked.length, 1);
  t.match(asked[0], /Remind Ada of Monday\./);
  t.match(asked[0], /You remind Ada of dates\./, 'the agent’s own prompt, too');
  await end(call);
  exactly(t, await call.over(), {
    state: 'voicemail',
    voicemail: { action: 'leave_prompt_message', message: 'Remind Ada of Monday.' },
  });
});

t.test('a call whose message cannot be written is hung up, and says why', async (t) => {
  talks.model.answer(() => '');
  t.teardown(() => talks.model.answer(() => 'Yes.'));
  const call = await held(own, calls.agentId, {
    voicemail: { action: 'leave_prompt_message', message: 'Say hello.' },
  });
  await call.call.answeredBy('greeted', SECRET);
  exactly(t, await call.over(), { state: 'voicemail', reason: 'The language model wrote no message' });
  await until('it is hung up', () => call.api.hungUp.includes(call.call.callId));
});

t.test('a call’s own voicemail wins; without detection nothing is asked of the provider', async (t) => {
  const agent = await agentWith(leaving('leave_message', 'Of the agent.'));
  const call = await held(own, agent, { voicemail: { action: 'leave_message', message: 'Of the call.' } });
  await call.call.answeredBy('greeted', SECRET);
  const said = await until('it is said', () => call.api.replaced.get(call.call.callId));
  t.equal(dialect.messageIn(said)?.text, 'Of the call.');
  await end(call);
  const off = await calls.placed(own, {
    agent_id: await agentWith({ ...leaving('leave_message', 'x'), amd_enabled: false }),
  });
  t.equal(off.call.wanted.detection, 'none');
  exactly(t, await off.now(), { voicemail: null });
  const hanging = await calls.placed(own, { agent_id: await agentWith({ amd_enabled: true }) });
  t.ok(['at_once', 'both'].includes(hanging.call.wanted.detection));
  exactly(t, await hanging.now(), { voicemail: { action: 'hang_up', message: null } });
  await Promise.all([off, hanging].map(({ call: each }) => each.tell('busy', SECRET)));
});

t.test(
  'a message that is too long with its variables places no call; unknown system names are refused',
  async (t) => {
    const agent = await agentWith(leaving('leave_message', '{{name}}'.repeat(10)));
    const place = (name: string) =>
      calls.place(calls.request(own, { agent_id: agent, dynamic_variables: { name } }));
    exactly(t, await place('x'.repeat(101)), {
      status: 422,
      body: { message: /^conversation\.outbound\.voicemail\.message is longer than 1000 characters/ },
    });
    const config = { conversation: { outbound: leaving('leave_message', '{{system.now}}') } };
    exactly(t, await ask(`agents/${agent}/config`, { method: 'PATCH', body: config }), {
      status: 422,
      body: { message: /^conversation\.outbound\.voicemail\.message uses \{\{system\.now\}\}/ },
    });
    const { body } = await ask(`agents/${agent}/config`);
    exactly(t, await ask(`agents/${agent}/config`, { method: 'PATCH', body }), {
      status: 200,
      body: { conversation: body['conversation'] },
    });
  },
);
