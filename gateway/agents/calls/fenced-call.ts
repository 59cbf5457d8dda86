/**
 * A call whose owner may act for it only while its node holds its lease (contracts/time/node-lease.ts): otherwise nothing of the
 * agent leaves, and its playout is paused; it resumes from there, or never.
 */
import type { Call, CallEvent, TranscriptText } from '../../../contracts/ports/calls/calls.js';
import type { HeldLease, NodeLeaseState } from '../../../contracts/ports/calls/nodes.js';

/** Most waiting commands of a paused call; one with more is out of step with its user in any case. */
const MOST_WAITING = 4096;

export class FencedCall implements Call {
  readonly events: AsyncIterable<CallEvent>;
  readonly correctable: boolean;
  /** Commands that wait; undefined while the call runs. */
  #waiting: (() => void)[] | undefined;
  /** Producers of more speech, which wait, too. */
  #makers: ((goes: boolean) => void)[] = [];
  /** Whether its conversation has paused it. */
  #paused = false;
  readonly #leave: () => void;

  constructor(
    private readonly call: Call,
    private readonly held: HeldLease,
  ) {
    this.events = call.events;
    this.correctable = call.correctable === true;
    this.#leave = held.onChange((state) => this.#change(state));
    if (!held.holds) this.#stop();
  }

  playSpeech(utterance: number, samples: Int16Array): Promise<void> {
    if (this.#goesOn) return this.call.playSpeech(utterance, samples);
    return this.#going().then((goes) => (goes ? this.call.playSpeech(utterance, samples) : undefined));
  }

  finishUtterance(utterance: number): void {
    this.#do(() => this.call.finishUtterance(utterance));
  }

  pauseSpeech(): void {
    this.#paused = true;
    if (this.#goesOn) this.call.pauseSpeech();
  }

  resumeSpeech(): void {
    this.#paused = false;
    if (this.#goesOn) this.call.resumeSpeech();
  }

  clearSpeech(): void {
    this.#paused = false;
    this.#do(() => this.call.clearSpeech());
  }

  sendData(topic: string, payload: Uint8Array): void {
    this.#do(() => this.call.sendData(topic, payload));
  }

  showTranscript(text: TranscriptText): void {
    this.#do(() => this.call.showTranscript(text));
  }

  wrote(utterance: number, text: string): void {
    this.#do(() => this.call.wrote?.(utterance, text));
  }

  setAttributes(values: Readonly<Record<string, string>>): void {
    this.#do(() => this.call.setAttributes(values));
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

  #change(state: NodeLeaseState): void {
    if (state === 'held') this.#goOn();
    else this.#stop();
  }

  #stop(): void {
    if (this.#waiting) return;
    this.#waiting = [];
    this.call.pauseSpeech();
  }

  #goOn(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const command of waiting) command();
    for (const resolve of this.#makers.splice(0)) resolve(true);
    if (this.#paused) this.call.pauseSpeech();
    else this.call.resumeSpeech();
  }
}
