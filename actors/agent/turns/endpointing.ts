/**
 * Endpointing: how long a silence ends the user's turn, by `eagerness` and by how complete its transcript is.
 *
 * Constants: people leave 200 ms between turns on average and pause 500 to 1,000 ms inside one while they think
 * (Levinson and Torreira 2015); the voice activity detector has already seen 250 ms of silence when we hear of it.
 */
import type { Eagerness } from '../settings.js';

/** `complete`: could end here; `open`: cannot tell; `unfinished`: ends on a word that wants another. */
export type TurnCompleteness = 'complete' | 'open' | 'unfinished';

/** Endpointing delay: milliseconds of silence after the detector's own, longer the less complete a turn is. */
export const ENDPOINTING_MS: Readonly<Record<Eagerness, Readonly<Record<TurnCompleteness, number>>>> = {
  eager: { complete: 150, open: 400, unfinished: 900 },
  balanced: { complete: 350, open: 800, unfinished: 1600 },
  relaxed: { complete: 800, open: 1600, unfinished: 2600 },
};

/** Words that a sentence hardly ends with, and sounds of somebody who is still thinking. */
const TRAILING: Readonly<Record<string, readonly string[]>> = {
  en: (
    'a an the and or but so because if that which who with to of for from in on at by as is are was were am ' +
    'my your his her our their this these i we it um uh er erm hmm like well'
  ).split(' '),
  es: 'el la los las un una y o pero porque si que con de del a al para por en mi tu su es eh este pues'.split(
    ' ',
  ),
  fr: 'le la les un une et ou mais parce si que qui avec de du des à au pour par en mon ma est euh ben donc'.split(
    ' ',
  ),
  de: 'der die das ein eine und oder aber weil wenn dass mit von zu für in an auf mein dein ist äh ähm also'.split(
    ' ',
  ),
  ja: ['が', 'を', 'に', 'は', 'と', 'で', 'の', 'けど', 'から', 'えっと', 'あの'],
  zh: ['的', '和', '但是', '因为', '如果', '那个', '嗯', '就是'],
  ko: ['그리고', '하지만', '그래서', '음', '어', '그'],
};

/** Japanese and Chinese do not part words by blanks. */
const UNPARTED = new Set(['ja', 'zh']);
const SENTENCE_END = /[.!?。！？]["'”’)\]]*$/u;
const TRAILING_OFF = /(\.\.\.|…|[,;:、，—-])$/u;

function endsOnTrailingWord(text: string, language: string): boolean {
  const words = TRAILING[language] ?? [];
  const bare = text.toLowerCase().replace(/[\p{P}\s]+$/u, '');
  if (UNPARTED.has(language)) return words.some((word) => bare.endsWith(word));
  return words.includes(bare.split(/\s+/).at(-1) ?? '');
}

/** How complete a turn with this transcript is. Recognisers end most pieces with a full stop, so words go first. */
export function completenessOf(text: string, language: string): TurnCompleteness {
  const trimmed = text.trim();
  if (TRAILING_OFF.test(trimmed)) return 'unfinished';
  if (/[?？]$/u.test(trimmed)) return 'complete';
  if (endsOnTrailingWord(trimmed, language)) return 'unfinished';
  return SENTENCE_END.test(trimmed) ? 'complete' : 'open';
}
