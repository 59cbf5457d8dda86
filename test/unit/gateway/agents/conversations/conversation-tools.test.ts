/** Tools that run while the conversation goes on, and calls that are handed over to another agent. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from '../../../../fixtures/tap.js';
import { LIMITS } from '../../../../../contracts/limits.js';
import type { RunnableAgent } from '../../../../../contracts/ports/agents/agents.js';
import type { ChatRequest } from '../../../../../contracts/ports/chat.js';
import type { TurnModel } from '../../../../../contracts/ports/speech/turns.js';
import { type AgentConfig, DEFAULT_CONFIG } from '../../../../../contracts/schemas/agent-config.js';
import {
  sendDigitsTool,
  transferTool,
} from '../../../../../gateway/agents/conversations/tools/system-tools.js';
import type { PhoneTransfer } from '../../../../../gateway/agents/conversations/tools/tool.js';
import { transferCallTool } from '../../../../../gateway/agents/conversations/tools/transfer-call.js';
import { exactly } from '../../../../fixtures/exactly.js';
import {
  type Answer,
  inTurn,
  joined,
  saying,
  webhookTool,
} from '../../../../fixtures/conversation/hosted.js';
import { until } from '../../../../fixtures/until.js';
import { standIn } from '../../../../fixtures/stand-in.js';

/** A tool that runs while the conversation goes on, until the test lets it answer. */
function beside() {
  const answers: ((text: string) => void)[] = [];
  const tool = webhookTool('look');
  return {
    answers,
    tools: [{ ...tool, definition: { ...tool.definition, while_speaking: true } }],
    toolSays: () => new Promise<string>((resolve) => void answers.push(resolve)),
  };
}

const callsLook = (times = 1): Answer =>
  async function* () {
    const calls = Array.from({ length: times }, (_, id) => ({ id: `${id}`, name: 'look', arguments: '{}' }));
    yield { kind: 'calls', calls };
  };

t.test('with a tool in the background the agent goes on, and reports the result when it comes', async (t) => {
  const { answers, ...options } = beside();
  const answer = inTurn(callsLook(), saying('I look.'), saying('Yes?'), saying('It is 42.'));
  const hosted = joined(t, { ...options, answer });
  await hosted.type('What is it?', 3);
  t.same(hosted.messages, ['user: What is it?', 'tool_call', 'assistant: I look.']);
  exactly(t, hosted.asked[1]?.at(-1), { role: 'tool', content: /The tool runs/ });
  await hosted.type('Are you there?', 5);
  answers[0]?.('42');
  await until('the result is told', () => hosted.items.length === 7);
  t.same(hosted.messages.slice(5), ['tool_result', 'assistant: It is 42.']);
  exactly(t, hosted.asked[3]?.slice(-2), [
    { role: 'system', content: /look \(\{\}\) has answered: 42/ },
    { role: 'system', content: /ran beside the conversation/ },
  ]);
  t.same(
    hosted.sent.map(({ type }) => type),
    ['tool.started', 'tool.completed'],
  );
});

t.test('a tool in the background ends with its call, and by no interruption', async (t) => {
  const { answers, ...options } = beside();
  const hosted = joined(t, { ...options, answer: inTurn(callsLook(), saying('I look.')) });
  await hosted.type('What is it?', 3);
  hosted.client({ type: 'user.interrupt' });
  await hosted.type('Well?', 5);
  t.notOk(hosted.items.some(({ type }) => type === 'tool_result'));
  hosted.happen({ kind: 'left' });
  await until('the client is told of the end', () =>
    hosted.sent.some(({ type }) => type === 'session.ended'),
  );
  answers[0]?.('42');
  await hosted.over();
  t.equal(hosted.items.filter(({ type }) => type === 'tool_result').length, 1);
});

