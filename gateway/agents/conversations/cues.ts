/**
 * Cues for the delivery in what an agent's model writes, `[laughing]`: for voices whose engines know them
 * (docs/contract/platform.md 6.3, `voice.expressive`). They are given to the voice, and are no part of what was said: captions, record
 * and the model's own history have none.
 */
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import type { Speech, SpeechOptions } from '../../../contracts/ports/speech/speech.js';

/** Those that the model is offered. Engines know each as a style tag (engines/text/style-tags.ts). */
export const CUES = [
  ...['happy', 'excited', 'calm', 'curious', 'surprised', 'serious', 'confident', 'empathetic', 'sad'],
  ...['hesitating', 'grateful', 'soft tone', 'whispering', 'laughing', 'chuckling', 'sighing'],
  ...['clearing throat', 'short pause', 'long pause'],
] as const;

/** Most characters within the brackets of a cue. */
const MOST = 40;
/** In square brackets anything in words is one, as models make some up, but no link; in round ones those that are offered. */
const CUE = new RegExp(
  String.raw`\[[\p{L}][\p{L}\p{M}' -]{1,${MOST - 1}}\](?!\()|\((?:${CUES.join('|')})\)`,
  'giu',
);
/** The beginning of one at the end of a text, or one behind which a link's address may follow. */
const OPEN = new RegExp(
  String.raw`(?:\[[^[\]\n]{0,${MOST}}(?:\](?:\([^()\n]{0,${MOST}})?)?|\([^()\n]{0,${MOST}})$`,
  'u',
);
const KNOWN: ReadonlySet<string> = new Set(CUES);

const SPACES = /^\s+/u;
const BLANK = /^\s?$/u;

/** A part of a text for the voice, and what of it is text. */
export interface CuedPart {
  readonly spoken: string;
  readonly written: string;
}

/** A text that arrives in parts. */
export class CuedText {
  /** The end of what has arrived, which more text decides about. */
  #held = '';
  /** Length of what was given to the voice. */
  #spoken = 0;
  /** The last character of what is text. */
  #last = '';
  /** A cue was left out, and a space before it: none is needed behind it. */
  #gap = false;
  /** What of the spoken text is no text, by its place in that. */
  readonly #leftOut: { readonly at: number; readonly length: number }[] = [];

  add(text: string): CuedPart {
    const all = this.#held + text;
    const end = OPEN.exec(all)?.index ?? all.length;
    this.#held = all.slice(end);
    return this.#decided(all.slice(0, end));
  }

  /** What is still held, as no more text comes for now. */
  rest(): CuedPart {
    const all = this.#held;
    this.#held = '';
    return this.#decided(all);
  }

  /** How much of the text that many characters of what was spoken are. */
  writtenAt(spoken: number): number {
    const out = this.#leftOut.map(({ at, length }) => Math.min(length, Math.max(0, spoken - at)));
    return spoken - out.reduce((sum, length) => sum + length, 0);
  }

  #decided(text: string): CuedPart {
    const part = { spoken: '', written: '' };
    let from = 0;
    for (const { 0: cue, index } of text.matchAll(CUE)) {
      this.#text(text.slice(from, index), part);
      this.#cue(cue, part);
      from = index + cue.length;
    }
    this.#text(text.slice(from), part);
    return part;
  }

  #text(text: string, part: { spoken: string; written: string }): void {
    if (text === '') return;
    const spaces = this.#gap ? (SPACES.exec(text)?.[0] ?? '') : '';
    this.#leave(spaces.length);
    this.#gap &&= spaces.length === text.length;
    const written = text.slice(spaces.length);
    this.#spoken += written.length;
    this.#last = written.at(-1) ?? this.#last;
    part.spoken += text;
    part.written += written;
  }

  /** One that no engine knows is left out for the voice, too: it would read it aloud. */
  #cue(cue: string, part: { spoken: string }): void {
    this.#gap = BLANK.test(this.#last);
    if (!KNOWN.has(cue.slice(1, -1).toLowerCase())) return;
    part.spoken += cue;
    this.#leave(cue.length);
  }

  #leave(length: number): void {
    if (length > 0) this.#leftOut.push({ at: this.#spoken, length });
    this.#spoken += length;
  }
}

/** A whole text without its cues. */
export function withoutCues(text: string): string {
  const cued = new CuedText();
  return cued.add(text).written + cued.rest().written;
}

/** Whether the engine of that voice follows cues; false if it cannot be told. */
export async function followsCues(
  speech: Pick<Speech, 'checkVoice'>,
  { model, voice, likelyLanguage: language }: SpeechOptions,
  caller: Pick<Caller, 'workspaceId'>,
): Promise<boolean> {
  try {
    const wish = { model, voice, ...(language !== undefined && { language }) };
    return (await speech.checkVoice(wish, caller)).styleTags;
  } catch {
    return false;
  }
}
