/** Echo of the agent: which words are recognised as its own, and which as the user's. */
import { readFileSync } from 'node:fs';
import { CHECKOUT } from '../../../../../contracts/places.js';
import t from '../../../../fixtures/tap.js';
import { likenessOf } from '../../../../../actors/agent/turns/echo.js';
import { wordsOf } from '../../../../../actors/agent/turns/interruption.js';
import { EchoFilter } from '../../../../../gateway/agents/conversations/listening/echo.js';

const SAID = 'Your table is booked for Tuesday at nine. We look forward to your visit.';

t.test('words that are mostly the agent’s, in its order, are echo', async (t) => {
  for (const text of [
    'your table is booked',
    'Table is booked for Tuesday at nine we look forward.',
    'our table is booked for Tuesday a nine',
    'booked for Tuesday',
  ])
    t.equal(likenessOf(text, SAID), 'echo', text);
});

t.test('a word or two of the agent’s are a repetition', async (t) => {
  for (const text of ['Tuesday?', 'at nine', 'booked']) t.equal(likenessOf(text, SAID), 'repetition', text);
});

t.test('agreement, commands and new words are the user’s', async (t) => {
  for (const text of [
    'yes, Tuesday',
    'Yes, Tuesday at nine.',
    'Your table is booked for Tuesday stop',
    'no, booked for Tuesday at nine',
    'booked for Tuesday at nine can you make it ten',
    'I want to cancel the table for Tuesday',
    'nine at Tuesday for booked',
    'okay',
    'Stop.',
    '',
    '...',
  ])
    t.equal(likenessOf(text, SAID), 'own', text);
});

t.test('echo is at least seven words of ten, or sounds like the agent’s', async (t) => {
  t.equal(likenessOf('your cable is hooked for Tuesday a nine we look', SAID), 'echo', '7 of 10');
  t.equal(likenessOf('green elephants dance for Tuesday a nine we', SAID), 'own', '4 of 8');
  t.equal(likenessOf('your table is booked for Tuesday at nine thirty tomorrow', SAID), 'own', '8 of 10');
  t.equal(likenessOf('at ten', SAID), 'own', 'one of two');
});

t.test('agreement and commands are the user’s although the agent says them', async (t) => {
  const said = 'Your table is booked for Tuesday, no problem.';
  t.equal(likenessOf('no your table is booked for Tuesday', said), 'own', 'it says that later');
  for (const text of ['okay', 'stop', 'please stop'])
    t.equal(likenessOf(text, 'Okay, I please stop there.'), 'own', text);
});

t.test('commands and agreement in the agent’s own words may come back as echo', async (t) => {
  t.equal(likenessOf('no problem we can wait', 'No problem, we can wait.'), 'echo');
  t.equal(likenessOf('yes of course you can', 'Yes, of course you can.'), 'echo');
});

t.test('echo is recognised in languages without spaces', async (t) => {
  t.equal(likenessOf('ご予約は火曜日の九時です', 'ご予約は火曜日の九時ですね。お待ちしております。'), 'echo');
  t.equal(likenessOf('您的桌子订好了', '您的桌子订好了，星期二九点。'), 'echo');
  t.equal(likenessOf('我想取消预订', '您的桌子订好了，星期二九点。'), 'own');
});

t.test('words that were misheard are echo if all together sound like what the agent says', async (t) => {
  const said = {
    en: 'We are open from Tuesday to Saturday, from seven in the morning until six in the evening.',
    de: 'Ihr Tisch ist für Dienstag um neun Uhr reserviert, wir freuen uns auf Ihren Besuch.',
    fr: 'Votre table est réservée pour mardi à neuf heures, nous vous attendons avec plaisir.',
    es: 'Su mesa está reservada para el martes a las nueve, esperamos su visita con mucho gusto.',
    ja: 'ご予約は火曜日の九時に承りました。当日のご来店を心よりお待ちしております。',
  };
  const ECHOES: readonly (readonly [language: keyof typeof said, text: string])[] = [
    ['en', 'We are open frontes, they tis had a day, from sever in the morning until six.'],
    ['en', 'We are open for enthusiasts to celebrity from seven in the morning.'],
    ['de', 'Ihr Fisch ist für die Nacht um neun Uhr reserviert, wir freuen.'],
    ['de', 'Für Dienst war gut neun Uhr reserviert und wir freuen uns.'],
    ['fr', 'Votre tableau est réservé bourg mardi à neuf heures.'],
    ['es', 'Su mes ha está resfriada para el martes.'],
    ['ja', '予約は火曜日の工事に承りました。当日の来店を'],
  ];
  for (const [language, text] of ECHOES) t.equal(likenessOf(text, said[language]), 'echo', text);
  const OWN: typeof ECHOES = [
    ['en', 'Are you open on Sunday?'],
    ['en', 'We are open from Tuesday what about Sunday'],
    ['en', 'Six in the evening is too early for me.'],
    ['de', 'Können wir auch um zehn Uhr kommen?'],
    ['de', 'Ihr Tisch ist für Dienstag das passt mir nicht'],
    ['fr', 'Je voudrais changer pour mercredi soir.'],
    ['es', 'Prefiero venir el miércoles por la tarde.'],
    ['ja', '水曜日の夜に変更したいのですが。'],
  ];
  for (const [language, text] of OWN) t.equal(likenessOf(text, said[language]), 'own', text);
});