t.test('only so many tools run in the background at once, and more fail immediately', async (t) => {
  const { callsBesideSpeech: most } = LIMITS.session;
  const { answers, ...options } = beside();
  const hosted = joined(t, { ...options, answer: inTurn(callsLook(most + 1), saying('I look.')) });
  await hosted.type('What is it?', most + 4);
  t.equal(answers.length, most);
  const told = hosted.asked[1]?.filter(({ role }) => role === 'tool').map(({ content }) => content) ?? [];
  t.equal(told.filter((content) => /Too many tools run already/.test(content)).length, 1);
  t.equal(hosted.items.filter(({ type }) => type === 'tool_result').length, 1);
  for (const answer of answers) answer('42');
});

t.test('the model is never told what came of a tool that it forgets (D10)', async (t) => {
  const { answers, tools, ...options } = beside();
  const [tool] = tools;
  const forgets = { while_speaking: false, execution_mode: 'fire_and_forget' } as const;
  const forgotten = [{ ...tool!, definition: { ...tool!.definition, ...forgets } }];
  const answer = inTurn(callsLook(), saying('I have sent it.'), saying('Yes?'));
  const hosted = joined(t, { ...options, tools: forgotten, answer });
  await hosted.type('Send it', 3);
  exactly(t, hosted.asked[1]?.at(-1), { role: 'tool', content: /you are not told its outcome/ });
  answers[0]?.('42');
  await until('it is recorded', () => hosted.items.some(({ type }) => type === 'tool_result'));
  await hosted.type('Are you there?', 6);
  t.notMatch(JSON.stringify(hosted.asked[2]), /42/);
  t.equal(hosted.asked.length, 3, 'nor asked to report it');
});

/** A published agent that takes over at a hand-over. */
const published = (id: string, config: Partial<AgentConfig> = {}, status: 'active' | 'archived' = 'active') =>
  ({
    agent: { id, name: `Agent ${id}`, status },
    version: {
      number: 1,
      config: { ...DEFAULT_CONFIG, ...config },
      ...{ configHash: '', tools: [], knowledge: [] },
    },
  }) as unknown as RunnableAgent;

const transferTo = (id: string): Answer =>
  async function* () {
    const args = JSON.stringify({ agent_id: id, note: 'wants tea' });
    yield { kind: 'text', text: 'I pass you on.' };
    yield { kind: 'calls', calls: [{ id: 'a', name: 'transfer_to_agent', arguments: args }] };
  };

t.test(
  'a hand-over: another agent continues with its own prompt, voice and tools, and the note',
  async (t) => {
    const next = published('shop', {
      prompt: { ...DEFAULT_CONFIG.prompt, system_prompt: 'You run the shop of {{caller}}.' },
      voice: { voice_id: 'v2', speaking_language: 'de', languages: null, expressive: false },
      tools: { ...DEFAULT_CONFIG.tools, system_tools: { hang_up_call: true, send_digits: false } },
    });
    const requests: ChatRequest[] = [];
    const answers = inTurn(transferTo('shop'), saying('Here is the shop.'));
    const answer: Answer = (request, signal) => {
      requests.push(request);
      return answers(request, signal);
    };
    const hosted = joined(t, { answer, agents: { shop: next } });
    await hosted.type('Tea please', 5);
    t.same(hosted.messages, [
      ...['user: Tea please', 'tool_call', 'tool_result', 'assistant: I pass you on.'],
      'assistant: Here is the shop.',
    ]);
    exactly(t, hosted.items[2], {
      toolName: 'transfer_to_agent',
      toolSource: 'builtin',
      status: 'completed',
    });
    const output = hosted.items[2]?.type === 'tool_result' ? hosted.items[2].output : '';
    t.same(JSON.parse(output), {
      ...{ agent_id: 'shop', agent_name: 'Agent shop', version_number: 1, note: 'wants tea' },
    });
    exactly(
      t,
      hosted.sent.find(({ type }) => type === 'agent.changed'),
      { agentId: 'shop', agentName: 'Agent shop' },
    );
    t.same(hosted.voices, ['default', 'v2']);
    t.same(
      requests.map(({ tools }) => tools.map(({ name }) => name)),
      [['transfer_to_agent'], ['hang_up_call']],
    );
    t.equal(requests[1]?.messages[0]?.content, 'You run the shop of Ada.');
    t.match(requests[1]?.messages[1]?.content, /Speak German/);
    t.match(requests[1]?.messages.at(-1)?.content, /taken this call over/);
    t.match(JSON.stringify(requests[1]?.messages), /wants tea/);
  },
);

