/** Plays a caller's part in a call, step by step, and judges each step by the audio that came back. */
import { setTimeout as pause } from 'node:timers/promises';
import { wordErrorRate } from '../clients/transcription.js';
import type { Caller, Said } from './caller.js';
import { answerTo, interrupts, isTalkedOver, speaksThrough, untilQuiet } from './exchanges.js';
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

/** Transcripts may come behind the answer. */
const TRANSCRIPT_MS = 1000;
/** The agent is let speak for so long before it is disturbed. */
const LISTEN_MS = 1500;

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
    await untilQuiet(this.caller);
    const verdict = await this.#take(step);
    await untilQuiet(this.caller);
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

  /** Says it, and waits for the answer. */
  async #ask(name: string, reading: 'answer' | 'afterStatement'): Promise<StepVerdict> {
    const { utterance, text } = this.#recording(name);
    this.caller.takeTranscript();
    const said = await this.#say(utterance);
    const first = await answerTo(this.caller, said);
    if (isTalkedOver(this.caller, said)) return { [reading]: Number.NaN, failure: 'answered before the end' };
    if (first === undefined) return { [reading]: Number.NaN, failure: 'unanswered turn' };
    await waitFor(() => this.caller.hasTranscript, TRANSCRIPT_MS);
    return { [reading]: first - said.to, wer: wordErrorRate(text, this.caller.takeTranscript()) };
  }

  async #think(ms: Pause): Promise<StepVerdict> {
    const said = await this.#say(this.#recording(pausing(ms)).utterance);
    const first = await answerTo(this.caller, said);
    const kept = { [pausing(ms)]: isTalkedOver(this.caller, said) ? 0 : 1 };
    return { kept, ...(first === undefined && { failure: 'unanswered turn' }) };
  }

  async #bargeIn({ ask, disturb, interrupt }: Extract<Step, { ask: string }>): Promise<StepVerdict> {
    const asked = await this.#ask(ask, 'afterStatement');
    if (asked.failure !== undefined) return asked;
    await pause(LISTEN_MS);
    const kept: Partial<Record<Trial, number>> = {};
    for (const disturbance of disturb) {
      const say = (): Promise<Said> => this.#say(this.#recording(disturbance).utterance);
      kept[disturbance] = (await speaksThrough(this.caller, say)) ? 1 : 0;
      // An agent that is already silent can be neither disturbed nor interrupted.
      if (kept[disturbance] === 0) return { ...asked, kept };
    }
    const said = await this.#say(this.#recording(interrupt).utterance);
    const { bargeIn, answer } = await interrupts(this.caller, said);
    const verdict = { ...asked, kept, bargeIn };
    if (answer === undefined) return { ...verdict, failure: 'barge-in without effect' };
    const afterInterruption = answer;
    return { ...verdict, afterInterruption, ...(Number.isNaN(answer) && { failure: 'unanswered turn' }) };
  }
}
