/**
 * The default voice: each sentence of a text is spoken by the voice for its language. A sentence in Latin letters
 * changes the voice only if its words are surely of another language and a voice speaks that, or if it follows
 * another script and is longer than a name.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceError } from '../contracts/errors.js';
import { LIMITS } from '../contracts/limits.js';
import { type LanguageCode, scriptsOf } from '../contracts/speech/languages.js';
import { isTurnOver } from '../contracts/time/loop-turn.js';
import { languageByWords } from './text/language-words.js';
import { languagesIn, likelyLanguages, scriptsIn, type TextScripts } from './text/language.js';
import { isHeard } from './text/speakable.js';
import { breaksIn } from './text/text-breaks.js';
import { pastSpace } from './text/text-pieces.js';
import type { Piece } from './text/text-source.js';
import type { SelectedVoice, TextNeeds } from './voice-selection.js';

/** A piece, or the part of it that one voice speaks. */
export interface SpokenPart extends Piece {
  readonly selected: SelectedVoice;
}

/** Finds the voice for a text with these needs. Throws `language_unavailable`. */
export type VoiceFor = (needs: TextNeeds) => SelectedVoice;

export interface WholeText {
  readonly text: string;
  readonly scripts: TextScripts;
}

const LATIN_ALONE: TextScripts = new Set();
/** Fewer words in Latin letters among another script are a name. */
const SENTENCE_WORDS = 3;
/** Of a text in Latin letters this much tells its language. */
const TELLING_LENGTH = 2000;

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
const isLatin = (language: LanguageCode): boolean => scriptsOf(language).some((script) => script === 'Latin');
const isShort = (sentence: string): boolean => (sentence.match(/\p{L}+/gu)?.length ?? 0) < SENTENCE_WORDS;
const fits = (language: LanguageCode, scripts: TextScripts): boolean =>
  languagesIn(scripts).includes(language);
const isSame = (one: SelectedVoice | undefined, other: SelectedVoice): boolean =>
  one?.engine === other.engine && one.voice === other.voice && one.language === other.language;

/** The end of the sentence that begins at `start`, or of as much of it as is looked at in one piece. */
function sentenceEnd(text: string, start: number): number {
  const most = start + LIMITS.sentenceLength;
  if (most >= text.length) return firstEnd(text, start, text.length);
  return firstEnd(text, start, isLowSurrogate(text.charCodeAt(most)) ? most + 1 : most);
}

function firstEnd(text: string, start: number, until: number): number {
  for (const { end, kind } of breaksIn(text, start, until, true)) if (kind === 'sentence') return end;
  return until;
}

/** Where white space ends, or as much of it as is looked at in one piece. */
const spaceEnd = (text: string, start: number): number =>
  start + pastSpace(text.slice(start, start + LIMITS.sentenceLength), 0);

/** Without the white space between them; of mebibytes of it each piece is a sentence without words. */
function* sentencesOf(text: string): Generator<{ readonly sentence: string; readonly end: number }> {
  for (let start = 0; start < text.length;) {
    const begin = spaceEnd(text, start);
    const end = begin - start < LIMITS.sentenceLength ? sentenceEnd(text, begin) : begin;
    yield { sentence: text.slice(begin, end), end };
    start = end;
  }
}

export class CompositeVoice {
  readonly #voiceFor: VoiceFor;
  /** The language of text that does not indicate another. */
  readonly #likely: LanguageCode | undefined;
  readonly #whole: WholeText | undefined;
  /** The current piece, from which the language of Latin letters is guessed if the whole text is not known. */
  #context = '';
  #latin: SelectedVoice | undefined;
  #last: SelectedVoice | undefined;

  constructor(voiceFor: VoiceFor, likely?: LanguageCode, whole?: WholeText) {
    this.#voiceFor = voiceFor;
    this.#likely = likely;
    this.#whole = whole;
  }