t.test('a text too long to be compared by its letters is judged by its words', async (t) => {
  const long = 'one word after another '.repeat(60);
  t.equal(likenessOf(long, long), 'echo');
  t.equal(likenessOf('won weird offer an udder '.repeat(60), long), 'own');
});

interface Heard {
  /** What the agent says. */
  readonly said: string;
  /** From and until when it is heard of the agent's speech, delay and length of the speech in ms, and what was heard. */
  readonly echoes: readonly (readonly [number, number, number, number, string])[];
  /** What callers say meanwhile, as it was meant and as it was heard. */
  readonly own: readonly string[];
}

/** Of `tuning`, the limits were made; `judged` was not looked at. Texts of the embedded recogniser, of a room's echo 20 dB below. */
const ECHOES = JSON.parse(
  readFileSync(new URL('test/fixtures/actors/echoes.json', CHECKOUT), 'utf8'),
) as Readonly<Record<'tuning' | 'judged', readonly Heard[]>>;

/** Whether `text`, heard from `from` until `until` of an agent that says `said` in `length` ms, is echo. */
function isHeardAsEcho(said: string, length: number, from: number, until: number, text: string): boolean {
  const filter = new EchoFilter();
  const words = said.split(' ');
  const at = (word: number): number => ((word + 1) / words.length) * length;
  words.forEach((word, index) => at(index) <= until && filter.said(`${word} `, at(index)));
  filter.begins(1, from, true);
  filter.ends(1, until);
  return filter.isEcho(1, text, true, words.filter((_, index) => at(index) > until).join(' '));
}

t.test(
  'most of what a speakerphone returns is known as echo, and most of what callers say is not',
  async (t) => {
    for (const [list, rows] of Object.entries(ECHOES)) {
      const echoes = rows.flatMap(({ said, echoes: heard }) =>
        heard.flatMap(([from, until, delay, length, text]) =>
          until === length && wordsOf(text).length > 2
            ? [isHeardAsEcho(said, length, from + delay + 64, until + delay + 320, text)]
            : [],
        ),
      );
      const own = rows.flatMap(({ said, echoes: heard, own: lines }) => {
        const length = heard[0]![3];
        return lines.map((text) => isHeardAsEcho(said, length, 0.7 * length, 0.7 * length + 1200, text));
      });
      const known = echoes.filter(Boolean).length;
      const mistaken = own.filter(Boolean).length;
      t.ok(known >= 0.8 * echoes.length, `${list}: ${known} of ${echoes.length} echoes`);
      t.ok(
        mistaken <= 0.3 * own.length,
        `${list}: ${mistaken} of ${own.length} callers, who often repeat the agent`,
      );
    }
  },
);

/** A filter for an agent that says a word every 300 ms from 0 on. */
function speaking(): EchoFilter {
  const filter = new EchoFilter();
  SAID.split(' ').forEach((word, at) => filter.said(`${word} `, 300 * at));
  return filter;
}

const isEcho = (filter: EchoFilter, from: number, until: number, text: string): boolean => {
  filter.begins(1, from, from < 4200);
  filter.ends(1, until);
  return filter.isEcho(1, text, true, '');
};

t.test('only what the agent says at that time comes back', async (t) => {
  t.ok(isEcho(speaking(), 600, 2000, 'is booked for Tuesday'), 'while it says that');
  t.ok(isEcho(speaking(), 4400, 5000, 'look forward to your visit'), 'just behind it');
  t.notOk(isEcho(speaking(), 600, 1500, 'we look forward to your visit'), 'before it says that');
  t.notOk(isEcho(speaking(), 4100, 5000, 'your table is booked'), 'long after it has said that');
  t.notOk(isEcho(speaking(), 6000, 7000, 'look forward to your visit'), 'the user repeats it afterwards');
});

t.test('words that the agent is about to say count, as the playout reports them late', async (t) => {
  const filter = new EchoFilter();
  filter.begins(1, 0, true);
  t.ok(filter.isEcho(1, 'Your table is', false, SAID));
  t.notOk(filter.isEcho(1, 'look forward to your visit', false, SAID), 'but not what is far ahead');
});

t.test('the same in languages without blanks: the user’s words may be among those far ahead', async (t) => {
  const filter = new EchoFilter();
  filter.begins(1, 0, true);
  const next = '好的，我们会尽快处理您的申请，请您放心。如果还有别的问题，请告诉我要退款的原因。';
  t.ok(filter.isEcho(1, '我们会尽快处理', false, next));
  t.notOk(filter.isEcho(1, '我还有别的问题', false, next));
});

t.test('a repetition is the user’s once, and echo when it is all that comes again', async (t) => {
  const filter = speaking();
  t.notOk(isEcho(filter, 600, 1500, 'booked'));
  t.ok(isEcho(filter, 1500, 2000, 'Tuesday at'));
  const talking = speaking();
  t.notOk(isEcho(talking, 600, 1500, 'booked'));
  t.notOk(isEcho(talking, 1500, 2000, 'what did you say'));
  t.notOk(
    isEcho(talking, 1500, 2000, 'Tuesday'),
    'a user who says something else in between repeats on purpose',
  );
});
