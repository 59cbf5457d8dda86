/** Ends of sentences and clauses (engines/text/text-breaks.ts), each kind at its edges. */
import t from '../../../fixtures/tap.js';
import { breaksIn } from '../../../../engines/text/text-breaks.js';

const SIGNS = { sentence: '§', clause: '¦', undecided: '~' } as const;

/** The text with a sign at each of its breaks. */
function marked(text: string, ended: boolean): string {
  let shown = '';
  let at = 0;
  for (const { end, kind } of breaksIn(text, 0, text.length, ended)) {
    shown += text.slice(at, end) + SIGNS[kind];
    at = end;
  }
  return shown + text.slice(at);
}

/** Texts that are complete, with a sign at each break: § for a sentence, ¦ for a clause. */
const COMPLETE: Readonly<Record<string, readonly string[]>> = {
  'a mark ends a sentence if a space and no small letter follow': [
    'a.§ B', 'a.b', 'a.§  B', 'a. b', 'a!§ b', 'a?§ b', 'a…¦ b', 'a…§ B', 'a...b', 'a...¦ b', 'a...§ B', 'a?!§ B', 'a!.¦ b', '.§', '...§', '.a', '?§ ?§', 'a .§ B', '!§ a',
  ],
  'closing quotes, brackets and signs of emphasis belong to the sentence': [
    '"A."¦ b', '"A."§ B', '(A.)§ B', 'A.”¦ b', 'a.*b*', 'a.*§ B', 'a._¦ b', 'a.’§ B', 'a.»§ B', 'a.]§ B', 'a.}§ B', 'a.」§ B', 'a."¦ x',
  ],
  'a line end ends a sentence unless the next line goes on': [
    'a.\nb', 'a\nb', 'a§\nB', 'a§\n\nb', 'a \n b', 'a§\n', 'a\r§\nB', 'a§\n \nb',
  ],
  'a clause ends with a comma, a semicolon or a colon before a space': [
    'a,¦ b', 'a,b', '1,000', 'a;¦ b', 'a:¦ b', 'a:b', 'a,"¦ b', 'a،¦ b', 'a؛¦ b', 'a,¦', 'a,"¦', ',¦ ,¦',
  ],
  'scripts without spaces have marks of their own': [
    '好。§好', '好！§好', '好？§好', 'ｱ｡§ｱ', '好．b', 'नमस्ते।§ अब', 'سلام؟§ و', 'سلام۔§ و', '好。」§好', 'a.。§b', 'a、¦b', 'a，¦b', 'a；¦b', 'a：¦b', 'a—¦b', 'a,』b', 'a、』¦b',
  ],
  'some abbreviations end no sentence': [
    'Mr. A', 'mr. A', 'MM. A', 'mm.§ A', 'Hr. A', 'hr.§ A', 'EE. A', 'Fr. A', 'e.g. A', 'z.b. A', 'mio. A', 'srta. A', 'p.ej. A', 'x/mr.§ A',
  ],
  'others end one before a capital': [
    'etc.§ A', 'etc. a', 'Inc. a', 'a.m.§ A', 'a.m. a', 'jan. a', 'okt. a', 'uu. a', 'h. a', 'a. a', 'a.§ A',
  ],
  'others end none before a number': [
    'nr. 5', 'nr.§ A', 'Nr. +5', 'Nr. (5', 'Nr.§ a', 'abs. 1', 'Hauptstr. 5', 'pág. 5', 'págs. 5', 'núm. 5', 'tél. 5', 'art.§ A',
  ],
  'abbreviations in two words': [
    'z. B. x', 'z. T. x', 'z.§ A', 'd. h. x', 'd.§ H', 'u. a. x', 'u. ä. x', 'u.§ x', 'p. ej. x', 'p.§ A', 'x.§ B',
  ],
  'initials, and numbers of lists': [
    'J. R. Smith', 'J.-P. Roux', 'A.B. C', 'I.§ B', 'AB.§ C', 'É. B', 'H. a', '1. A', '123. A', '1234.§ A', 'x 1.§ A', '\n1. A', 'x§\n 12. A',
  ],
  'ordinals of German and of the languages of the north and east': [
    'am 3. Um', 'Wir 3. Oktober', 'Wir 3. Jänner', 'Wir 3. Dezember', 'Wir 3.§ Um', 'Wir 3. a', 'Wir 123.§ a', 'Wir 24.12.§ Um', 'am 24.12. Um', 'I am 3.§ Um', '(am 3. Um', '„am 3. Um', '"am 3. Um', 'xam 3.§ Um', 'die 3. Um', 'das 3. Um', 'dem 3. Um', 'den 3. Um', 'im 3. Um', 'zum 3. Um', 'zur 3. Um', 'beim 3. Um', 'diesem 3. Um', 'jeden 3. Um', 'Vom 3. Um', 'der 123.§ Um', 'der 1.123.§ X', 'x3.§ a', 'Wir 3!§ a',
  ],
  'the word before a mark begins behind a space, a quote or a bracket': [
    '"mr. A', '\'mr. A', '(mr. A', '[mr. A', '“mr. A', '‘mr. A', '-mr.§ A',
  ],
}; // oxfmt-ignore

