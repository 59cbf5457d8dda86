/**
 * The parts of a conversation, without its call: words that were heard, requests to the model, messages of clients and
 * arguments of tools (gateway/conversations).
 */
import t from 'tap';
import type { SpokenPiece } from '../../contracts/ports/speech/speech.js';
import type { SessionItem } from '../../contracts/ports/sessions/sessions.js';
import type { ToolDefinition } from '../../contracts/schemas/tools.js';
import { checkArguments, parametersOf } from '../../gateway/conversations/tools/arguments.js';
import { TokenBucket } from '../../contracts/limits/token-bucket.js';
import { AGENT_EVENTS, encodeEvent, readClientEvent } from '../../gateway/conversations/client/events.js';
import { LANGUAGES } from '../../contracts/speech/languages.js';
import { DEFAULT_CONFIG } from '../../contracts/schemas/agent-config.js';
import { Dialogue } from '../../gateway/conversations/dialogue.js';
import { HeardText } from '../../gateway/conversations/heard-text.js';
import { fillerOf } from '../../gateway/conversations/settings.js';

const piece = (text: string, more: Partial<SpokenPiece>): SpokenPiece => ({
  ...{ index: 0, text, at: 0, offset: 0, duration: 1, complete: true, words: undefined },
  ...more,
});

t.test('a word counts as heard when half of it was played', async (t) => {
  const heard = new HeardText();
  const text = 'One two, three.';
  const words = [
    { text: 'One', start: 0, end: 0.4 },
    { text: 'two,', start: 0.4, end: 0.8 },
    { text: 'three.', start: 0.8, end: 1.2 },
  ];
  heard.note(piece(text, { duration: 1.2, words }));
  const at = (ms: number): string => text.slice(0, heard.at(ms));
  t.same([at(0), at(100), at(300), at(700), at(1200)], ['', '', 'One', 'One two,', text]);
  t.equal(at(1185), text, 'what is over by less than a frame is over');
});

t.test('heard words are counted piece after piece, and by their share without word times', async (t) => {
  const heard = new HeardText();
  const first = 'Four words of text. ';
  const second = 'And more of it.';
  heard.note(piece(first, { duration: 2 }));
  heard.note(piece(second, { index: 1, at: first.length, offset: 2, duration: 1 }));
  const at = (ms: number): string => (first + second).slice(0, heard.at(ms));
  t.equal(at(1000), 'Four ', 'whole words only');
  t.equal(at(2000), first);
  t.equal(at(2600), `${first}And more `);
});

t.test('of a piece that is still synthesised no word counts before it is played', async (t) => {
  const text = 'A long answer, of which a voice has made three seconds and played one so far.';
  const heard = new HeardText();
  const at = (ms: number): string => text.slice(0, heard.at(ms));
  heard.note(piece(text, { duration: 3, complete: false }));
  t.equal(at(1000), 'A long ');
  t.equal(at(3000), 'A long answer, of which a voice has ', 'nor all that is made so far');
  heard.note(piece(text, { duration: 5.5 }));
  t.equal(at(3000), 'A long answer, of which a voice has made ', 'its length is known by now');
});

t.test(
  'of a piece whose voice failed no more counts than was played; another voice may say it again',
  async (t) => {
    const text = 'A long answer, of which a voice has made three seconds before it failed.';
    const heard = new HeardText();
    const at = (ms: number): string => text.slice(0, heard.at(ms));
    heard.note(piece(text, { duration: 2, complete: false }));
    const broken = at(2000);
    t.ok(broken !== '' && broken.length < text.length, broken);
    t.equal(at(6000), broken, 'nor later');
    heard.note(piece(text, { index: 1, offset: 2, duration: 5 }));
    t.equal(at(2100), broken, 'nothing is taken back');
    t.equal(at(7000), text);
  },
);

t.test('in languages without blanks heard words are counted by their share', async (t) => {
  for (const [text, until] of [
    ['您的桌子订好了，星期二九点，我们期待您的光临。', '您的桌子订好了，'],
    ['ご予約は火曜日の九時です。お待ちしております。', 'ご予約は火曜日の'],
  ] as const) {
    const heard = new HeardText();
    heard.note(piece(text, { duration: 4 }));
    t.ok(text.slice(0, heard.at(2000)).startsWith(until), text);
    t.ok(heard.at(2000) <= text.length / 2);
  }
});

