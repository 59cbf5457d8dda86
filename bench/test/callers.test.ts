/** Callers like people: their texts, how their trials are judged and shown, and who they are. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { wavOf } from '../src/audio/wav.js';
import { readOptions } from '../src/options.js';
import { formatHtml } from '../src/report/html.js';
import { formatTable } from '../src/report/table.js';
import { answerAsPrompted } from '../src/scenarios/callers/agents.js';
import { isRight, vanishedGroups } from '../src/scenarios/callers/judging.js';
import { type Casting, KINDS } from '../src/scenarios/callers/kinds.js';
import { callerTables, figuresOf, figureTable, type MarkOf } from '../src/scenarios/callers/marks.js';
import { JUDGED } from '../src/scenarios/callers/texts-judged.js';
import { TUNING } from '../src/scenarios/callers/texts-tuning.js';
import { SCENARIOS } from '../src/scenarios/index.js';
import type { Scenario } from '../src/scenarios/scenario.js';
import { digestOf, kept } from '../src/speakers/clip-cache.js';
import { ownSource } from '../src/speakers/own-recordings.js';
import { recordedPartsSource } from '../src/speakers/recorded-parts.js';
import { type Speaker, TEXT_KINDS } from '../src/speakers/speaker.js';
import { chooseKinds, chooseScenarios, runSuite, strayNames } from '../src/suite.js';

const plain = (text: string): string => text.toLowerCase().replace(/[^a-z]/gu, '');

t.test('no text is in the list for tuning and in the one by which the gateway is judged', async (t) => {
  const judged = new Set(Object.values(JUDGED).flat().map(plain));
  const both = Object.values(TUNING)
    .flat()
    .filter((text) => judged.has(plain(text)));
  t.strictSame(both, []);
  for (const list of [JUDGED, TUNING])
    for (const kind of TEXT_KINDS) t.ok(list[kind].length > 1, `${kind}: a caller may say two`);
});

t.test('a list says each text once, pauses once in a sentence, and digits in groups', async (t) => {
  for (const list of [JUDGED, TUNING]) {
    for (const kind of TEXT_KINDS) t.equal(new Set(list[kind].map(plain)).size, list[kind].length, kind);
    for (const text of list.pauses) t.equal(text.split('|').length, 2, text);
    for (const text of list.digits) t.ok(text.split(',').length > 1, text);
  }
});

const NUMBER = 'five five five, two six seven, eight one oh nine';

t.test('what was understood is right however it is spelled', async (t) => {
  for (const text of ['555-267-8109.', 'Five, five, five. 267, eight one O nine.', '5552678109'])
    t.ok(isRight('digits', NUMBER, text), text);
  t.ok(isRight('digits', 'two five, four oh', '25 and forty'), 'tens');
  for (const text of ['555-267-8108', '267-8109', '']) t.notOk(isRight('digits', NUMBER, text), text);
  const address = 'Anna dot Miller at example dot com';
  for (const text of ['anna.miller@example.com', 'Anna dot Miller at example.com.'])
    t.ok(isRight('emails', address, text), text);
  t.notOk(isRight('emails', address, 'Anna Miller at example dot com'));
  for (const text of ['K-A-T-H.', 'K. A. T. H', 'Kath']) t.ok(isRight('names', 'K, A, T, H', text), text);
  t.notOk(isRight('names', 'K, A, T, H', 'K. A. D. H.'));
  for (const [said, text] of [
    ['Seven.', '7'],
    ['Okay.', 'OK.'],
  ] as const)
    t.ok(isRight('words', said, text));
  t.notOk(isRight('words', 'Sure.', 'Shore.'));
});

t.test('a group of digits has vanished where neither a digit nor a mark stands for it', async (t) => {
  t.equal(vanishedGroups(NUMBER, '555 267 8109'), 0);
  t.equal(vanishedGroups(NUMBER, '555 268 8100'), 0, 'wrong is no trace less');
  t.equal(vanishedGroups(NUMBER, 'Two, six, seven.'), 2);
  t.equal(vanishedGroups(NUMBER, '555 (unclear) 8109'), 0);
  t.equal(vanishedGroups(NUMBER, '(unclear) 267'), 1);
  t.equal(vanishedGroups(NUMBER, '(unclear)'), 0, 'all of it');
  t.equal(vanishedGroups(NUMBER, ''), 3);
});

const marks: readonly MarkOf[] = [
  ...Array.from({ length: 20 }, (_, at) => ({
    figure: 'digits.right',
    value: at < 12,
    caller: at < 10 ? 'a' : 'b',
  })),
  { figure: 'statement', value: 900, caller: 'a' },
  { figure: 'statement', value: 1100, caller: 'a' },
  { figure: 'statement', value: Number.NaN, caller: 'b' },
];

t.test('each figure shows its count, and each caller has a row', async (t) => {
  t.strictSame(figureTable('All', marks).rows, [
    ['digits.right', '12 of 20'],
    ['statement', 'median 1100 ms over 3, 1 without'],
  ]);
  const rows = [
    ['a', '10/10', '1000'],
    ['b', '2/10', 'none'],
  ];
  const head = ['caller', 'digits.right', 'statement'];
  t.strictSame(callerTables('Each', marks, ['a', 'b']), [{ title: 'Each', head, rows }]);
  const many = Array.from({ length: 9 }, (_, at) => ({ figure: `${at}`, value: true, caller: 'a' }));
  t.strictSame(
    callerTables('Each', many, ['a']).map(({ head: { length } }) => length),
    [8, 3],
    'as wide as a terminal',
  );
  const [digits, statement] = figuresOf('callers', marks, []);
  t.hasStrict(digits, { name: 'callers.digits.right', value: 60, unit: '%', n: 20 });
  t.hasStrict(statement, { name: 'callers.statement.p50', value: null, n: 3 });
});

t.test('tables and remarks are in every report; long tables in the files only', async (t) => {
  const told: Scenario = {
    ...{ name: 'told', title: 'Told', parameters: { full: {}, quick: {} } },
    async run(context) {
      context.tables.push(
        { title: 'All', head: ['figure', 'result'], rows: [['digits', '12 of 20']] },
        { title: 'Calls', head: ['caller', 'said'], rows: [['a', 'five & six']], isLong: true },
      );
      context.remarks.push('no Festival: not installed');
    },
  };
  const report = await runSuite([told], readOptions(['--url', 'http://127.0.0.1:1']), () => undefined);
  const text = formatTable(report);
  t.match(text, /digits {2}12 of 20/);
  t.match(text, 'told: no Festival: not installed');
  t.notMatch(text, 'five & six');
  const html = formatHtml(report);
  for (const part of ['<td>12 of 20</td>', 'no Festival', '<summary>Calls</summary>', 'five &amp; six'])
    t.match(html, part);
});

t.test('one kind alone is chosen by its name, and a name that is nothing is refused', async (t) => {
  const chosen = chooseScenarios(SCENARIOS, ['callers', 'digits']);
  t.hasStrict(chosen, [{ name: 'callers' }]);
  t.equal(chosen.length, 1);
  t.strictSame(chooseKinds(chosen[0]!, ['callers', 'digits']), ['digits']);
  t.strictSame(chooseKinds(chosen[0]!, ['callers']), [], 'all');
  t.strictSame(strayNames(SCENARIOS, chosen, ['callers', 'digits', 'digit']), ['digit']);
  for (const { name } of KINDS)
    t.strictSame(chooseScenarios(SCENARIOS, [name]), [], `${name} is no scenario`);
});

const beep = Int16Array.from({ length: 24_000 }, (_, at) => Math.round(8000 * Math.sin(at / 8)));

const speakerOf = (name: string): Speaker => ({
  ...{ name, source: 'a tone', origin: 'synthetic', pitch: 120 },
  say: async () => beep,
});

const NOTHING_UNDERSTOOD = { text: '', messages: 0, latencies: [], answers: [] };

t.test('the latencies of the record are compared with what the caller waited', async (t) => {
  const speaker = speakerOf('a');
  const casting: Casting = {
    ...{ speaker, others: [], index: 0 },
    text: (kind, at, each = 1) => (at < each - 2 ? JUDGED[kind][at] : undefined),
    textOf: (_, kind, at) => JUDGED[kind][at]!,
  };
  const [planned] = await KINDS.find(({ name }) => name === 'sentences')!.plan(casting);
  const turns = [{ answer: 700 }, {}, { answer: 950 }];
  const errors = (latencies: number[]): unknown[] =>
    planned!
      .judge({ session: 's', turns }, { ...NOTHING_UNDERSTOOD, latencies })
      .filter(({ figure }) => figure === 'latency.off_by')
      .map(({ value }) => value);
  t.strictSame(errors([690, 955]), [10, 5]);
  t.strictSame(errors([690]), [], 'an answer more or less says nothing');
});

t.test('each kind has a call for each caller, who says what the list has', async (t) => {
  const [speaker, ...others] = ['a', 'b', 'c', 'd', 'e', 'f'].map(speakerOf);
  const casting = (index: number): Casting => ({
    ...{ speaker: speaker!, others, index },
    text: (kind, at, each = 1) => JUDGED[kind][(index * each + at) % JUDGED[kind].length],
    textOf: (_, kind, at) => JUDGED[kind][at % JUDGED[kind].length]!,
  });
  const heard = { session: 's', turns: [] };
  for (const { name, plan } of KINDS) {
    const plans = await plan(casting(0));
    t.ok(plans.length > 0, name);
    for (const { trial, judge } of plans) {
      t.ok(trial.turns.length > 0, name);
      t.ok(Array.isArray(judge(heard, NOTHING_UNDERSTOOD)), `${name}: a call that was cut off`);
    }
  }
  t.strictSame(await KINDS.find(({ name }) => name === 'echo')!.plan(casting(1)), [], 'every third');
});

t.test('the double of a model answers as long as the prompt of its agent says', async (t) => {
  const answer = (prompt: string): number =>
    answerAsPrompted([
      { role: 'system', content: prompt },
      { role: 'user', content: 'Hello.' },
    ]).length;
  t.ok(answer('bench agent: long.') > answer('bench agent: sentence.'));
  t.ok(answer('bench agent: sentence.') > answer('bench agent: word.'));
});

const wav = wavOf(Buffer.from(beep.buffer), 24_000);

t.test('own recordings are a folder for each caller, with a folder for each kind', async (t) => {
  const folder = t.testdir({ anna: { digits: {}, words: {} } });
  writeFileSync(path.join(folder, 'anna', 'digits', '1.wav'), wav);
  writeFileSync(path.join(folder, 'anna', 'digits', '1.txt'), 'one two, three four\n');
  const [anna, ...none] = ownSource(folder).speakers;
  t.strictSame(none, []);
  t.hasStrict(anna, { name: 'anna', origin: 'recorded', saysAll: true });
  t.strictSame(anna?.texts, { digits: ['one two, three four'], words: [] });
  t.strictSame(await anna?.say('one two, three four'), beep);
  await t.rejects(anna!.say('five'), /has not recorded/);
  writeFileSync(path.join(folder, 'anna', 'words', '2.wav'), wav);
  t.throws(() => ownSource(folder), /there is no 2\.txt/);
  mkdirSync(path.join(folder, 'bert', 'songs'), { recursive: true });
  t.throws(() => ownSource(path.join(folder)), /the kinds are questions|no 2\.txt/);
  t.match(ownSource(t.testdir()), { speakers: [], missing: /^no folder/ });
});

t.test('recorded words say the texts that consist of them, and what is not installed is named', async (t) => {
  const { speakers, missing = '' } = recordedPartsSource(JUDGED);
  t.ok(speakers.length === 3 || missing.includes('apt-get install'));
  for (const { texts = {} } of speakers) {
    t.ok(Object.keys(texts).length > 0);
    for (const [kind, said = []] of Object.entries(texts))
      for (const text of said) t.ok(JUDGED[kind as keyof typeof JUDGED].includes(text), text);
  }
});

t.test('a clip is made once, and anew when anything it depends on is another', async (t) => {
  const folder = path.join(t.testdir(), 'clips');
  let times = 0;
  const make = async (): Promise<Int16Array> => {
    times += 1;
    return beep;
  };
  const digest = digestOf('spoken', 'ked', '1', 'Yes.');
  t.strictSame(await kept(digest, make, folder), beep);
  t.strictSame(await kept(digest, make, folder), beep);
  t.equal(times, 1);
  t.not(digestOf('spoken', 'ked', '2', 'Yes.'), digest);
});
