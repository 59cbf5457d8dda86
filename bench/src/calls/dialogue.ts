/** Plays a caller's part in a call, step by step, and judges each step by the audio that came back. */
import { setTimeout as pause } from 'node:timers/promises';
import { wordErrorRate } from '../clients/transcription.js';
import type { Caller, Said } from './caller.js';
import { waitFor } from './timing.js';
import type { Utterance } from './utterance.js';
import type { WorstTurns } from './worst-turns.js';

/** Sounds that must not end the agent's turn. `others`: another speaker, further away. */
export const DISTURBANCES = ['cough', 'agree', 'others'] as const;
export type Disturbance = (typeof DISTURBANCES)[number];

/** Pauses within a sentence, in ms, which the agent must not take for its end; their sentences are recorded as these. */
export const PAUSES = [800, 1200, 1500] as const;
export type Pause = (typeof PAUSES)[number];
export const pausing = (ms: Pause) => `pause${ms}` as const;

/** The trials in which the floor can be kept or lost. */
export type Trial = Disturbance | `pause${Pause}`;
export const TRIALS: readonly Trial[] = [...DISTURBANCES, ...PAUSES.map(pausing)];

/** One step of the caller. Texts are names of recordings. */
export type Step =
  /** A question, or something else, that gets a short answer. */
  | { readonly question: string }
  | { readonly say: string }
  /** The same, with a pause within. */
  | { readonly think: Pause }
  /** Something that gets a long answer; what must not end it, one after the other; a wish that must. */
  | { readonly ask: string; readonly disturb: readonly Disturbance[]; readonly interrupt: string };

export interface Recording {
  readonly utterance: Utterance;
  readonly text: string;
}

/** Milliseconds and shares; undefined where a step does not tell, NaN where it failed. */
export interface StepVerdict {
  /** From the last sound of the caller's question to the agent's first, as the caller hears them. */
  answer?: number;
  /** The same of the answer to anything else. */
  afterStatement?: number;
  /** The same of the answer to an interruption. */
  afterInterruption?: number;
  /** From the first sound of the interruption to the agent's last. */
  bargeIn?: number;
  /** 1 where whoever spoke kept the floor through that: the agent went on, or the user was let finish. Else 0. */
  kept?: Readonly<Partial<Record<Trial, number>>>;
  wer?: number;
  failure?: string;
}

const ANSWER_MS = 10_000;
/** Transcripts may come behind the answer. */
const TRANSCRIPT_MS = 1000;
/** The agent has ended when nothing was heard of it for so long. */
const QUIET_MS = 1000;
const TURN_MS = 60_000;
/** The agent is let speak for so long before it is disturbed. */
const LISTEN_MS = 1500;
const EFFECT_MS = 8000;
/** A pause of the agent between two words is shorter. */
const SILENT_MS = 700;
const AFTER_NOISE_MS = 2500;
/** Audio still playing this long after the caller begins does not count as talking over the caller. */
const GRACE_MS = 500;

/** Milliseconds of the longest wait of a step; Infinity where it failed. */
function longestOf({ answer = 0, afterStatement = 0, bargeIn = 0 }: StepVerdict): number {
  const longest = Math.max(answer, afterStatement, bargeIn);
  return Number.isNaN(longest) ? Infinity : longest;
}

export class Dialogue {
  /** Utterances of this step. */
  readonly #said: Said[] = [];

  constructor(
    private readonly caller: Caller,
    /** This round's recordings, by name. */
    private readonly recordings: Readonly<Record<string, Recording>>,
    /** Keeps the slowest turns; undefined keeps none. */
    private readonly worst: WorstTurns | undefined,
  ) {}

  async run(step: Step): Promise<StepVerdict> {
    await this.#untilQuiet();
    const verdict = await this.#take(step);
    await this.#untilQuiet();
    this.worst?.offer(longestOf(verdict), this.#said.splice(0), this.caller.heard.frames);
    this.caller.heard.forget();
    return verdict;
  }

  #take(step: Step): Promise<StepVerdict> {
    if ('question' in step) return this.#ask(step.question, 'answer');
    if ('say' in step) return this.#ask(step.say, 'afterStatement');
    return 'think' in step ? this.#think(step.think) : this.#bargeIn(step);
  }

