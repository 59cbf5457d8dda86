/** What of a model's answer is speech, and which calls it has written as text (engines/chat/protocol). */
import type { Test } from 'tap';
import t from '../../../../fixtures/tap.js';
import type { ChatMessage, ChatTool } from '../../../../../contracts/ports/chat.js';
import { SpeechOnly } from '../../../../../engines/chat/protocol/speech-only.js';
import { offeredName } from '../../../../../engines/chat/protocol/tool-names.js';
import { system, user } from '../../../../fixtures/chat/requests.js';

const WEATHER: ChatTool = {
  name: 'weather',
  description: '',
  parameters: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'string' } } },
};
const CLOCK: ChatTool = { name: 'clock', description: '', parameters: { type: 'object' } };

interface Heard {
  readonly said: string;
  readonly calls: readonly (readonly [string, unknown])[];
}

/** The answer in pieces of that length. */
function heard(answer: string, size: number, messages: readonly ChatMessage[] = [user('Hello.')]): Heard {
  const speech = new SpeechOnly({ messages, passages: [], tools: [WEATHER, CLOCK] });
  let said = '';
  for (let at = 0; at < answer.length; at += size) said += speech.take(answer.slice(at, at + size));
  said += speech.rest();
  const calls = speech.calls.map(({ name, arguments: args }) => [name, JSON.parse(args) as unknown] as const);
  return { said: said.trim(), calls };
}

const SIZES = [1, 2, 3, 7, 16, 1000];

function same(
  t: Test,
  answer: string,
  said: string,
  calls: Heard['calls'],
  messages?: readonly ChatMessage[],
): void {
  for (const size of SIZES)
    t.strictSame(
      heard(answer, size, messages),
      { said, calls },
      `${JSON.stringify(answer).slice(0, 80)} by ${size}`,
    );
}

const BONN = [['weather', { city: 'Bonn' }]] as const;

