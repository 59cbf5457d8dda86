/** Callers in concurrent calls: they join, send audio all the time, say what was recorded, and judge what they hear. */
import { setTimeout as pause } from 'node:timers/promises';
import { Caller } from '../calls/caller.js';
import {
  Dialogue,
  type Recording,
  type Step,
  type StepVerdict,
  type Trial,
  TRIALS,
} from '../calls/dialogue.js';
import { Microphones } from '../calls/microphones.js';
import { encodeUtterance } from '../calls/utterance.js';
import { WorstTurns } from '../calls/worst-turns.js';
import { failureOf } from '../clients/client.js';
import type { Outcome } from '../generator/protocol.js';
import type { Origin } from '../report/report.js';
import type { Invite } from '../servers/agents.js';
import { NOTHING, type Program, timed } from './program.js';

/** 16-bit mono at the callers' rate, and the words. */
export interface Recorded {
  readonly pcm: Uint8Array;
  readonly text: string;
  /** Whether a person was recorded saying it. */
  readonly origin: Origin;
  /** The package that it is from, or the thing that made it. */
  readonly source: string;
}

export type CallsTask =
  | { readonly join: { readonly invites: readonly Invite[]; readonly atOnce: number } }
  | {
      readonly converse: {
        readonly steps: readonly Step[];
        readonly rounds: number;
        /** Each with its variants, one a round. */
        readonly recorded: Readonly<Record<string, readonly Recorded[]>>;
        /** Folder for recordings of the worst turns, and their file names; undefined keeps none. */
        readonly recordings?: { readonly folder: string; readonly name: string } | undefined;
      };
    }
  | { readonly leave: true };

/** Callers begin one after another within this time, so that they do not speak in chorus. */
const SPREAD_MS = 4000;

type Readings = 'answer' | 'afterStatement' | 'afterInterruption' | 'bargeIn' | 'wer';

export class Calls implements Program {
  readonly #callers: Caller[] = [];
  readonly #microphones = new Microphones(this.#callers);

  async run(params: unknown): Promise<Outcome> {
    const task = params as CallsTask;
    if ('join' in task) return this.#join(task.join);
    if ('converse' in task) return this.#converse(task.converse);
    for (const caller of this.#callers.splice(0)) caller.leave();
    return { ...NOTHING, seconds: 0, cpu: 0 };
  }

  async #join({ invites, atOnce }: Extract<CallsTask, { join: object }>['join']): Promise<Outcome> {
    const times: number[] = [];
    const failures: Record<string, number> = {};
    const waiting = [...invites];
    const joinOne = async (invite: Invite): Promise<void> => {
      const begun = performance.now();
      try {
        this.#callers.push(await Caller.join(invite));
        times.push(performance.now() - begun);
      } catch (error) {
        times.push(Number.NaN);
        const reason = failureOf(error);
        failures[reason] = (failures[reason] ?? 0) + 1;
      }
    };
    const worker = async (): Promise<void> => {
      for (let invite = waiting.shift(); invite !== undefined; invite = waiting.shift())
        await joinOne(invite);
    };
    this.#microphones.open();
    const spent = await timed(() => Promise.all(Array.from({ length: atOnce }, worker)));
    const { seconds, cpu } = spent;
    const join = Float64Array.from(times);
    return { ...NOTHING, due: new Float64Array(times.length), readings: { join }, failures, seconds, cpu };
  }

  async #converse({
    steps,
    rounds,
    recorded,
    recordings: wanted,
  }: Extract<CallsTask, { converse: object }>['converse']): Promise<Outcome> {
    const variants = variantsOf(recorded);
    const worst = wanted && new WorstTurns();
    this.#microphones.takeLateness();
    const before = this.#frames();
    const verdicts: StepVerdict[] = [];
    const talk = async (caller: Caller, index: number): Promise<void> => {
      await pause((SPREAD_MS * index) / this.#callers.length);
      for (let round = 0; round < rounds; round += 1) {
        const dialogue = new Dialogue(caller, takesOf(variants, round + index), worst);
        // Not all do the same at the same time.
        for (const [place] of steps.entries())
          verdicts.push(await dialogue.run(steps[(place + index) % steps.length]!));
      }
    };
    const { seconds, cpu } = await timed(() => Promise.all(this.#callers.map(talk)));
    if (wanted) worst?.write(wanted.folder, wanted.name);
    const frames = this.#frames();
    for (const kind of FRAMES) frames[kind] -= before[kind];
    return { ...outcomeOf(verdicts, frames), lateness: this.#microphones.takeLateness(), seconds, cpu };
  }

  #frames(): Frames {
    const frames: Frames = { frames: 0, late: 0, lost: 0, sent: 0, said: 0 };
    for (const { heard, sent, said } of this.#callers) {
      frames.frames += heard.total;
      frames.late += heard.late;
      frames.lost += heard.lost;
      frames.sent += sent;
      frames.said += said;
    }
    return frames;
  }
}

/** Frames of 20 ms of all callers: heard, of these late or lost; sent, of these with something said in them. */
const FRAMES = ['frames', 'late', 'lost', 'sent', 'said'] as const;
type Frames = Record<(typeof FRAMES)[number], number>;

type Variants = Readonly<Record<string, readonly Recording[]>>;

const recordingOf = ({ pcm, text }: Recorded): Recording => ({
  utterance: encodeUtterance(Buffer.from(pcm)),
  text,
});

const variantsOf = (recorded: Readonly<Record<string, readonly Recorded[]>>): Variants =>
  Object.fromEntries(Object.entries(recorded).map(([name, all]) => [name, all.map(recordingOf)]));

/** One of each, another the next time. */
const takesOf = (variants: Variants, time: number): Record<string, Recording> =>
  Object.fromEntries(Object.entries(variants).map(([name, all]) => [name, all[time % all.length]!]));

function outcomeOf(
  verdicts: readonly StepVerdict[],
  frames: Readonly<Frames>,
): Pick<Outcome, 'due' | 'readings' | 'failures'> {
  const failures: Record<string, number> = {};
  for (const { failure } of verdicts)
    if (failure !== undefined) failures[failure] = (failures[failure] ?? 0) + 1;
  const reading = (name: Readings): Float64Array =>
    Float64Array.from(verdicts.flatMap((verdict) => verdict[name] ?? []));
  const kept = (name: Trial): Float64Array =>
    Float64Array.from(verdicts.flatMap((verdict) => verdict.kept?.[name] ?? []));
  return {
    due: new Float64Array(verdicts.length),
    readings: {
      answer: reading('answer'),
      afterStatement: reading('afterStatement'),
      afterInterruption: reading('afterInterruption'),
      bargeIn: reading('bargeIn'),
      ...Object.fromEntries(TRIALS.map((name) => [name, kept(name)])),
      wer: reading('wer'),
      ...Object.fromEntries(FRAMES.map((name) => [name, Float64Array.of(frames[name])])),
    },
    failures,
  };
}
