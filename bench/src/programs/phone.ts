/** Callers on telephones: they dial, hear the greeting, ask for something long, interrupt it, and hang up. */
import { setTimeout as pause } from 'node:timers/promises';
import { mulawOf } from '../audio/mulaw.js';
import { Microphones } from '../calls/microphones.js';
import { type Dialled, PhoneLine, RATE } from '../calls/phone-line.js';
import { type Sounding, soundingOf } from '../calls/sounding.js';
import { waitFor } from '../calls/timing.js';
import { failureOf } from '../clients/client.js';
import type { Outcome } from '../generator/protocol.js';
import type { Recorded } from './calls.js';
import { type Program, timed } from './program.js';

export interface PhoneTask {
  readonly dialled: Dialled;
  readonly calls: number;
  /** They begin one after another within this time. */
  readonly spreadMs: number;
  /** How long they listen to the long answer. */
  readonly listenMs: number;
  /** The question that gets the long answer, and the interruption; 16-bit mono at 8 kHz. */
  readonly ask: Recorded;
  readonly interrupt: Recorded;
}

const ANSWER_MS = 10_000;
/** The agent has ended when nothing was heard of it for so long. */
const QUIET_MS = 1000;
const TURN_MS = 30_000;

const READINGS = ['answer', 'bargeIn', 'clear', 'frames', 'late'] as const;

type Verdict = Record<(typeof READINGS)[number], number> & { failure?: string };

interface Utterance extends Sounding {
  readonly mulaw: Buffer;
}

function utteranceOf({ pcm }: Recorded): Utterance {
  const samples = Buffer.from(pcm);
  return { mulaw: mulawOf(samples), ...soundingOf(samples, RATE) };
}

/** Says it; when its first and its last sound had left. */
async function say(line: PhoneLine, { mulaw, from, to }: Utterance): Promise<Sounding> {
  const begun = performance.now();
  line.say(mulaw);
  await waitFor(() => !line.isSpeaking, TURN_MS);
  return { from: begun + from, to: begun + to };
}

async function talk(line: PhoneLine, begun: number, task: Talk, verdict: Verdict): Promise<void> {
  const { heard } = line;
  const first = await waitFor(() => heard.first, ANSWER_MS);
  if (first === undefined) throw new Error('no greeting');
  verdict.answer = first - begun;
  await waitFor(() => performance.now() - heard.last > QUIET_MS, TURN_MS);
  heard.forget();
  await say(line, task.ask);
  if ((await waitFor(() => heard.first, ANSWER_MS)) === undefined) throw new Error('unanswered turn');
  await pause(task.listenMs);
  line.cleared = undefined;
  const { from } = await say(line, task.interrupt);
  const cleared = await waitFor(() => line.cleared, ANSWER_MS);
  if (cleared === undefined) throw new Error('interruption without clear');
  verdict.clear = cleared.at - from;
  // It pauses first, and has the rest dropped once it knows that it is interrupted.
  verdict.bargeIn = cleared.silent - from;
}

interface Talk {
  readonly ask: Utterance;
  readonly interrupt: Utterance;
  readonly listenMs: number;
}

export class Phone implements Program {
  readonly #lines = new Set<PhoneLine>();
  readonly #microphones = new Microphones(this.#lines);

  async run(params: unknown): Promise<Outcome> {
    const { dialled, calls, spreadMs, listenMs, ask, interrupt } = params as PhoneTask;
    const task: Talk = { ask: utteranceOf(ask), interrupt: utteranceOf(interrupt), listenMs };
    this.#microphones.open();
    const one = async (_: unknown, index: number): Promise<Verdict> => {
      await pause((spreadMs * index) / calls);
      return this.#call(dialled, task);
    };
    const all = Array.from({ length: calls }, one);
    const { result, seconds, cpu } = await timed(() => Promise.all(all));
    this.#microphones.close();
    return { ...outcomeOf(result), lateness: this.#microphones.takeLateness(), seconds, cpu };
  }

  async #call(dialled: Dialled, task: Talk): Promise<Verdict> {
    const begun = performance.now();
    const unknown = { answer: Number.NaN, bargeIn: Number.NaN, clear: Number.NaN };
    const verdict: Verdict = { ...unknown, frames: 0, late: 0 };
    let line: PhoneLine | undefined;
    try {
      line = await PhoneLine.dial(dialled);
      this.#lines.add(line);
      await talk(line, begun, task, verdict);
    } catch (error) {
      verdict.failure = failureOf(error);
    }
    if (!line) return verdict;
    this.#lines.delete(line);
    line.hangUp();
    return { ...verdict, frames: line.heard.total, late: line.heard.late };
  }
}

function outcomeOf(verdicts: readonly Verdict[]): Pick<Outcome, 'due' | 'readings' | 'failures'> {
  const failures: Record<string, number> = {};
  for (const { failure } of verdicts)
    if (failure !== undefined) failures[failure] = (failures[failure] ?? 0) + 1;
  const readings = Object.fromEntries(
    READINGS.map((name) => [name, Float64Array.from(verdicts, (verdict) => verdict[name])]),
  );
  return { due: new Float64Array(verdicts.length), readings, failures };
}