t.test('in the dialogue every tool call is followed by its result, whatever came between', async (t) => {
  const kept: SessionItem[] = [];
  const dialogue = new Dialogue(
    () => new Date(0),
    (item) => kept.push(item),
  );
  const outcome = {
    ...{ callId: 'call_1', toolName: 'Weather', toolSource: 'webhook', status: 'completed' as const },
    ...{ output: 'sun', outputTruncated: false, error: null, latencyMs: 1 },
  };
  dialogue.user('Weather?');
  const calls = dialogue.calls(
    [
      { id: 'a', name: 'Weather', arguments: '{}' },
      { id: 'b', name: 'Weather', arguments: '{}' },
    ],
    'Let me see.',
  );
  dialogue.closeTurn();
  dialogue.called('call_1', 'Weather', 'webhook', '{}');
  dialogue.user('Never mind');
  dialogue.closeTurn();
  t.same(
    dialogue.messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'tool', 'user'],
  );
  dialogue.outcome(outcome);
  dialogue.told('sun', 'b');
  t.equal(dialogue.messages[1]?.content, 'Let me see.', 'the model knows what it has just said');
  t.match(dialogue.messages.slice(2, 4), [
    { callId: 'a', content: /broken off/ },
    { callId: 'b', content: 'sun' },
  ]);
  dialogue.agent([
    { text: 'Let me', at: new Date(0), calls },
    { text: '', at: new Date(0), calls: undefined },
  ]);
  t.equal(dialogue.messages[1]?.content, 'Let me', 'and in the end what was heard of it');
  t.same(
    kept.map(({ type, turnId }) => [type, turnId]),
    [
      ['message', 1],
      ['tool_call', 1],
      ['message', 2],
      ['tool_result', 2],
      ['message', 2],
    ],
    'in the order in which it happened, and nothing that was not heard',
  );
});

t.test('a filler is in the dialogue, marked, and is no answer of the model', async (t) => {
  const kept: SessionItem[] = [];
  const dialogue = new Dialogue(
    () => new Date(0),
    (item) => kept.push(item),
  );
  const at = new Date(0);
  dialogue.user('Weather?');
  const calls = dialogue.calls([{ id: 'a', name: 'Weather', arguments: '{}' }], '');
  dialogue.closeTurn();
  dialogue.agent([
    { text: '', at, calls },
    { text: 'One moment, please. ', at, calls: undefined, filler: true },
    { text: 'It is sunny.', at, calls: undefined },
  ]);
  t.notMatch(JSON.stringify(dialogue.messages), 'One moment');
  t.same(
    kept.map((item) => item.type === 'message' && [item.content, item.filler]),
    [
      ['Weather?', undefined],
      ['One moment, please.', true],
      ['It is sunny.', undefined],
    ],
  );
});

t.test(
  'the dialogue: a turn that is taken up again is one message, behind what was heard meanwhile',
  async (t) => {
    const kept: SessionItem[] = [];
    let now = 0;
    const dialogue = new Dialogue(
      () => new Date(now),
      (item) => kept.push(item),
    );
    dialogue.user('A table.');
    t.same(kept, [], 'not kept before it stays as it is');
    now = 500;
    dialogue.agent([{ text: 'For how', at: new Date(400), calls: undefined }]);
    dialogue.user('A table. For four.');
    t.same(dialogue.messages, [
      { role: 'assistant', content: 'For how' },
      { role: 'user', content: 'A table. For four.' },
    ]);
    dialogue.closeTurn();
    dialogue.closeTurn();
    t.match(kept, [
      { role: 'assistant', turnId: 1 },
      { role: 'user', content: 'A table. For four.', turnId: 1, createdAt: new Date(0) },
    ]);
    t.equal(kept.length, 2);
    dialogue.user('And a taxi.');
    dialogue.userApart('okay', new Date(600), true);
    t.match(kept.slice(2), [
      { content: 'And a taxi.', turnId: 2 },
      { content: 'okay', turnId: 3, backchannel: true, createdAt: new Date(600) },
    ]);
    t.notOk('backchannel' in (kept[2] ?? {}));
  },
);

t.test('a token bucket allows a burst, and then so many a second', async (t) => {
  let now = 86_400_000;
  const bucket = new TokenBucket({ burst: 3, perSecond: 2 }, () => now);
  const taken = (times: number): number =>
    Array.from({ length: times }, () => bucket.take()).filter(Boolean).length;
  t.equal(taken(10), 3);
  now += 1000;
  t.equal(taken(10), 2);
  now += 499;
  t.equal(taken(1), 0, 'nothing before a whole one is back');
  now += 1;
  t.equal(taken(10), 1);
  now += 60_000;
  t.equal(taken(10), 3, 'never more than a burst');
});

const read = (event: unknown) => readClientEvent(encodeEvent(event as object));

