/**
 * The words of a text as they are kept and looked up: stems of the language's dictionary, without accents, since callers'
 * words may have been written without. What is written without spaces is kept in pairs of neighbouring characters, and
 * each Chinese character by itself.
 */
import type { Fragment, Sql, Transaction } from '../postgres/sql.js';

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]+/gu;
const IDEOGRAM = /\p{Script=Han}/u;

const pairsIn = (signs: readonly string[]): string[] =>
  signs.slice(1).map((sign, index) => `${signs[index]}${sign}`);

function pairs(run: string): string {
  const signs = [...run];
  return ` ${(signs.length > 1 ? pairsIn(signs) : signs).join(' ')} `;
}

function grams(run: string): string {
  const signs = [...run];
  const single = signs.length > 1 ? signs.filter((sign) => IDEOGRAM.test(sign)) : signs;
  return ` ${[...pairsIn(signs), ...single].join(' ')} `;
}

/** The words of what was said in a call, whose language nobody knows: without accents, and unspaced writing in pairs alone. */
export const wordsOf = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .replace(UNSPACED, pairs);

/** A text as the dictionaries read it, which know accents; in small letters, since a database of the locale `C` knows ASCII's alone. */
export const spacedOf = (text: string): string =>
  text.normalize('NFKC').toLowerCase().replace(UNSPACED, grams);

const FIRST_ACCENTED = 0xc0;
const LAST_ACCENTED = 0x17f;

/** Each Latin letter with an accent, and the letter without: two texts of the same length. */
function accents(): readonly [accented: string, plain: string] {
  const codes = Array.from(
    { length: LAST_ACCENTED - FIRST_ACCENTED + 1 },
    (_, index) => FIRST_ACCENTED + index,
  );
  const pairs = codes.flatMap((code) => {
    const letter = String.fromCharCode(code);
    const [plain = '', ...marks] = letter.normalize('NFD');
    return marks.length > 0 ? [[letter, plain] as const] : [];
  });
  return [pairs.map(([letter]) => letter).join(''), pairs.map(([, plain]) => plain).join('')];
}

const [ACCENTED, PLAIN] = accents();

/** A text of Postgres without accents. */
export const plain = (sql: Sql | Transaction, text: Fragment) =>
  sql`translate(${text}, ${ACCENTED}, ${PLAIN})`;

/** The words of a text by a configuration of Postgres, as they are kept. */
export const terms = (sql: Sql | Transaction, configuration: string, words: Fragment) =>
  sql`${plain(sql, sql`to_tsvector(${configuration}::regconfig, ${words})::text`)}::tsvector`;
