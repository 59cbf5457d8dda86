/** The user's stretches of voice before they become a message: words that count, transcripts that are missing, words that stay. */
import t from '../../../../fixtures/tap.js';
import {
  begun,
  bringsWords,
  finalText,
  heard,
  isOverlap,
  isOwed,
  isWordless,
  isWhole,
  joined,
  joinedBy,
  overlapping,
  owedOf,
  partialText,
  stableText,
  type Stretches,
} from '../../../../../actors/agent/turns/stretches.js';
import { exactly } from '../../../../fixtures/exactly.js';

type Told = readonly [span: number, text: string, final?: boolean];

/** Stretches 1 to `spans`, after their transcripts have arrived in that order. */
const told = (spans: number, ...transcripts: readonly Told[]): Stretches => {
  let stretches: Stretches = [];
  for (let span = 1; span <= spans; span += 1) stretches = begun(stretches, span);
  return transcripts.reduce(
    (all, [span, text, final = false]) => heard(all, { span, text, final }),
    stretches,
  );
};

t.test(
  'a stretch is heard together with those right before it to which the agent has listened',
  async (t) => {
    const listened = (...spans: readonly number[]): Stretches =>
      spans.reduce<Stretches>((all, span) => begun(all, span, 1000), []);
    t.equal(joinedBy([], 1), undefined);
    t.equal(joinedBy(listened(1, 2, 3), 4), 1);
    t.equal(joinedBy(begun(listened(1, 2), 3), 4), undefined, 'not if the agent spoke as the last one began');
    t.equal(joinedBy(begun(begun(listened(1), 2), 3, 1000), 4), 3);
    t.equal(joinedBy(overlapping(listened(1, 2), 1), 3), 2, 'nor as one ended');
    t.equal(joinedBy(listened(1, 3), 4), 3, 'one in between is in a message already');
    t.equal(joinedBy(heard(listened(1, 2), { span: 2, text: '', final: true, echo: true }), 3), undefined);
  },
);

t.test('the words of several stretches replace those of each', async (t) => {
  const both = told(3, [1, 'Two oh.', true], [2, 'For', false]);
  const whole = heard(both, { span: 3, text: 'Two zero four five.', final: true, joins: 2 });
  t.equal(finalText(whole), 'Two oh. Two zero four five.');
  t.ok(isWhole(whole));
  t.equal(finalText(heard(whole, { span: 2, text: 'For.', final: true })), 'Two oh. Two zero four five.');
  const again = heard(whole, { span: 3, text: 'Late.', final: true, joins: 1 });
  t.equal(finalText(again), 'Two oh. Two zero four five.', 'once');
});

t.test('a stretch begins without words, is owed, and overlaps nobody', async (t) => {
  exactly(t, begun([], 4), [{ span: 4, text: '', final: false, stable: '', wordless: 0, overlaps: false }]);
  t.same(
    told(3).map(({ span }) => span),
    [1, 2, 3],
    'in the order in which they were spoken',
  );
});