t.test(
  'a hand-over brings the detector of ends of turns and the noise reduction that the other agent wants',
  async (t) => {
    let asked = 0;
    const model: TurnModel = {
      prepare: () => undefined,
      probability: () => Promise.resolve((asked += 1) && 0.9),
    };
    const next = published('shop', {
      conversation: { ...DEFAULT_CONFIG.conversation, turn_detector: 'tables', noise_reduction: true },
    });
    const hosted = joined(t, {
      ...{
        answer: inTurn(transferTo('shop')),
        agents: { shop: next },
        hears: ['Tea please.', 'What kinds?'],
      },
      turns: { detector: 'both', model },
    });
    hosted.speak();
    await until('the other agent has spoken', () => hosted.items.length === 5);
    hosted.speak();
    await until('it has answered', () => hosted.turnsOver.length === 3);
    t.equal(asked, 1, 'the second agent asks no model');
    t.strictSame([hosted.noiseReduced[0], hosted.noiseReduced.at(-1)], [false, true]);
    t.same(
      hosted.turnsOver.map(({ endOfTurn }) => endOfTurn?.detector),
      ['both', undefined, 'tables'],
    );
  },
);

t.test(
  'a hand-over to an agent that is gone, archived or unknown fails, and the call continues',
  async (t) => {
    const agents = { gone: undefined, old: published('old', {}, 'archived') };
    for (const id of ['gone', 'old', 'nobody']) {
      const hosted = joined(t, { answer: inTurn(transferTo(id), saying('I cannot.')), agents });
      await hosted.type('Tea please', 5);
      exactly(t, hosted.items[2], { status: 'failed', error: /no calls any more|no such agent/ }, id);
      t.equal(hosted.messages.at(-1), 'assistant: I cannot.');
      t.same(hosted.voices, ['default']);
    }
  },
);

t.test('of two hand-overs in one step the first one counts', async (t) => {
  const answer: Answer = async function* () {
    const calls = ['shop', 'office'].map((id) => ({
      ...{ id, name: 'transfer_to_agent' },
      arguments: JSON.stringify({ agent_id: id, note: '' }),
    }));
    yield { kind: 'calls', calls };
  };
  const agents = {
    shop: published('shop', {
      voice: { voice_id: 'v1', speaking_language: 'en', languages: null, expressive: false },
    }),
    office: published('office', {
      voice: { voice_id: 'v2', speaking_language: 'en', languages: null, expressive: false },
    }),
  };
  const hosted = joined(t, { answer: inTurn(answer, saying('Here is the shop.')), agents });
  await hosted.type('Tea please', 6);
  t.same(hosted.voices, ['default', 'v1']);
  exactly(
    t,
    hosted.items.filter(({ type }) => type === 'tool_result'),
    [{ status: 'completed' }, { status: 'failed', error: /handed over already/ }],
  );
  t.equal(hosted.sent.filter(({ type }) => type === 'agent.changed').length, 1);
});

t.test('the note of a hand-over is cut at 4,000 characters', async (t) => {
  const shop = { agentId: 'shop', name: 'Shop', description: '', versionNumber: 1 };
  const tool = transferTool([shop] as never, () => Promise.resolve(undefined));
  const noted = async (length: number): Promise<number> => {
    const args = JSON.stringify({ agent_id: 'shop', note: 'x'.repeat(length) });
    const { output } = await tool.run(args, standIn({ signal: new AbortController().signal }));
    return (JSON.parse(output) as { note: string }).note.length;
  };
  t.equal(await noted(4000), 4000);
  t.equal(await noted(4001), 4000);
});

