/**
 * The last words of a user who has hung up, where their transcripts arrive after the end of the call: they are recorded, and not
 * answered. A voice without words leaves a mark, and so does one whose transcript does not come in time.
 */
import type { OwedVoice } from '../../../actors/agent/turns/stretches.js';
import { TIMES } from '../../../actors/agent/times.js';
import { UNCLEAR } from '../../../contracts/text/unclear.js';
import type { HeardStretch } from './listening/heard-stretch.js';

/** How long the record waits for them. */
export const LAST_WORDS_MS = 3000;

export class LastWords {
  readonly #owed = new Set<number>();
  #last = '';

  /** `record`: adds a message of the user. */
  constructor(private readonly record: (text: string) => void) {}

  /** The voices whose transcripts are owed at the end of the call, at `now` in milliseconds of the clock; a short one is a cough. */
  owe(voices: readonly OwedVoice[], now: number): void {
    for (const { span, from, voicedMs } of voices)
      if ((voicedMs || now - from + TIMES.noticedMs) >= TIMES.unclearMs) this.#owed.add(span);
  }

  heard({ span, text, final, echo }: HeardStretch & { readonly echo?: true }): void {
    if (!final) return;
    const isUnclear = this.#owed.delete(span) && text === '' && !echo;
    this.#add(isUnclear ? UNCLEAR : text);
  }

  /** No more transcripts come. */
  close(): void {
    if (this.#owed.size > 0) this.#add(UNCLEAR);
    this.#owed.clear();
  }

  /** Marks in a row are one. */
  #add(text: string): void {
    if (text === '' || (text === UNCLEAR && this.#last === UNCLEAR)) return;
    this.#last = text;
    this.record(text);
  }
}
