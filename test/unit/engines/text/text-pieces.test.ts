/** Cutting text for synthesis: sentences, latency, chunk lengths, and text that still arrives. */
import t from '../../../fixtures/tap.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { Latency } from '../../../../contracts/ports/speech/tts.js';
import { cutText, pastSpace, pieceEnd } from '../../../../engines/text/text-pieces.js';

const pieces = (text: string, latency: Latency, chunkLength = 300): string[] => [
  ...cutText(text, { latency, chunkLength }),
];

const SENTENCES: readonly (readonly [string, readonly string[]])[] = [
  ['Hello there. How are you? Fine!', ['Hello there.', 'How are you?', 'Fine!']],
  ['Mr. Smith met Dr. Jones. They talked.', ['Mr. Smith met Dr. Jones.', 'They talked.']],
  ['Pi is 3.14 or so. Next.', ['Pi is 3.14 or so.', 'Next.']],
  ['Some fruit, e.g. apples, is sweet.', ['Some fruit, e.g. apples, is sweet.']],
  ['We met at 5 p.m. on Monday. It rained.', ['We met at 5 p.m. on Monday.', 'It rained.']],
  ['He left at 6 p.m. Then he slept.', ['He left at 6 p.m.', 'Then he slept.']],
  ['J. R. Smith wrote it. I did not.', ['J. R. Smith wrote it.', 'I did not.']],
  ['Well... maybe not. Yes...  No.', ['Well... maybe not.', 'Yes...', 'No.']],
  ['"Really?" he said. "Yes." She left.', ['"Really?" he said.', '"Yes."', 'She left.']],
  ['See example.com/a.b today. OK.', ['See example.com/a.b today.', 'OK.']],
  ['hello. how are you. i am fine', ['hello.', 'how are you.', 'i am fine']],
  ['你好，世界。今天天气很好！我们去公园吧？', ['你好，世界。', '今天天气很好！', '我们去公园吧？']],
  ['「行こう。」と言った。はい。', ['「行こう。」', 'と言った。', 'はい。']],
  ['One line\nAnother line\nthat goes on\n\nlast', ['One line', 'Another line\nthat goes on', 'last']],
  ['1. First thing\n2. Second thing', ['1. First thing', '2. Second thing']],
  ['Wow 🎉! Great 👍. Bye', ['Wow 🎉!', 'Great 👍.', 'Bye']],
  ['¿Qué tal? Muy bien. Adiós.', ['¿Qué tal?', 'Muy bien.', 'Adiós.']],
  ['... What?', ['... What?']],
  ['Es ist am 3. Oktober um acht. Kommen Sie!', ['Es ist am 3. Oktober um acht.', 'Kommen Sie!']],
  [
    'Samstag, 3. Oktober, im 2. Stock. Bis 24.12. um 8.',
    ['Samstag, 3. Oktober, im 2. Stock.', 'Bis 24.12. um 8.'],
  ],
  ['Den 3. oktober er fint. Ja.', ['Den 3. oktober er fint.', 'Ja.']],
  [
    'Nimm z. B. Tee, d. h. die Nr. 5 von Hr. Maier. Ja.',
    ['Nimm z. B. Tee, d. h. die Nr. 5 von Hr. Maier.', 'Ja.'],
  ],
  ['Es sind 5 Mio. Euro in der Hauptstr. 12. Gut.', ['Es sind 5 Mio. Euro in der Hauptstr. 12.', 'Gut.']],
  ['Soy el Sr. López de EE. UU., núm. 5. Sí.', ['Soy el Sr. López de EE. UU., núm. 5.', 'Sí.']],
  ['En 50 av. J.-C. Rome. MM. Dupont et J.-P. Roux.', ['En 50 av. J.-C. Rome.', 'MM. Dupont et J.-P. Roux.']],
  [
    'I am 42. You like art. We won 3. Then 5 mm. So u. And d. Go.',
    ['I am 42.', 'You like art.', 'We won 3.', 'Then 5 mm.', 'So u.', 'And d.', 'Go.'],
  ],
  ['H. G. Wells met A. Turing at 14 h. Ja.', ['H. G. Wells met A. Turing at 14 h.', 'Ja.']],
  ['', []],
  [' \n\t ', []],
];

