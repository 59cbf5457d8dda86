/**
 * Last words of a transcript, by language, and what they say about its end. A word is classed by its use in most
 * sentences: an article ends none; "is" or "that" end some, so they leave the end open; "for" ends only those in which
 * an earlier word calls for it ("what is it for").
 */
import type { Language } from '../../../contracts/speech/languages.js';

interface LastWords {
  /** No sentence ends with these, even if the recogniser adds a full stop; includes sounds of hesitation. */
  readonly dangling: ReadonlySet<string>;
  /** A sentence may end with these, but often continues. */
  readonly doubtful: ReadonlySet<string>;
  /** Whole replies, or their ends. */
  readonly closing: ReadonlySet<string>;
  /** Doubtful if one of `wanting` comes earlier; otherwise no sentence ends with these. */
  readonly stranded: ReadonlySet<string>;
  readonly wanting: ReadonlySet<string>;
}

const words = (text: string): ReadonlySet<string> => new Set(text === '' ? [] : text.split(' '));

const row = (
  dangling: string,
  doubtful: string,
  closing: string,
  stranded = '',
  wanting = '',
): LastWords => ({
  dangling: words(dangling),
  doubtful: words(doubtful),
  closing: words(closing),
  stranded: words(stranded),
  wanting: words(wanting),
});

export const LAST_WORDS: Readonly<Record<Language, LastWords>> = {
  en: row(
    'a an the and or but because if whether unless until than every my your our their um uh er erm of into',
    'it that which who this these those in on by as is are was were am be been have has had ' +
      'do does can could will would should might i we you he she they his her its not so like well hmm hm then just also ' +
      'next after before since through near under thats theres hes shes maybe zero one two three four five six seven eight nine ten',
    'please thanks thank bye goodbye yes no yeah nope okay',
    'to for with from at about',
    'what who whom whose which where when how that to nothing something anything thing one',
  ),
  es: row(
    'el las los un una unos unas y e o pero porque que con de del al a para por en mi tu eh em cuyo',
    'la lo su si es está son este esta pues como más muy no hay uno dos tres cuatro cinco seis siete ocho nueve cero',
    'gracias adiós sí vale favor',
  ),
  fr: row(
    'le les un une des du de et ou mais parce que dans au aux par en mon ma mes ton ta tes votre notre euh ben à',
    'la si qui avec pour sur est sont suis ai ce se donc alors pas plus comme deux trois quatre cinq six sept huit neuf',
    'merci oui non revoir daccord plaît',
  ),
  de: row(
    'und aber weil wenn dass denn von für mein dein sein unser der äh ähm öh',
    'die das dem den ein eine einen einer mit zu an in auf aus ab vor oder ist sind war habe hat ich wir also so dann ' +
      'nicht null eins zwei drei vier fünf sechs sieben acht neun',
    'danke bitte ja nein tschüss wiederhören genau',
  ),
  ja: row(
    'を が は に と で えっと えーと あの その それで でも だから',
    'の けど から て し も ね',
    'です ます ました ません ですか ますか ましたか ませんか でしょうか ください お願いします はい いいえ',
  ),
  zh: row(
    '和 跟 但是 因为 如果 所以 或者 那个 把 被',
    '的 就是 嗯 呢 在 是 有',
    '谢谢 再见 好的 是的 不是 了 吗 吧',
  ),
  ko: row(
    '그리고 하지만 그래서 그런데 왜냐하면 음 어 그 저',
    '네 제가 저는 는데 일 이 삼 사 오 육 칠 팔 구 영',
    '요 니다 습니까 입니까 감사합니다 아니요 주세요',
  ),
};
