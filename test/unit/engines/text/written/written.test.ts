/** What callers say as people write it: addresses, spelled names, numbers, expected words; and what must stay as it was heard. */
import t from '../../../../fixtures/tap.js';
import { type Asked, fits, termsOf, writtenText } from '../../../../../engines/text/written/index.js';

interface Case {
  readonly asked?: readonly Asked[];
  readonly language?: string;
  readonly terms?: readonly string[];
}

const written = (text: string, { asked = [], language = 'en', terms = [] }: Case = {}): string =>
  writtenText(text, { language, asked: new Set(asked), terms: termsOf(terms) });

type Row = readonly [heard: string, written: string];

function all(
  t: { equal(found: string, wanted: string, name: string): unknown },
  rows: readonly Row[],
  how: Case = {},
): void {
  for (const [heard, wanted] of rows) t.equal(written(heard, how), wanted, heard);
}

t.test('addresses of mail that nobody could take for anything else', async (t) => {
  all(t, [
    ['It is jane dot doe at example dot com.', 'It is jane.doe@example.com.'],
    ['My email is peter at garden dot org', 'My email is peter@garden.org'],
    [
      'My e-mail address is info at sunshine dot net, thank you.',
      'My e-mail address is info@sunshine.net, thank you.',
    ],
    ['anna underscore miller at mail dot example dot co dot uk', 'anna_miller@mail.example.co.uk'],
    ['Write to jane.doe at example.com please', 'Write to jane.doe@example.com please'],
    ['my mail is anna one two at example dot com', 'my mail is anna12@example.com'],
  ]);
});

t.test('an address that was asked for may be one word, several, or spelled', async (t) => {
  all(
    t,
    [
      ['Peter at garden dot org.', 'peter@garden.org.'],
      ['office at river school dot org', 'office@riverschool.org'],
      ['Yes, it is jane doe at example dot com', 'Yes, it is janedoe@example.com'],
      ['j, o, e at example dot com', 'joe@example.com'],
      ['Peter at garden. Org.', 'peter@garden.org.'],
      ['Julia at silver dotnet.', 'julia@silver.net.'],
      ['Julia at silver Dot-Com, please', 'julia@silver.com, please'],
      ['I write dotnet at home', 'I write dotnet at home'],
      ['tom dash baker plus news at paper dot net', 'tom-baker+news@paper.net'],
    ],
    { asked: ['email'] },
  );
});

t.test('in other languages by their own words', async (t) => {
  all(
    t,
    [['Meine Mail ist anna punkt müller ät beispiel punkt de.', 'Meine Mail ist anna.müller@beispiel.de.']],
    {
      language: 'de',
    },
  );
  all(
    t,
    [['mi correo es ana guion bajo perez arroba ejemplo punto com', 'mi correo es ana_perez@ejemplo.com']],
    {
      language: 'es',
    },
  );
  all(t, [['jean point dupont arobase exemple point fr', 'jean.dupont@exemple.fr']], { language: 'fr' });
});

t.test('hosts are written, and what only sounds like an address stays', async (t) => {
  all(t, [
    ['I saw it on example dot com yesterday.', 'I saw it on example.com yesterday.'],
    ['I was at amazon dot com.', 'I was at amazon.com.'],
    ['The dot com years were fun.', 'The dot com years were fun.'],
    ['We met at noon. The point is that it rains.', 'We met at noon. The point is that it rains.'],
    ['Look at the dot in the corner', 'Look at the dot in the corner'],
    ['(unclear) at example dot com', '(unclear) at example.com'],
  ]);
  all(t, [['El punto es que llueve.', 'El punto es que llueve.']], { language: 'es' });
});

t.test('spelled names where a name was asked for', async (t) => {
  all(
    t,
    [
      ['j o h n', 'John'],
      ['J, O, H, N.', 'John.'],
      ['J-O-H-N', 'John'],
      ['J as in Juliet, O, H, N as in Nancy', 'John'],
      ['jay, oh, aitch, en', 'John'],
      ['S C H M I double T', 'Schmitt'],
      ['Juliet Oscar Hotel November', 'John'],
      ['K, A, T, E, are, why, N.', 'Kateryn.'],
      ['My name is K, A, Y, E', 'My name is Kaye'],
      ['h o ffm a.n', 'Hoffman'],
      ['Z imm-e-r', 'Zimmer'],
      ['It is Mr. Brown by e-mail', 'It is Mr. Brown by e-mail'],
    ],
    { asked: ['name'] },
  );
  all(
    t,
    [
      ['Anton Nordpol Nordpol Anton', 'Anna'],
      ['M wie Martha, E, I, E, R', 'Meier'],
    ],
    {
      asked: ['name'],
      language: 'de',
    },
  );
});