t.test('a call is handed over only so often', async (t) => {
  const { transfers: most } = LIMITS.session;
  const tools = {
    ...DEFAULT_CONFIG.tools,
    transfer_agents: [
      { agent_id: 'a', description: '' },
      { agent_id: 'b', description: '' },
    ],
  };
  let asked = 0;
  const answer: Answer = (request, signal) =>
    (asked++ > most ? saying('I stay.') : transferTo(asked % 2 === 0 ? 'a' : 'b'))(request, signal);
  const agents = { a: published('a', { tools }), b: published('b', { tools }) };
  const hosted = joined(t, { answer, agents });
  hosted.client({ type: 'user.message', text: 'Go' });
  await until('it stays', () => hosted.messages.at(-1) === 'assistant: I stay.');
  t.equal(hosted.sent.filter(({ type }) => type === 'agent.changed').length, most);
  const failed = hosted.items.filter((item) => item.type === 'tool_result' && item.status === 'failed');
  exactly(t, failed, [{ error: /too often/ }]);
});

t.test('an agent presses only keys that a telephone has, and not too many at once', async (t) => {
  const pressed: string[] = [];
  const { run } = sendDigitsTool((keys) => Promise.resolve(void pressed.push(keys)));
  const use = { callId: 'a', signal: new AbortController().signal, begin: () => Promise.resolve(true) };
  const most = '9'.repeat(LIMITS.phone.sentKeys);
  for (const digits of ['1', '0123456789*#w', most])
    exactly(t, await run(JSON.stringify({ digits }), use), { ok: true }, digits);
  t.same(pressed, ['1', '0123456789*#w', most]);
  for (const args of [
    '',
    '{}',
    '[]',
    '{"digits":1}',
    ...['', 'a', '1 2', 'W', 'A', `${most}9`].map((digits) => JSON.stringify({ digits })),
  ])
    exactly(t, await run(args, use), { ok: false, output: /^digits must be 1 to 32 of/ }, args);
  t.equal(pressed.length, 3);
});

t.test(
  'a call is transferred to those whom the configuration names, and not before the caller was told',
  async (t) => {
    const order: string[] = [];
    const destination = (label: string, phone_number: string, mode: 'cold' | 'warm' = 'cold') =>
      ({ type: 'phone', label, phone_number, mode, warm_connect: 'confirm' }) as const;
    const briefing = { text: 'Ada wants tea.', asks: true, language: 'en', voiceId: '' } as const;
    const abort = new AbortController();
    const { parameters, run } = transferCallTool(
      [
        destination('Sales', '+491'),
        destination('Desk', '+492'),
        destination('Desk', '+493'),
        destination('', '+494', 'warm'),
      ],
      {
        modes: ['cold', 'warm'],
        begin({ to, mode, briefing: told, toolCallId }) {
          order.push(to);
          t.same([told, toolCallId], [mode === 'warm' ? briefing : null, 'a']);
          return Promise.resolve(to === '+494' ? 'It is engaged' : undefined);
        },
      },
      {
        heard: () => Promise.resolve(void order.push('heard')),
        briefing: () => Promise.resolve(briefing),
        hold() {
          order.push('hold');
          return () => void order.push('on');
        },
      },
    );
    exactly(t, parameters, { properties: { destination: { enum: ['Sales', '+492', '+493', '+494'] } } });
    const { signal } = abort;
    const use = { callId: 'a', signal, begin: () => Promise.resolve(!signal.aborted) };
    const to = (destination: unknown) => run(JSON.stringify({ destination }), use);
    exactly(t, await to('Sales'), { ok: true, handsOver: true });
    exactly(t, await to('+493'), { ok: true });
    t.strictSame(await to('+494'), { ok: false, output: 'It is engaged' });
    t.strictSame(
      order.splice(0),
      ['+491', '+493', '+494'].flatMap((to) => ['heard', 'hold', to, 'on']),
    );
    for (const wrong of ['Desk', '+490', '', null, 7, ['Sales', 'x'], { toString: 1 }])
      exactly(t, await to(wrong), { ok: false, output: 'There is no such destination' });
    exactly(t, await run('no JSON', use), { ok: false });
    abort.abort();
    exactly(t, await to('Sales'), { ok: false, output: /before they had heard/ });
    t.strictSame(order, ['heard'], 'nobody is connected who has not heard of it');
  },
);