t.test('sentences end as a reader would end them', async (t) => {
  for (const [text, wanted] of SENTENCES) t.same(pieces(text, 'balanced'), wanted, JSON.stringify(text));
});

t.test('a number that the name of a month may follow ends no sentence before that is known', async (t) => {
  const rule = { until: 'sentence', limit: 300, ended: false } as const;
  const heard = ['Samstag, 3. ', 'Samstag, 3. O', 'Samstag, 3. Oktober', 'Samstag, 3. Oktober war es.'];
  for (const text of heard) t.equal(pieceEnd(text, 0, rule), undefined, text);
  t.equal(pieceEnd('Wir sind 3. Ok', 0, rule), undefined);
  t.equal(pieceEnd('Wir sind 3. Oder', 0, rule), 'Wir sind 3.'.length);
});

const FIRST_CLAUSES: readonly (readonly [string, string])[] = [
  ['Thank you for calling, how can I help you with your order today?', 'Thank you for calling,'],
  [
    'The weather tomorrow will be sunny with a light breeze from the west.',
    'The weather tomorrow will be sunny',
  ],
  ['Hello. And then a longer sentence follows here.', 'Hello.'],
  ['Well, I have been thinking about the offer you made to me.', 'Well, I have been thinking about'],
  ['The old government of our city met Mr. Jones at five on Monday.', 'The old government of our city met'],
  [
    'The quick brown fox jumps over the lazy dog, said the old man.',
    'The quick brown fox jumps over the lazy dog,',
  ],
  ['Short enough to be said in one go at once.', 'Short enough to be said in one go at once.'],
  ['今日はとても天気がいいので、公園に行きましょう。', '今日はとても天気がいいので、'],
];

t.test('low latency begins with a short first clause and continues by sentences', async (t) => {
  for (const [text, first] of FIRST_CLAUSES) t.equal(pieces(text, 'low')[0], first);
  t.same(pieces('I see, that is a pity. We go on, as ever. Bye.', 'low'), [
    'I see, that is a pity.',
    'We go on, as ever.',
    'Bye.',
  ]);
});

t.test('normal latency merges whole sentences up to the chunk length', async (t) => {
  const sentence = 'This sentence has exactly fifty characters in it ok.';
  const text = Array(5).fill(sentence).join(' ');
  t.same(pieces(text, 'normal', 110), [`${sentence} ${sentence}`, `${sentence} ${sentence}`, sentence]);
  t.same(pieces(text, 'normal', 300), [text]);
});

t.test('a hard cut falls between words, and splits no character', async (t) => {
  for (const piece of pieces('lorem ipsum '.repeat(60), 'normal', 100))
    t.match(piece, /^(lorem|ipsum)( |$).*(lorem|ipsum)$/);
  for (const piece of pieces('😀'.repeat(300), 'normal', 101))
    t.match(piece, /^\p{Emoji_Presentation}+$/u, 'whole pairs');
});

/** Cuts text that arrives in parts of `step` characters. */
function piecesAsTextArrives(text: string, step: number): string[] {
  const found: string[] = [];
  let start = 0;
  for (let have = step; start < text.length; have += step) {
    const buffer = text.slice(0, have);
    const ended = have >= text.length;
    for (;;) {
      start = pastSpace(buffer, start);
      if (start >= buffer.length) break;
      const end = pieceEnd(buffer, start, { until: 'sentence', limit: 300, ended });
      if (end === undefined) break;
      found.push(buffer.slice(start, end).trimEnd());
      start = end;
    }
  }
  return found;
}

t.test('text that still arrives is cut like text that is there', async (t) => {
  for (const [text, wanted] of SENTENCES) {
    for (const step of [1, 3, 7])
      t.same(piecesAsTextArrives(text, step), wanted, `${JSON.stringify(text)} by ${step}`);
  }
});

t.test('no piece of a sentence is empty or passes the chunk length, and no word is lost', async (t) => {
  const { min, max } = LIMITS.native.chunkLength;
  const plain = (text: string): string => text.replace(/\s/gu, '');
  for (const [text] of SENTENCES)
    for (const latency of ['low', 'balanced', 'normal'] as const)
      for (const most of [min, max]) {
        const cut = pieces(text, latency, most);
        t.equal(plain(cut.join('')), plain(text));
        t.notOk(cut.some((piece) => piece === '' || piece.length > most));
      }
});