  async #say(utterance: Utterance): Promise<Said> {
    const said = await this.caller.say(utterance);
    this.#said.push(said);
    return said;
  }

  #recording(name: string): Recording {
    const recording = this.recordings[name];
    if (recording === undefined) throw new Error(`nothing is recorded as ${name}`);
    return recording;
  }

  async #untilQuiet(): Promise<void> {
    await waitFor(() => performance.now() - this.caller.heard.last > QUIET_MS, TURN_MS);
  }

  /** Says it, and waits for the answer. */
  async #ask(name: string, reading: 'answer' | 'afterStatement'): Promise<StepVerdict> {
    const { utterance, text } = this.#recording(name);
    const { heard } = this.caller;
    this.caller.takeTranscript();
    const said = await this.#say(utterance);
    const first = await waitFor(() => heard.firstFrom(said.to), ANSWER_MS);
    if (this.#isTalkedOver(said)) return { [reading]: Number.NaN, failure: 'answered before the end' };
    if (first === undefined) return { [reading]: Number.NaN, failure: 'unanswered turn' };
    await waitFor(() => this.caller.hasTranscript, TRANSCRIPT_MS);
    return { [reading]: first - said.to, wer: wordErrorRate(text, this.caller.takeTranscript()) };
  }

  #isTalkedOver({ from, to }: Said): boolean {
    return this.caller.heard.audibleBetween(from + GRACE_MS, to) > 0;
  }

  async #think(ms: Pause): Promise<StepVerdict> {
    const said = await this.#say(this.#recording(pausing(ms)).utterance);
    const first = await waitFor(() => this.caller.heard.firstFrom(said.to), ANSWER_MS);
    const kept = { [pausing(ms)]: this.#isTalkedOver(said) ? 0 : 1 };
    return { kept, ...(first === undefined && { failure: 'unanswered turn' }) };
  }

  async #bargeIn({ ask, disturb, interrupt }: Extract<Step, { ask: string }>): Promise<StepVerdict> {
    const asked = await this.#ask(ask, 'afterStatement');
    if (asked.failure !== undefined) return asked;
    await pause(LISTEN_MS);
    const kept: Partial<Record<Trial, number>> = {};
    for (const disturbance of disturb) {
      kept[disturbance] = await this.#speaksThrough(disturbance);
      // An agent that is already silent can be neither disturbed nor interrupted.
      if (kept[disturbance] === 0) return { ...asked, kept };
    }
    const { heard } = this.caller;
    const { from, to } = await this.#say(this.#recording(interrupt).utterance);
    const end = await waitFor(() => heard.silenceBehind(from, SILENT_MS, performance.now()), EFFECT_MS);
    const verdict = { ...asked, kept };
    if (end === undefined) return { ...verdict, bargeIn: Number.NaN, failure: 'barge-in without effect' };
    const answer = await waitFor(() => heard.firstFrom(Math.max(to, end + SILENT_MS)), ANSWER_MS);
    if (answer === undefined)
      return { ...verdict, bargeIn: end - from, afterInterruption: Number.NaN, failure: 'unanswered turn' };
    return { ...verdict, bargeIn: end - from, afterInterruption: answer - to };
  }

  /**
   * 1 where the agent goes on with the same answer. Until it knows what it has heard it may be silent, which takes longer on
   * a loaded machine: that is no end.
   */
  async #speaksThrough(name: Disturbance): Promise<number> {
    const over = this.caller.answersOver;
    await this.#say(this.#recording(name).utterance);
    await pause(AFTER_NOISE_MS);
    const since = performance.now();
    const goesOn = (): boolean => this.caller.heard.last > since;
    await waitFor(() => this.caller.answersOver > over || goesOn(), EFFECT_MS);
    return this.caller.answersOver === over && goesOn() ? 1 : 0;
  }
}
