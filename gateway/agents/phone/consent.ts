/** Decides whether an answer means yes or no, in the languages of agents; the keys are 1 and 2. */
import type { Language } from '../../../contracts/speech/languages.js';

type Answer = 'yes' | 'no';

/** Whole words; in languages written without spaces, texts found anywhere, except for single characters. */
const WORDS: Readonly<Record<Language, Readonly<Record<Answer, readonly string[]>>>> = {
  en: {
    yes: [
      'yes',
      'yeah',
      'yep',
      'yup',
      'sure',
      'okay',
      'ok',
      'of course',
      'go ahead',
      'put them through',
      'no problem',
    ],
    no: ['no', 'nope', 'not now', 'cannot', "can't", 'busy', 'later', "don't"],
  },
  es: {
    yes: ['sí', 'si', 'claro', 'vale', 'de acuerdo', 'por supuesto', 'adelante'],
    no: ['no', 'ahora no', 'imposible'],
  },
  fr: {
    yes: ['oui', 'ouais', 'd’accord', "d'accord", 'bien sûr', 'volontiers'],
    no: ['non', 'pas maintenant', 'impossible'],
  },
  de: {
    yes: ['ja', 'klar', 'gerne', 'gern', 'okay', 'ok', 'in ordnung', 'natürlich', 'kein problem'],
    no: ['nein', 'nicht', 'nö', 'keine zeit', 'später'],
  },
  ja: {
    yes: ['はい', 'ええ', 'お願いします', '受けます'],
    no: ['いいえ', '無理', 'できません', '出られません'],
  },
  zh: {
    yes: ['是', '是的', '好', '好的', '好吧', '可以', '接通', '没问题'],
    no: ['不', '不行', '不要', '不用', '不能', '不接', '不可以', '没空', '没有时间'],
  },
  ko: { yes: ['네', '예', '좋아요', '받을게요'], no: ['아니', '안 돼', '안돼', '못 받'] },
};

/** The keys, if they are said. A number is an answer only by itself: "one moment" and "un instant" are none. */
const NUMBERS: Readonly<Record<string, Answer>> = {
  1: 'yes',
  one: 'yes',
  uno: 'yes',
  un: 'yes',
  eins: 'yes',
  2: 'no',
  two: 'no',
  dos: 'no',
  deux: 'no',
  zwei: 'no',
};

/** Texts that mean yes although they contain a word for no. */
const ASSENT: Readonly<Partial<Record<Language, readonly string[]>>> = {
  en: ['no problem'],
  de: ['kein problem'],
  zh: ['没问题'],
};

const UNSPACED: ReadonlySet<Language> = new Set(['ja', 'zh', 'ko']);

/** Undefined if it is neither. */
export function consentOf(text: string, language: Language): Answer | undefined {
  const said = (text.toLowerCase().match(/[\p{L}\p{M}\p{N}'’]+/gu) ?? []).join(' ');
  const plain = ` ${said} `;
  const says = (words: readonly string[]): boolean =>
    words.some((word) => plain.includes(word.length > 1 && UNSPACED.has(language) ? word : ` ${word} `));
  const { yes, no } = WORDS[language];
  if (says(ASSENT[language] ?? [])) return 'yes';
  if (says(no)) return 'no';
  if (says(yes)) return 'yes';
  return Object.hasOwn(NUMBERS, said) ? NUMBERS[said] : undefined;
}

export const consentByKeys = (keys: string): Answer | undefined =>
  ({ 1: 'yes', 2: 'no' })[keys[0] ?? ''] as Answer | undefined;