/** Types that resemble the name of an event, but are none. */
const WRONG_TYPES = [
  ...['user.message', 'user.activity', 'user.interrupt', 'user.hangup', 'client_tool.result'].flatMap(
    (type) => [[type], [[type]], [type, 1], { type }, { toString: type }],
  ),
  ...[null, true, 0, '', [], {}, 'toString', '__proto__', 'hasOwnProperty'],
];

t.test("the client's events of the contract are read, and everything else is ignored", async (t) => {
  t.same(read({ type: 'user.message', text: 'Hi', audio: false }), {
    type: 'user.message',
    text: 'Hi',
    aloud: false,
  });
  t.match(read({ type: 'user.message', text: 'Hi' }), { aloud: true });
  for (const type of ['user.activity', 'user.interrupt', 'user.hangup'])
    t.same(read({ type, extra: 1 }), { type });
  t.match(read({ type: 'client_tool.result', callId: 'c', result: [1] }), { isError: false, result: [1] });
  const none = [
    { type: 'user.message' },
    { type: 'user.message', text: 7 },
    { type: 'user.message', text: '  ' },
    { type: 'client_tool.result' },
    { type: 'constructor' },
    ...WRONG_TYPES.map((type) => ({ type, text: 'Hi', callId: 'c' })),
    { type: 'user.message', text: ['Hi'] },
    { type: 'user.message', text: { toString: 'Hi' } },
    { type: 'client_tool.result', callId: ['c'] },
    { type: 'client_tool.result', callId: 7 },
    { type: 'user.interrupt\0' },
    { type: ' user.interrupt' },
    { type: 'USER.INTERRUPT' },
    [{ type: 'user.interrupt' }],
    [],
    null,
    7,
    {},
  ];
  for (const event of none) t.equal(read(event), undefined, JSON.stringify(event));
  t.equal(readClientEvent(Buffer.from('{')), undefined);
  t.equal(readClientEvent(Buffer.alloc(70_000, 0x20)), undefined, 'too long');
});

t.test("long tool results are cut in the agent's events, which say so", async (t) => {
  const note = { callId: 'c', toolName: 'T', toolSource: 'webhook' };
  const long = 'x'.repeat(5000);
  t.match(AGENT_EVENTS.toolStarted(note, long), { inputTruncated: true });
  t.equal((AGENT_EVENTS.toolStarted(note, long) as { input?: string }).input?.length, 4096);
  t.notOk('outputTruncated' in AGENT_EVENTS.toolCompleted(note, 'short'));
  t.equal(AGENT_EVENTS.toolFailed(note, long).error.length, 4096);
  t.equal(AGENT_EVENTS.ended('gone').reason, 'user_hangup');
});

const tool = (names: readonly string[]) =>
  ({ arguments: names.map((name) => ({ name, description: `the ${name}` })) }) as unknown as ToolDefinition;

t.test('tool arguments are exactly those that are declared, and of bounded length', async (t) => {
  t.same(checkArguments('{"city":"Rome","extra":1}', tool(['city'])), { values: { city: 'Rome' } });
  t.same(checkArguments('', tool([])), { values: {} });
  t.match(checkArguments('{"city":null}', tool(['city', 'day'])), { problem: 'Missing: city, day' });
  for (const bad of ['[]', '"a"', '{', 'null'])
    t.match(checkArguments(bad, tool([])), { problem: /JSON object/ });
  t.match(checkArguments(`{"city":"${'x'.repeat(70_000)}"}`, tool(['city'])), { problem: /too long/ });
  t.match(checkArguments(`{"city":"${'\u4e2d'.repeat(30_000)}"}`, tool(['city'])), { problem: /too long/ });
  t.match(parametersOf(tool(['city'])), {
    properties: { city: { type: 'string', description: 'the city' } },
    required: ['city'],
    additionalProperties: false,
  });
});

t.test("an agent's filler is the owner’s own, one in its language, or none", async (t) => {
  const filler = (tools: Partial<typeof DEFAULT_CONFIG.tools>, language: (typeof LANGUAGES)[number] = 'en') =>
    fillerOf({
      ...DEFAULT_CONFIG,
      tools: { ...DEFAULT_CONFIG.tools, ...tools },
      voice: { ...DEFAULT_CONFIG.voice, speaking_language: language },
    });
  const lines = LANGUAGES.map((language) => filler({}, language));
  t.equal(new Set(lines).size, LANGUAGES.length);
  t.equal(lines.indexOf(''), -1);
  t.equal(filler({ filler_mode: 'off', filler_message: 'Hold on.' }), '');
  t.equal(filler({ filler_mode: 'fixed', filler_message: ' Hold on. ' }), 'Hold on.');
  t.equal(filler({ filler_mode: 'fixed' }), '', 'no words are no filler');
});