t.test('the same transfer twice in one step is one, and the caller stays on hold for it', async (t) => {
  let decide = (_why: string): void => undefined;
  let asked = 0;
  const transfer: PhoneTransfer = {
    modes: ['cold'],
    begin: () =>
      asked++ === 0 ? new Promise((resolve) => (decide = resolve)) : Promise.resolve('It is under way'),
  };
  const answer: Answer = async function* () {
    const calls = ['a', 'b'].map((id) => ({
      id,
      name: 'transfer_call',
      arguments: '{"destination":"Desk"}',
    }));
    yield { kind: 'calls', calls };
  };
  const hosted = joined(t, {
    ...{ answer: inTurn(answer, saying('Nobody is there.')), transfer },
    hears: ['Are you talking to me?'],
  });
  await hosted.type('Put me through', 3);
  t.equal(asked, 1);
  hosted.speak();
  hosted.client({ type: 'user.message', text: 'Hello?' });
  await nextTurn();
  decide('Nobody answered');
  await until('the agent is back', () => hosted.messages.at(-1) === 'assistant: Nobody is there.');
  t.notOk(hosted.items.some((item) => item.type === 'message' && /Hello|talking/.test(item.content)));
  t.same(hosted.heardSamples, []);
});

t.test(
  'a caller who begins to speak on hold, and continues when it ends, is heard from then on',
  async (t) => {
    let decide = (_why: string): void => undefined;
    const transfer: PhoneTransfer = {
      modes: ['cold'],
      begin: () => new Promise((resolve) => (decide = resolve)),
    };
    const answer: Answer = async function* () {
      yield {
        kind: 'calls',
        calls: [{ id: 'a', name: 'transfer_call', arguments: '{"destination":"Desk"}' }],
      };
    };
    const hosted = joined(t, {
      ...{ answer: inTurn(answer, saying('Nobody is there.'), saying('Yes, I am.')), transfer },
      hears: ['Are you there?'],
    });
    await hosted.type('Put me through', 2);
    hosted.happen({ kind: 'speech', active: true });
    hosted.happen({ kind: 'audio', samples: new Int16Array(4000) });
    await nextTurn();
    decide('Nobody answered');
    await until('the result is in the record', () => hosted.messages.includes('tool_result'));
    hosted.happen({ kind: 'audio', samples: new Int16Array(8000) });
    hosted.happen({ kind: 'speech', active: false });
    await until('it is answered', () => hosted.messages.at(-1) === 'assistant: Yes, I am.');
    t.ok(hosted.messages.includes('user: Are you there?'));
    t.same(hosted.heardSamples, [8000], 'what was said on hold is for nobody');
  },
);

t.test('the tool for keys is offered on phone calls only', async (t) => {
  const offered = async (press?: () => Promise<void>) => {
    const requests: ChatRequest[] = [];
    const answer: Answer = (request, signal) => {
      requests.push(request);
      return saying('Yes.')(request, signal);
    };
    await joined(t, { answer, ...(press && { press }) }).type('Hello?', 2);
    return requests[0]?.tools?.some(({ name }) => name === 'send_digits');
  };
  t.equal(await offered(), false);
  t.equal(await offered(() => Promise.resolve()), true);
});