const CALLS: Readonly<Record<string, string>> = {
  Hermes: '<tool_call>\n{"name": "weather", "arguments": {"city": "Bonn"}}\n</tool_call>',
  'Hermes in a fence':
    '<tool_call>\n```json\n{"name": "weather", "arguments": {"city": "Bonn"}}\n```\n</tool_call>',
  'Hermes without its end': '<tool_call>{"name": "weather", "arguments": {"city": "Bonn"}}',
  'Qwen Coder':
    '<tool_call>\n<function=weather>\n<parameter=city>\nBonn\n</parameter>\n</function>\n</tool_call>',
  'Llama function': '<function=weather>{"city": "Bonn"}</function>',
  'Llama JSON': '{"name": "weather", "parameters": {"city": "Bonn"}}',
  'Llama python tag, JSON': '<|python_tag|>{"name": "weather", "parameters": {"city": "Bonn"}}<|eom_id|>',
  'Llama python tag, Python': '<|python_tag|>weather.call(city="Bonn")<|eom_id|>',
  'Llama 4': '[weather(city="Bonn")]',
  Mistral: '[TOOL_CALLS][{"name": "weather", "arguments": {"city": "Bonn"}}]</s>',
  'Mistral, newer': '[TOOL_CALLS]weather[ARGS]{"city": "Bonn"}',
  'Mistral with an id': '[TOOL_CALLS]weather[CALL_ID]abc123456[ARGS]{"city": "Bonn"}',
  'DeepSeek V3':
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n{"city": "Bonn"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>',
  'DeepSeek V3.1':
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>{"city": "Bonn"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  Kimi: '<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>{"city": "Bonn"}<|tool_call_end|><|tool_calls_section_end|>',
  GLM: '<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Bonn</arg_value>\n</tool_call>',
  MiniMax:
    '<minimax:tool_call>\n<invoke name="weather">\n<parameter name="city">Bonn</parameter>\n</invoke>\n</minimax:tool_call>',
  'Gemma fence': '```tool_code\nweather(city="Bonn")\n```',
  'Gemma print': '```tool_code\nprint(weather(city="Bonn"))\n```',
  FunctionGemma: '<start_function_call>call:weather{city:<escape>Bonn<escape>}<end_function_call>',
  'JSON fence': '```json\n{"name": "weather", "arguments": {"city": "Bonn"}}\n```',
  'JSON list': '[{"name": "weather", "arguments": {"city": "Bonn"}}]',
  'arguments as text': '{"name": "weather", "arguments": "{\\"city\\": \\"Bonn\\"}"}',
  'as OpenAI tells it':
    '{"type": "function", "function": {"name": "weather", "arguments": {"city": "Bonn"}}}',
  Granite: '<|tool_call|>[{"name": "weather", "arguments": {"city": "Bonn"}}]',
  Harmony: '<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{"city": "Bonn"}<|call|>',
  'Harmony with a role':
    '<|channel|>analysis<|message|>The user wants the weather.<|end|><|start|>assistant<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{"city": "Bonn"}<|call|>',
};

t.test('a call that is written as text runs, and nobody hears it', async (t) => {
  for (const text of Object.values(CALLS)) same(t, text, '', BONN);
});

t.test('what the model says before such a call is heard', async (t) => {
  for (const text of Object.values(CALLS)) same(t, `Let me look.\n${text}\n`, 'Let me look.', BONN);
});

t.test('two calls in a row both run', async (t) => {
  const call = '<tool_call>{"name": "clock", "arguments": {}}</tool_call>';
  same(t, `${CALLS['Hermes']}\n${call}`, '', [...BONN, ['clock', {}]]);
  same(t, '[weather(city="Bonn"), clock()]', '', [...BONN, ['clock', {}]]);
});

t.test('a call within prose or quotation marks is text', async (t) => {
  for (const text of [
    `He wrote <tool_call>{"name": "clock", "arguments": {}}</tool_call> into the chat.`,
    `You said "<tool_call>{"name": "clock"}</tool_call>", which is odd.`,
    'It is called like `<tool_call>{"name": "clock"}</tool_call>` as a rule.',
    '<tool_call>{"name": "clock", "arguments": {}}</tool_call> is what you wrote.',
    'An example:\n```json\n{"name": "clock", "arguments": {}}\n```\nShall I do that?',
    '{"name": "clock", "arguments": {}} is what the page says.',
  ])
    for (const size of SIZES) {
      const { said, calls } = heard(text, size);
      t.strictSame(calls, [], text);
      t.match(said, /clock/);
    }
});

t.test('a call in the words of a user, a tool or a source that the model repeats does not run', async (t) => {
  const written = '<tool_call>{"name": "clock", "arguments": {"now": 1}}</tool_call>';
  const python = '[weather(city="Bonn")]';
  for (const messages of [
    [user(`Please say: ${written}`)],
    [user('x'), { role: 'tool', callId: 'a', content: `{"page":"${written}"}` } as const],
  ])
    same(t, `Here it is.\n${written}`, 'Here it is.', [], messages);
  same(t, python, '', [], [user(`Repeat ${python}`)]);
  same(
    t,
    written,
    '',
    [['clock', { now: 1 }]],
    [system(`You may write ${written}`), user('What time is it?')],
  );
});

t.test('tools that were not offered are not called', async (t) => {
  same(t, 'One moment.\n<tool_call>{"name": "delete_all", "arguments": {}}</tool_call>', 'One moment.', []);
  same(t, '{"name": "Ada", "arguments": {}}', '{"name": "Ada", "arguments": {}}', []);
});

t.test('thoughts, channels and control tokens are silent anywhere', async (t) => {
  const rows: readonly (readonly [string, string])[] = [
    ['<think>Hm.</think>Yes.', 'Yes.'],
    ['Yes. <think>Is it?</think>It is.', 'Yes. It is.'],
    ['<thinking>a\n\nb</thinking>\n\nWell.', 'Well.'],
    ['<reasoning>a</reasoning>Well.', 'Well.'],
    ['[THINK]a[/THINK]Well.', 'Well.'],
    ['Sure.<think>and now it breaks off', 'Sure.'],
    [
      '<|channel|>analysis<|message|>Think.<|end|><|start|>assistant<|channel|>final<|message|>Hello.<|return|>',
      'Hello.',
    ],
    ['Hello.<|im_end|>', 'Hello.'],
    ['Hello.</s>', 'Hello.'],
    ['Hello.<end_of_turn>', 'Hello.'],
    ['Hello.<｜end▁of▁sentence｜>', 'Hello.'],
    ['<|im_start|>assistant\nHello.<|im_end|>\n<|im_start|>user\nAnd you?', 'Hello.'],
    ['<|start_header_id|>assistant<|end_header_id|>\n\nHello.<|eot_id|>', 'Hello.'],
    ['<start_of_turn>model\nHello.', 'Hello.'],
    ['Assistant: Hello.\nUser: And you?\nAssistant: Fine.', 'Hello.'],
    ['Hello.\n<tool_response>{"made": "up"}</tool_response>\nSo it is.', 'Hello.\n\nSo it is.'],
  ];
  for (const [text, said] of rows) same(t, text, said, []);
});

t.test('ordinary text passes, whatever it contains', async (t) => {
  for (const text of [
    'It is 3 < 5 and 7 > 2.',
    'Use the door. Users: three. I said: yes.',
    'Use it.\nUsually it works.\nAgents are many.',
    '[laughs] Well, [sic] that is it.',
    'A <b>bold</b> word, and an arrow <-.',
    'Take {this} or `that`.',
    '```\nnot a call\n```',
    '{"answer": "yes"}',
    'A list: [1, 2, 3].',
    'Ende.\n\n\nNeu.',
    '<',
    'a [',
    '「はい」、<3 です。',
  ])
    same(t, text, text.trim(), []);
});

t.test('text without marks passes at once', async (t) => {
  const speech = new SpeechOnly({ messages: [], passages: [], tools: [] });
  t.equal(speech.take('Well, '), 'Well, ');
  t.equal(speech.take('that is'), 'that is');
  t.equal(speech.take(' it.'), ' it.');
});

t.test('values are written as the tool’s schema wants them', async (t) => {
  same(t, '[weather(city="Bonn", days=2)]', '', [['weather', { city: 'Bonn', days: '2' }]]);
  const call = '<function=clock><parameter=zone>5</parameter><parameter=on>true</parameter></function>';
  same(t, call, '', [['clock', { zone: 5, on: true }]]);
});

t.test('names of tools are brought back to those that were offered', async (t) => {
  const offered = ['weather', 'book_table', 'send-mail'];
  for (const [written, name] of [
    ['weather', 'weather'],
    ['functions.weather', 'weather'],
    ['weather<|channel|>commentary', 'weather'],
    ['functions.weather:0', 'weather'],
    ['Book_Table', 'book_table'],
    ['send_mail', 'send-mail'],
    ['default_api.weather()', 'weather'],
    ['whether', undefined],
    ['', undefined],
  ] as const)
    t.equal(offeredName(written, offered), name, written);
});

t.test('a long answer is read in one pass', async (t) => {
  const before = process.cpuUsage().user;
  for (const text of ['<think>', '{"name": "weather", "arguments": {"city": "', '<tool_call>', '```json\n']) {
    const speech = new SpeechOnly({ messages: [], passages: [], tools: [WEATHER] });
    speech.take(text);
    for (let piece = 0; piece < 30_000; piece += 1) speech.take('abc');
    speech.rest();
  }
  t.ok(process.cpuUsage().user - before < 10_000_000);
});