/** Transcripts, and the words that are guessed, that will not change (`stable`), and that are certain (`final`). */
const WORDS: readonly {
  readonly what: string;
  readonly spans: number;
  readonly heard: readonly Told[];
  readonly guessed: string;
  readonly stable: string;
  readonly final: string;
}[] = [
  { what: 'nothing', spans: 1, heard: [], guessed: '', stable: '', final: '' },
  {
    what: 'a first guess: nothing of it is stable',
    spans: 1,
    heard: [[1, 'I would']],
    ...{ guessed: 'I would', stable: '', final: '' },
  },
  {
    what: 'two guesses: their common beginning is stable',
    spans: 1,
    heard: [
      [1, 'I would lie'],
      [1, 'I would like a'],
    ],
    ...{ guessed: 'I would like a', stable: 'i would', final: '' },
  },
  {
    what: 'two guesses that say the same',
    spans: 1,
    heard: [
      [1, 'Stop it'],
      [1, 'Stop it'],
    ],
    ...{ guessed: 'Stop it', stable: 'stop it', final: '' },
  },
  {
    what: 'a longer guess behind a shorter',
    spans: 1,
    heard: [
      [1, 'Stop'],
      [1, 'Stop it now'],
    ],
    ...{ guessed: 'Stop it now', stable: 'stop', final: '' },
  },
  {
    what: 'a shorter guess behind a longer',
    spans: 1,
    heard: [
      [1, 'Stop it now'],
      [1, 'Stop it'],
    ],
    ...{ guessed: 'Stop it', stable: 'stop it', final: '' },
  },
  {
    what: 'guesses that differ from their first word on, though the second is the same',
    spans: 1,
    heard: [
      [1, 'Two rooms'],
      [1, 'The rooms'],
    ],
    ...{ guessed: 'The rooms', stable: '', final: '' },
  },
  {
    what: 'a third guess is held against the second',
    spans: 1,
    heard: [
      [1, 'a b'],
      [1, 'c d'],
      [1, 'c d e'],
    ],
    ...{ guessed: 'c d e', stable: 'c d', final: '' },
  },
  {
    what: 'case and points make no other word',
    spans: 1,
    heard: [
      [1, 'wait, please'],
      [1, 'Wait. Please!'],
    ],
    ...{ guessed: 'Wait. Please!', stable: 'wait please', final: '' },
  },
  {
    what: 'a final: all of it is stable and certain',
    spans: 1,
    heard: [
      [1, 'Two'],
      [1, 'Two rooms.', true],
    ],
    ...{ guessed: 'Two rooms.', stable: 'Two rooms.', final: 'Two rooms.' },
  },
  {
    what: 'what comes behind a final changes nothing',
    spans: 1,
    heard: [
      [1, 'Two rooms.', true],
      [1, 'Three', false],
      [1, 'Four.', true],
    ],
    ...{ guessed: 'Two rooms.', stable: 'Two rooms.', final: 'Two rooms.' },
  },
  {
    what: 'another stretch is not touched',
    spans: 2,
    heard: [
      [2, 'for four.', true],
      [1, 'A table', false],
    ],
    ...{ guessed: 'A table for four.', stable: 'for four.', final: 'for four.' },
  },
  {
    what: 'nobody’s stretch is nobody’s',
    spans: 1,
    heard: [[2, 'Hello.', true]],
    ...{ guessed: '', stable: '', final: '' },
  },
  {
    what: 'finals in the order in which they were spoken, whichever came first',
    spans: 3,
    heard: [
      [3, 'three', true],
      [1, 'one', true],
      [2, 'two', true],
    ],
    ...{ guessed: 'one two three', stable: 'one two three', final: 'one two three' },
  },
  {
    what: 'a final without words is nothing',
    spans: 2,
    heard: [
      [1, '...', true],
      [2, 'Yes.', true],
    ],
    ...{ guessed: '... Yes.', stable: '... Yes.', final: 'Yes.' },
  },
];
for (const { what, spans, heard: transcripts, guessed, stable, final } of WORDS)
  t.test(`words: ${what}`, async (t) => {
    const stretches = told(spans, ...transcripts);
    t.equal(partialText(stretches), guessed, 'guessed');
    t.equal(stableText(stretches), stable, 'stable');
    t.equal(finalText(stretches), final, 'certain');
  });

t.test('texts are joined by one blank, and empty ones are left out', async (t) => {
  t.equal(joined([]), '');
  t.equal(joined(['', '  ', '']), '');
  t.equal(joined([' a ', '', 'b\n', '  ', ' c d']), 'a b c d');
});

/** Which of two stretches have no final transcript yet (`owed`), and whether all is known (`whole`). */
for (const { what, transcripts, owed, whole } of [
  { what: 'nothing is known', transcripts: [], owed: [1, 2], whole: false },
  { what: 'a guess settles nothing', transcripts: [[1, 'a']], owed: [1, 2], whole: false },
  { what: 'one is final', transcripts: [[1, 'a', true]], owed: [2], whole: false },
  {
    what: 'both are, one of them without a word',
    transcripts: [
      [2, 'b', true],
      [1, '', true],
    ],
    owed: [],
    whole: true,
  },
] as const satisfies readonly {
  what: string;
  transcripts: readonly Told[];
  owed: readonly number[];
  whole: boolean;
}[])
  t.test(`owed: ${what}`, async (t) => {
    const stretches = told(2, ...transcripts);
    t.same(
      [1, 2, 3].filter((span) => isOwed(stretches, span)),
      owed,
      'none that never began',
    );
    t.same(
      owedOf(stretches).map(({ span }) => span),
      owed,
      'what stays when the words have become a message',
    );
    t.equal(isWhole(stretches), whole);
  });