/** Texts that may go on; ~ for a break that is not decided. */
const ARRIVING: Readonly<Record<string, readonly string[]>> = {
  'what follows may change a mark at the end of what is there': [
    'a.~', 'a.~ ', 'a.§ B', 'a!~', 'a!~ ', 'a."~', 'a."~ ', 'a."§ B', 'Mr.~ ', 'a...~', 'a...~ ', 'a...¦ b', '好。~', '好。§x',
  ],
  'so it may a comma and a line end': [
    'a,~', 'a,¦ ', '、¦', 'a,"~', 'a~\n', 'a~\n ', 'a§\n B', 'a\nb',
  ],
  'so it may a number that the name of a month may follow': [
    'Wir 3.~ ', 'Wir 3.~ O', 'Wir 3.~ Ok', 'Wir 3.§ Od', 'Wir 3. Oktober', 'Wir 3.§ Dezx', 'Wir 3.~ Mä', 'am 3. X', 'Wir 3. a',
  ],
}; // oxfmt-ignore

for (const [table, ended] of [
  [COMPLETE, true],
  [ARRIVING, false],
] as const)
  for (const [rule, texts] of Object.entries(table))
    t.test(rule, async (t) => {
      for (const text of texts)
        t.equal(marked(text.replace(/[§¦~]/gu, ''), ended), text, JSON.stringify(text));
    });

const endsIn = (text: string, start = 0, until = text.length): readonly number[] =>
  [...breaksIn(text, start, until, true)].map(({ end }) => end);

t.test('breaks are those whose end lies behind the start, and not behind the end', async (t) => {
  const text = 'One. Two. Three, four';
  t.strictSame(endsIn(text), [4, 9, 16]);
  t.strictSame(endsIn(text, 4, 16), [9, 16]);
  t.strictSame(endsIn(text, 3, 15), [4, 9]);
  t.strictSame(endsIn(text, 0, 4), [4]);
  t.strictSame(endsIn(text, 0, 3), []);
  t.strictSame(endsIn('"Yes." No', 0, 5), [], 'nor is one whose quotes lie behind it');
});

t.test('little is looked at, behind a mark and before it', async (t) => {
  const quotes = (count: number) => endsIn(`Yes.${'"'.repeat(count)} No`);
  t.strictSame([quotes(47), quotes(48), quotes(49)], [[51], [52], []]);
  t.strictSame(endsIn(`Yes${'.'.repeat(200)} No`), [203], 'a run of any length ends once');
  const blanks = (count: number) => endsIn(`yes\n${' '.repeat(count)}no`);
  t.strictSame([blanks(47), blanks(48)], [[], [3]]);
});
