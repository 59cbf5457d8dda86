/** The analysis of a conversation: which parts of a language model's answer are accepted, and which are ignored. */
import t from '../../../../fixtures/tap.js';
import type { ChatModel } from '../../../../../contracts/ports/chat.js';
import type {
  AnalysedSession,
  SessionItem,
  SessionPlan,
  SessionRecord,
} from '../../../../../contracts/ports/sessions/sessions.js';
import { type AgentConfig, DEFAULT_CONFIG } from '../../../../../contracts/schemas/agent-config.js';
import { analysisIn, messagesOf, reasonToSkip } from '../../../../../gateway/agents/deliveries/analysis.js';
import { exactly } from '../../../../fixtures/exactly.js';
import { standIn } from '../../../../fixtures/stand-in.js';

type Wanted = AgentConfig['analysis'];

const wanted: Wanted = {
  summary: { enabled: true, prompt: null, language: 'de' },
  data_fields: [
    { name: 'order', type: 'text', description: 'Its number', enum_options: null },
    { name: 'count', type: 'number', description: '', enum_options: null },
    { name: 'happy', type: 'boolean', description: '', enum_options: null },
    { name: 'kind', type: 'enum', description: '', enum_options: ['bread', 'cake'] },
  ],
  criteria: [
    { name: 'polite', description: 'The agent was polite' },
    { name: 'solved', description: '' },
  ],
};

const said = (role: 'user' | 'assistant', content: string): SessionItem => ({
  type: 'message',
  role,
  content,
  turnId: 1,
  createdAt: new Date(0),
});

const session = (analysis: Wanted, items: readonly SessionItem[]): AnalysedSession => ({
  record: {} as SessionRecord,
  plan: standIn<SessionPlan>({ config: { ...DEFAULT_CONFIG, analysis } }),
  items,
});

t.test('background and echo are not part of the analysis', async (t) => {
  const asides = [
    { ...said('user', 'the news'), background: true },
    { ...said('user', 'hello there'), echo: true },
  ] as SessionItem[];
  t.equal(reasonToSkip(session(wanted, asides), {} as ChatModel), 'The user said nothing');
  const messages = messagesOf(session(wanted, [...asides, said('user', 'Bread please.')]));
  t.match(messages[1]?.content, /Transcript:\nuser: Bread please\.$/);
});

t.test('an answer is taken field by field', async (t) => {
  const answer = {
    summary: 'Ada fragt nach Brot.',
    data: [
      { name: 'kind', value: 'bread', rationale: 'She said so.' },
      { name: 'order', value: 'A-17', rationale: 'x'.repeat(5000) },
      { name: 'count', value: 2.5 },
      { name: 'happy', value: false, rationale: 7 },
      { name: 'invented', value: 1, rationale: '' },
    ],
    criteria: [
      { name: 'polite', result: 'success', rationale: 'Yes.' },
      { name: 'solved', result: 'perhaps', rationale: '' },
    ],
  };
  const taken = analysisIn(`Here it is:\n\`\`\`json\n${JSON.stringify(answer)}\n\`\`\``, wanted);
  exactly(t, taken, { status: 'completed', summary: 'Ada fragt nach Brot.', error: null });
  t.same(
    taken.data.map(({ name, type, value }) => [name, type, value]),
    [['order', 'text', 'A-17'], ['count', 'number', 2.5], ['happy', 'boolean', false], ['kind', 'enum', 'bread']],
  ); // oxfmt-ignore
  t.equal(taken.data[0]?.rationale.length, 1000);
  t.same(taken.criteriaResults, [
    { name: 'polite', result: 'success', rationale: 'Yes.' },
    { name: 'solved', result: 'unknown', rationale: '' },
  ]);
});

t.test('a value that does not fit its type is null, never guessed', async (t) => {
  const misfits: [string, unknown[]][] = [
    ['order', [null, 7, true, {}, [], 'x'.repeat(4001)]],
    ['count', [null, '7', true, {}, []]],
    ['happy', [null, 'true', 0, {}, []]],
    ['kind', [null, 'Bread', 'bread ', 0, {}, ['bread']]],
  ];
  for (const [name, values] of misfits)
    for (const value of values) {
      const { data } = analysisIn(JSON.stringify({ data: [{ name, value }] }), wanted);
      t.equal(
        data.find((field) => field.name === name)?.value,
        null,
        `${name}: ${JSON.stringify(value).slice(0, 40)}`,
      );
    }
  const { summary, data, criteriaResults } = analysisIn('{}', wanted);
  t.equal(summary, null);
  t.strictSame(new Set(data.map(({ value }) => value)), new Set([null]));
  t.equal(data.length, wanted.data_fields.length);
  t.strictSame(
    criteriaResults.map(({ result }) => result),
    wanted.criteria.map(() => 'unknown'),
  );
  exactly(t, analysisIn('{"data":{"a":1},"criteria":"x","summary":7}', wanted), { summary: null });
  const quiet = { ...wanted, summary: { ...wanted.summary, enabled: false } };
  t.equal(analysisIn('{"summary":"x"}', quiet).summary, null, 'nobody asked');
});

t.test('an answer without an object is none', async (t) => {
  for (const answer of ['', 'I cannot.', '[1]', '{', '}{', '{"summary":', 'null'])
    t.throws(() => analysisIn(answer, wanted), SyntaxError, answer);
});

t.test('without words, questions or a model the analysis is skipped, with the reason', async (t) => {
  const model = standIn<ChatModel>({ chat: () => { throw new Error('nobody asks'); } }); // oxfmt-ignore
  const [silent, unasked] = ['The user said nothing', 'The agent asks for no analysis'];
  const off: Wanted = {
    summary: { enabled: false, prompt: null, language: 'en' },
    data_fields: [],
    criteria: [],
  };
  const cases: [string, Wanted, SessionItem[], string?][] = [
    ['nobody spoke', wanted, [], silent],
    ['only the agent spoke', wanted, [said('assistant', 'Hello?')], silent],
    ['the user spoke', wanted, [said('assistant', 'Hello?'), said('user', 'Hi')]],
    ['all is off', off, [said('user', 'Hi')], unasked],
    ['only a field', { ...off, data_fields: wanted.data_fields }, [said('user', 'Hi')]],
    ['only a criterion', { ...off, criteria: wanted.criteria }, [said('user', 'Hi')]],
  ];
  for (const [what, analysis, items, reason] of cases)
    t.equal(reasonToSkip(session(analysis, items), model), reason, what);
  t.equal(reasonToSkip(session(wanted, [said('user', 'Hi')]), undefined), 'No language model is configured');
});

t.test('the model is given the questions and the end of a long transcript', async (t) => {
  const items = [said('user', `first ${'x'.repeat(70_000)}`), said('assistant', 'the last words')];
  const [system, user] = messagesOf(session(wanted, items));
  exactly(t, system, { role: 'system', content: /never an instruction/ });
  const { content } = user as { content: string };
  t.match(content, /German/);
  t.match(content, /"options":\["bread","cake"\]/);
  t.match(content, /assistant: the last words$/);
  t.notMatch(content, /first/);
  t.ok(content.length < 65_000);
});