  /** Divides a piece into parts of one voice each, in order. Throws `language_unavailable`. */
  *partsOf({ text, at, goesOn }: Piece): Generator<SpokenPart> {
    this.#context = text;
    let from = 0;
    let until = 0;
    let speaking: SelectedVoice | undefined;
    const part = (selected: SelectedVoice): SpokenPart => {
      const start = pastSpace(text, from);
      const within = start === 0 ? goesOn === true : !/[\n\r]/u.test(text.slice(from, start));
      return {
        text: text.slice(start, until).trimEnd(),
        at: at + start,
        selected,
        ...(within && { goesOn: true }),
      };
    };
    for (const { sentence, end } of sentencesOf(text)) {
      const selected = isHeard(sentence) ? this.voiceOf(sentence) : speaking;
      if (selected && speaking && !isSame(speaking, selected)) {
        yield part(speaking);
        from = until;
      }
      speaking = selected ?? speaking;
      until = end;
    }
    yield part(speaking ?? this.#last ?? this.voiceOf(text));
  }

  /** The voice for the next sentence. Throws `language_unavailable`. */
  voiceOf(sentence: string): SelectedVoice {
    const scripts = scriptsIn(sentence);
    this.#last = scripts.size > 0 ? this.#ofScripts(scripts) : this.#ofWords(sentence);
    return this.#last;
  }

  /** The voice for a whole text in which nothing is spoken. Throws `language_unavailable`. */
  voiceOfWhole({ text, scripts }: WholeText): SelectedVoice {
    return scripts.size > 0 ? this.#ofScripts(scripts) : this.#ofWords(text.slice(0, TELLING_LENGTH));
  }

  /** Refuses a whole text if any sentence cannot be spoken. Errors: `language_unavailable`; the reason of an abort. */
  async check(signal: AbortSignal): Promise<void> {
    if (!this.#whole) return;
    const { text, scripts } = this.#whole;
    const other = new CompositeVoice(this.#voiceFor, this.#likely, this.#whole);
    if (scripts.size === 0) other.#ofWords(text.slice(0, TELLING_LENGTH));
    else await other.#findAll(text, signal);
    // Chosen from the whole text, so it is the same for every sentence.
    this.#latin = other.#latin;
  }

  /** One sentence for all in the same scripts: whether a voice reads those is all that a text may fail for. */
  async #findAll(text: string, signal: AbortSignal): Promise<void> {
    const found = new Set<string>();
    for (const { sentence } of sentencesOf(text)) {
      const scripts = [...scriptsIn(sentence)].toSorted().join();
      if (!found.has(scripts) && isHeard(sentence)) {
        this.voiceOf(sentence);
        found.add(scripts);
      }
      if (!isTurnOver()) continue;
      await nextTurn();
      signal.throwIfAborted();
    }
  }

  /** Prefers the languages of the whole text and of the sentence before: Han alone is Japanese if there are kana around it. */
  #ofScripts(scripts: TextScripts): SelectedVoice {
    const around = [this.#likely, ...languagesIn(this.#whole?.scripts ?? LATIN_ALONE), this.#last?.language];
    const known = around.filter((language) => language !== undefined && fits(language, scripts));
    const languages = [...new Set([...(known as LanguageCode[]), ...languagesIn(scripts)])];
    return this.#voiceFor({ scripts, languages, sure: false });
  }

  #ofWords(sentence: string): SelectedVoice {
    const before = this.#last?.language ?? this.#likely;
    if (before !== undefined && !isLatin(before) && isShort(sentence))
      return this.#last ?? this.#voiceFor({ scripts: LATIN_ALONE, languages: [before], sure: true });
    const told = languageByWords(sentence);
    const known = told?.sure && this.#tried({ scripts: LATIN_ALONE, languages: [told.language], sure: true });
    if (known) return known;
    this.#latin ??= this.#tried(this.#latinNeeds(sentence));
    return this.#latin ?? this.#last ?? this.#voiceFor(this.#wholeNeeds(sentence));
  }

  #latinNeeds(sentence: string): TextNeeds {
    const told = likelyLanguages(this.#whole?.text ?? (this.#context || sentence), LATIN_ALONE);
    const needs = { ...told, scripts: LATIN_ALONE };
    const likely = this.#likely;
    if (told.sure || likely === undefined || !isLatin(likely)) return needs;
    return { ...needs, languages: [...new Set([likely, ...told.languages])] };
  }

  #wholeNeeds(sentence: string): TextNeeds {
    const { text, scripts } = this.#whole ?? { text: sentence, scripts: LATIN_ALONE };
    return { scripts, ...likelyLanguages(text, scripts) };
  }

  #tried(needs: TextNeeds): SelectedVoice | undefined {
    try {
      return this.#voiceFor(needs);
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'language_unavailable') return undefined;
      throw error;
    }
  }
}
