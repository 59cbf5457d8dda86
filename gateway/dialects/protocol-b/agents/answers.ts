/**
 * What the agent says, for its client: the audio as the call sends it, a little ahead of real time; the text of an answer with its first
 * sound; and what of that was heard after all.
 *
 * Invariants: an answer is told once its sound begins, so a draft that is never heard is not told; audio of an answer that was cleared is
 * not passed on; behind an answer that was cut off, the client knows what was heard of each of its texts.
 */
import { agentResponseFrame, audioFrame, correctionFrame, interruptionFrame } from './server-frames.js';

/** An answer that is heard. */
interface Heard {
  readonly utterance: number;
  readonly eventId: number;
  /** The texts of it that the client was told. */
  readonly texts: string[];
  /** The words of it that were heard. */
  words: string;
  isCut: boolean;
}

const squeezed = (text: string): string => text.replaceAll(/\s+/gu, ' ').trim();

export class Answers {
  /** Texts of answers of which nothing was sent yet. */
  readonly #written = new Map<number, string[]>();
  #now: Heard | undefined;
  /** The last answer that is over: audio of it is late. */
  #over = 0;

  constructor(
    private readonly send: (frame: string) => void,
    private readonly nextId: () => number,
    /** Whether the client wants no audio. */
    private readonly isMute: () => boolean,
  ) {}

  written(utterance: number, text: string): void {
    if (utterance <= this.#over) return;
    if (this.#now?.utterance === utterance) return this.#tell(this.#now, text);
    this.#written.set(utterance, [...(this.#written.get(utterance) ?? []), text]);
  }

  #tell(now: Heard, text: string): void {
    now.texts.push(text);
    this.send(agentResponseFrame(text.trim(), now.eventId));
  }

  /** A frame of 20 ms. Silence and soft ends belong to what was said before them. */
  audio(bytes: Uint8Array, utterance: number | undefined): void {
    const now = utterance === undefined ? this.#now : this.#answerOf(utterance);
    if (!now || now.isCut || this.isMute()) return;
    this.send(audioFrame(bytes, now.eventId));
  }

  /** Undefined if that answer is over. */
  #answerOf(utterance: number): Heard | undefined {
    if (this.#now?.utterance === utterance) return this.#now;
    if (utterance <= this.#over) return undefined;
    this.end();
    const now: Heard = { utterance, eventId: this.nextId(), texts: [], words: '', isCut: false };
    this.#now = now;
    for (const text of this.#written.get(utterance) ?? []) this.#tell(now, text);
    for (const earlier of this.#written.keys()) if (earlier <= utterance) this.#written.delete(earlier);
    return now;
  }

  /** Words of the agent that are heard now. */
  words(text: string): void {
    if (this.#now) this.#now.words += text;
  }

  /** What was not heard yet is dropped. */
  cleared(): void {
    if (!this.#now || this.#now.isCut) return;
    this.#now.isCut = true;
    this.send(interruptionFrame(this.#now.eventId));
  }

  heard(utterance: number): void {
    if (this.#now?.utterance === utterance) this.end();
  }

  /** The answer is over. */
  end(): void {
    const now = this.#now;
    if (!now) return;
    this.#now = undefined;
    this.#over = Math.max(this.#over, now.utterance);
    const words = squeezed(now.words);
    if (now.texts.length === 0 && words !== '') return this.send(agentResponseFrame(words, now.eventId));
    this.#correct(now, words);
  }

  /** Texts that were heard whole need no correction; what else was heard is of the first of the others. */
  #correct({ texts, eventId }: Heard, words: string): void {
    let rest = words;
    const cut = texts.filter((text) => {
      const at = rest.indexOf(squeezed(text));
      if (at < 0) return true;
      rest = squeezed(`${rest.slice(0, at)} ${rest.slice(at + squeezed(text).length)}`);
      return false;
    });
    for (const [at, text] of cut.entries())
      this.send(correctionFrame(text.trim(), at === 0 ? rest : '', eventId));
  }
}
