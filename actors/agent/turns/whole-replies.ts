/**
 * Whole replies, by language: words that answer a question and call for none after them. A turn of nothing else is complete, or,
 * if it only greets, likely to be, whatever sign the recogniser puts behind it: of a short word it often makes "No,".
 */
import type { Language } from '../../../contracts/speech/languages.js';
import { wordsOf } from './interruption.js';

interface Replies {
  /** The answer itself. */
  readonly answers: ReadonlySet<string>;
  /** A greeting: a request often follows, but an answer is owed anyway. */
  readonly greetings: ReadonlySet<string>;
}

/** Phrases, separated by commas; without apostrophes and hyphens, which do not count. */
const row = (answers: string, greetings: string): Replies => ({
  answers: phrases(answers),
  greetings: phrases(greetings),
});

/** Joined without spaces, as in languages that have none. */
const unspaced = (text: string): string => wordsOf(text).join('');
const phrases = (text: string): ReadonlySet<string> => new Set(text.split(', ').map(unspaced));

const replies = (): Readonly<Record<Language, Replies>> => ({
  en: row(
    'yes, yeah, yep, yup, no, nope, nah, okay, ok, sure, correct, right, wrong, exactly, precisely, absolutely, definitely, ' +
      'certainly, indeed, of course, fine, good, great, perfect, excellent, wonderful, cool, alright, all right, agreed, ' +
      'true, false, understood, got it, thats it, thats all, thats right, thats correct, thats fine, thats good, never mind, ' +
      'not really, please, thanks, thank you, bye, goodbye, bye bye, ' +
      'nothing, none, neither, both, never, always, sir, madam, maam, very much, so much',
    'hi, hello, hey, hi there, hello there, good morning, good afternoon, good evening',
  ),
  es: row(
    'sí, no, vale, claro, correcto, exacto, exactamente, perfecto, bien, muy bien, de acuerdo, por supuesto, cierto, ' +
      'desde luego, entendido, eso es, eso es todo, nada, nada más, ninguno, ninguna, nunca, gracias, muchas gracias, por favor, adiós, hasta luego',
    'hola, buenos días, buenas tardes, buenas noches, buenas',
  ),
  fr: row(
    'oui, ouais, non, si, daccord, bien sûr, exact, exactement, correct, parfait, très bien, bien, tout à fait, absolument, ' +
      'cest ça, cest bon, cest tout, entendu, compris, voilà, rien, aucun, aucune, jamais, merci, merci beaucoup, ' +
      'sil vous plaît, sil te plaît, au revoir, pas vraiment, madame, monsieur',
    'bonjour, bonsoir, salut, allô',
  ),
  de: row(
    'ja, nein, doch, nee, okay, ok, genau, richtig, stimmt, korrekt, falsch, klar, natürlich, sicher, gut, sehr gut, prima, ' +
      'perfekt, gerne, gern, in ordnung, einverstanden, verstanden, alles klar, auf jeden fall, das ist alles, das wars, nichts, keine, ' +
      'keiner, nie, danke, vielen dank, danke schön, bitte, tschüss, auf wiederhören, auf wiedersehen',
    'hallo, guten tag, guten morgen, guten abend, moin, servus, grüß gott',
  ),
  ja: row(
    'はい, いいえ, うん, ううん, ええ, いや, そう, そうです, 違います, わかりました, 大丈夫, 大丈夫です, 結構です, オーケー, 了解, ' +
      '了解です, もちろん, もちろんです, お願いします, ありがとう, ありがとうございます, 以上です, 特にありません, ないです, さようなら',
    'もしもし, こんにちは, おはようございます, こんばんは',
  ),
  zh: row(
    '是, 是的, 不是, 对, 对的, 不对, 好, 好的, 好吧, 行, 可以, 不行, 不可以, 没错, 正确, 当然, 没有, 有, 没了, 不用, 不用了, 不要, 要, ' +
      '明白, 明白了, 知道了, 谢谢, 谢谢你, 谢谢您, 再见, 请, 就这些',
    '喂, 你好, 您好, 早上好, 下午好, 晚上好',
  ),
  ko: row(
    '네, 예, 응, 아니, 아니요, 아뇨, 맞아요, 맞습니다, 그래요, 그렇습니다, 좋아요, 좋습니다, 괜찮아요, 괜찮습니다, 알겠어요, 알겠습니다, ' +
      '물론이죠, 물론입니다, 없어요, 없습니다, 있어요, 감사합니다, 고맙습니다, 부탁합니다, 부탁드립니다, 안녕히 계세요',
    '여보세요, 안녕하세요, 안녕하십니까',
  ),
});
let made: ReturnType<typeof replies> | undefined;
/** Made at first use: segmenting them takes milliseconds, and most processes that load this never need them. */
const known = (): ReturnType<typeof replies> => (made ??= replies());

/** Most words of a reply that consists of such phrases. */
const MOST_WORDS = 8;
/** Most words of one phrase. */
const MOST_IN_PHRASE = 6;

/** How many words of the phrase with which the words begin; 0 if there is none. The longest counts. */
function phraseAt(words: readonly string[], isPhrase: (text: string) => boolean): number {
  for (let length = Math.min(MOST_IN_PHRASE, words.length); length > 0; length -= 1)
    if (isPhrase(words.slice(0, length).join(''))) return length;
  return 0;
}

/** Whether the words are phrases of that kind from end to end. */
function consistsOf(words: readonly string[], isPhrase: (text: string) => boolean): boolean {
  for (let at = 0; at < words.length;) {
    const length = phraseAt(words.slice(at), isPhrase);
    if (length === 0) return false;
    at += length;
  }
  return true;
}

/** Whether the turn consists of whole replies only, or of these and greetings; undefined if it has anything else. */
export function wholeReply(text: string, language: Language): 'answer' | 'greeting' | undefined {
  const words = wordsOf(text);
  if (words.length === 0 || words.length > MOST_WORDS) return undefined;
  const { answers, greetings } = known()[language];
  if (consistsOf(words, (phrase) => answers.has(phrase))) return 'answer';
  const isEither = (phrase: string): boolean => answers.has(phrase) || greetings.has(phrase);
  return consistsOf(words, isEither) ? 'greeting' : undefined;
}