t.test('other spellings are capitals, with their figures', async (t) => {
  all(
    t,
    [
      ['A B one two C', 'AB12C'],
      ['double u X 4 4', 'WX44'],
    ],
    { asked: ['spelling', 'number'] },
  );
  all(t, [['I work for I B M in the U.S.A today', 'I work for IBM in the USA today']]);
});

t.test('letters that are words stay words', async (t) => {
  const plain = [
    'I see.',
    'Are you there?',
    'I have a question.',
    'You and I',
    'Oh, I see a B there.',
    'Yes, I am.',
  ];
  all(
    t,
    plain.map((text): Row => [text, text]),
  );
  all(
    t,
    plain.map((text): Row => [text, text]),
    { asked: ['name'] },
  );
});

t.test('numbers: figures one by one, and whole numbers from ten on', async (t) => {
  all(t, [
    ['five five five, two six seven, eight one oh nine', '555 267 8109'],
    ['It is four double seven three.', 'It is 4773.'],
    ['We are twenty five people.', 'We are 25 people.'],
    ['two hundred and forty', '240'],
    ['There are six of us, or two.', 'There are six of us, or two.'],
    ['the twenty first of May', 'the twenty first of May'],
    ['at ten thirty in nineteen eighty four', 'at ten thirty in nineteen eighty four'],
    ['Oh, five of them', 'Oh, five of them'],
  ]);
  all(
    t,
    [
      ['fünf fünf drei, null eins', '553 01'],
      ['fünfundzwanzig Leute', '25 Leute'],
    ],
    { language: 'de' },
  );
  all(
    t,
    [
      ['cinco cinco tres', '553'],
      ['treinta y dos euros', '32 euros'],
    ],
    { language: 'es' },
  );
  all(
    t,
    [
      ['cinq cinq trois', '553'],
      ['quatre-vingt-douze euros', '92 euros'],
    ],
    { language: 'fr' },
  );
  all(
    t,
    [
      ['seven to nine', '729'],
      ['forty two oh one', '4201'],
      ['I think two', 'I think two'],
    ],
    { asked: ['number'] },
  );
});

t.test('expected words take the place of what sounds nearly the same', async (t) => {
  const terms = ['Kathryn Schmitt', 'OpenClaw', 'jane.doe@example.com'];
  all(
    t,
    [
      ['This is Katherin Schmid.', 'This is Kathryn Schmitt.'],
      ['It is about open claw.', 'It is about OpenClaw.'],
      ['jane dot do at example dot com', 'jane.doe@example.com'],
      ['I would like to open a claim.', 'I would like to open a claim.'],
      ['Catherine is not here', 'Catherine is not here'],
    ],
    { terms },
  );
  all(t, [['It costs 4711 there', 'It costs 4711 there']], { terms: ['order 4712'] });
});

t.test('yes, no and days where these were asked for', async (t) => {
  all(
    t,
    [
      ['Know.', 'No.'],
      ['I know.', 'I know.'],
    ],
    { asked: ['choice'] },
  );
  all(t, [['Neun.', 'Nein.']], { asked: ['choice'], language: 'de' });
  all(t, [['On Thurday, the third of Febuary.', 'On Thursday, the third of February.']], { asked: ['date'] });
});

t.test('a language without rules, and a text without anything to write, stay as they are', async (t) => {
  all(t, [['ジェーン ドット  ドウ', 'ジェーン ドット  ドウ']], { language: 'ja' });
  all(t, [['Two  spaces, and nothing else.', 'Two  spaces, and nothing else.']]);
});

t.test('a text holds what was asked for, as far as that can be told', async (t) => {
  const holds = (text: string, ...asked: Asked[]) => fits(text, { language: 'en', asked: new Set(asked) });
  t.ok(holds('jane at example dot com', 'email'));
  t.notOk(holds('Julie Hart, Selma, dot, knit.', 'email'));
  t.ok(holds('B, r, o, w, n, e.', 'name', 'spelling'));
  t.notOk(holds('We are our WNE.', 'name', 'spelling'));
  t.ok(holds('My name is Brown.', 'name'), 'a name need not be spelled');
  t.ok(holds('four five six', 'spelling', 'number'));
  t.ok(fits('ジェーン', { language: 'ja', asked: new Set(['email']) }), 'no rules');
});

t.test('no letter and no figure appears that was not heard', async (t) => {
  const heard = [
    'anna dot miller at example dot com',
    'K as in King, A, Y',
    'five five five two six seven',
    'my mail is j o e at north bank dot com and I am forty two',
  ];
  const words = /at|dot|as in King|five|two|six|seven|forty/gu;
  for (const text of heard) {
    const letters = (from: string) => new Set(from.toLowerCase().match(/\p{L}/gu));
    const known = letters(text);
    for (const letter of letters(written(text, { asked: ['email', 'name'] }).replace(words, '')))
      t.ok(known.has(letter), `${letter} in ${text}`);
  }
});