t.ok(isWhole([]), 'nobody has spoken: nothing is owed');

/** Whether a transcript brings new words, if "Two" is the guess for stretch 1 and nothing is known of stretch 2. */
for (const { span, text, final, brings } of [
  { span: 1, text: 'Two', final: false, brings: false },
  { span: 1, text: 'Two rooms', final: false, brings: true },
  { span: 1, text: 'Two', final: true, brings: true },
  { span: 2, text: 'Two', final: false, brings: true },
  { span: 1, text: '', final: false, brings: false },
  { span: 1, text: '', final: true, brings: false },
  { span: 1, text: ' … ', final: true, brings: false },
])
  t.test(
    `new: "${text}" of stretch ${span}, ${final ? 'final' : 'guessed'}, ${brings ? 'is' : 'is none'}`,
    async (t) => {
      t.equal(bringsWords(told(2, [1, 'Two']), { span, text, final }), brings);
    },
  );

/** Which of three stretches overlap the agent's speech; the first two have final transcripts, the second without a word. */
for (const { over, is } of [
  { over: [1], is: true },
  { over: [1, 2], is: true },
  { over: [], is: false },
  { over: [2], is: false },
  { over: [3], is: false },
])
  t.test(`overlap: of stretches ${over.join(' and ') || 'none'}`, async (t) => {
    const stretches = told(3, [1, 'Okay.', true], [2, '', true], [3, 'and']);
    const noted = over.reduce(overlapping, stretches);
    t.same(
      noted.map(({ overlaps }) => overlaps),
      [1, 2, 3].map((span) => over.includes(span)),
    );
    t.equal(isOverlap(noted), is, 'only words that are certain count');
    t.equal(partialText(noted), 'Okay. and', 'and their words stay');
  });

t.test('a stretch overlaps the agent only if nothing else was said once it had finished', async (t) => {
  const stretches = told(2, [1, 'Okay.', true], [2, 'And then?', true]);
  t.notOk(isOverlap(overlapping(stretches, 1)));
  t.ok(isOverlap([1, 2].reduce(overlapping, stretches)));
});

/** Whether a guess makes a noise of its stretch. */
for (const { what, spans, transcripts, guess, is } of [
  { what: 'the first without a word', spans: 1, transcripts: [], guess: [1, ''], is: false },
  { what: 'the second', spans: 1, transcripts: [[1, '']], guess: [1, '...'], is: false },
  { what: 'the third', spans: 1, transcripts: [[1, ''], [1, '...']], guess: [1, ''], is: true },
  { what: 'the fourth', spans: 1, transcripts: [[1, ''], [1, ''], [1, '']], guess: [1, ''], is: true },
  { what: 'one behind a word', spans: 1, transcripts: [[1, ''], [1, ''], [1, 'a'], [1, '']], guess: [1, ''], is: false },
  { what: 'one with a word', spans: 1, transcripts: [[1, ''], [1, '']], guess: [1, 'Two'], is: false },
  { what: 'a final', spans: 1, transcripts: [[1, ''], [1, '']], guess: [1, '', true], is: false },
  { what: 'one behind words', spans: 2, transcripts: [[1, 'a', true], [2, ''], [2, '']], guess: [2, ''], is: false },
  { what: 'one behind noise', spans: 2, transcripts: [[1, '', true], [2, ''], [2, '']], guess: [2, ''], is: true },
  { what: 'one behind an owed stretch', spans: 2, transcripts: [[2, ''], [2, '']], guess: [2, ''], is: false },
  { what: 'one before an owed stretch', spans: 2, transcripts: [[1, ''], [1, '']], guess: [1, ''], is: false },
  { what: 'one of no stretch', spans: 1, transcripts: [[1, ''], [1, ''], [1, '']], guess: [2, ''], is: false },
] as const satisfies readonly { what: string; spans: number; transcripts: readonly Told[]; guess: Told; is: boolean }[])
  t.test(`noise: ${what} ${is ? 'is' : 'is none'}`, async (t) => {
    const [span, text, final = false] = guess as Told;
    t.equal(isWordless(told(spans, ...transcripts), { span, text, final }), is);
  }); // oxfmt-ignore
