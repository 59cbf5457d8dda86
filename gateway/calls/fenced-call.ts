/**
 * A call whose owner may act for it only while its node's tenure holds (contracts/time/tenure.ts): otherwise nothing of the
 * agent leaves, and its playout is paused; it resumes from there, or never.
 */
import type { Call, CallEvent, TranscriptText } from '../../contracts/ports/calls/calls.js';
import type { Held, TenureState } from '../../contracts/ports/calls/nodes.js';

/** Most waiting commands of a paused call; one with more is out of step with its user in any case. */
const MOST_WAITING = 4096;

export class FencedCall implements Call {
  readonly events: AsyncIterable<CallEvent>;
  /** Commands that wait; undefined while the call runs. */
  #waiting: (() => void)[] | undefined;
  /** Producers of more speech, which wait, too. */
  #makers: ((goes: boolean) => void)[] = [];
  /** Whether its conversation has paused it. */
  #paused = false;
  readonly #leave: () => void;

  constructor(
    private readonly call: Call,
    private readonly held: Held,
  ) {
    this.events = call.events;
    this.#leave = held.onChange((state) => this.#change(state));
    if (!held.holds) this.#stop();
  }

  play(utterance: number, samples: Int16Array): Promise<void> {
    if (this.#goesOn) return this.call.play(utterance, samples);
    return this.#going().then((goes) => (goes ? this.call.play(utterance, samples) : undefined));
  }

  finish(utterance: number): void {
    this.#do(() => this.call.finish(utterance));
  }

  pause(): void {
    this.#paused = true;
    if (this.#goesOn) this.call.pause();
  }

  resume(): void {
    this.#paused = false;
    if (this.#goesOn) this.call.resume();
  }

  clear(): void {
    this.#paused = false;
    this.#do(() => this.call.clear());
  }

  send(topic: string, payload: Uint8Array): void {
    this.#do(() => this.call.send(topic, payload));
  }

  show(text: TranscriptText): void {
    this.#do(() => this.call.show(text));
  }

  attributes(values: Readonly<Record<string, string>>): void {
    this.#do(() => this.call.attributes(values));
  }

  end(): void {
    this.#leave();
    this.#waiting?.splice(0);
    for (const resolve of this.#makers.splice(0)) resolve(false);
    this.call.end();
  }

  /** Asks the clock, and so notices by itself that the process was frozen for too long. */
  get #goesOn(): boolean {
    return this.held.holds && this.#waiting === undefined;
  }

  /** Resolves to true when the call resumes, false if it never does. */
  #going(): Promise<boolean> {
    return new Promise((resolve) => this.#makers.push(resolve));
  }

  #do(command: () => void): void {
    if (this.#goesOn) command();
    else this.#later(command);
  }

  #later(command: () => void): void {
    if (this.#waiting && this.#waiting.length < MOST_WAITING) this.#waiting.push(command);
  }

  #change(state: TenureState): void {
    if (state === 'held') this.#goOn();
    else this.#stop();
  }

  #stop(): void {
    if (this.#waiting) return;
    this.#waiting = [];
    this.call.pause();
  }

  #goOn(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const command of waiting) command();
    for (const resolve of this.#makers.splice(0)) resolve(true);
    if (this.#paused) this.call.pause();
    else this.call.resume();
  }
}
