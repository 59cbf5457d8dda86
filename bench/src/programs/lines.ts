/**
 * Callers on lines, by telephone or by the sockets of agents' clients: they call, hear the greeting, ask for something long, interrupt
 * it, and hang up.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { callAt, type Destination, DOORS } from '../calls/doors.js';
import type { LineAudio } from '../audio/line-audio.js';
import type { Line, LineUtterance } from '../calls/line.js';
import { Microphones } from '../calls/microphones.js';
import { soundingOf } from '../calls/sounding.js';
import { waitFor } from '../calls/timing.js';
import { failureOf } from '../clients/client.js';
import type { Outcome } from '../generator/protocol.js';
import type { Recorded } from './calls.js';
import { type Program, timed } from './program.js';

export interface LinesTask {
  readonly to: Destination;
  readonly calls: number;
  /** They begin one after another within this time. */
  readonly spreadMs: number;
  /** How long they listen to the long answer. */
  readonly listenMs: number;
  /** The question that gets the long answer, and the interruption; 16-bit mono at the rate of the door. */
  readonly ask: Recorded;
  readonly interrupt: Recorded;
}

const ANSWER_MS = 10_000;
/** The agent has ended when nothing was heard of it for so long. */
const QUIET_MS = 1000;
const TURN_MS = 30_000;

/** What a call that was not interrupted in time has failed with. */
export const NOT_INTERRUPTED = 'interruption without clear';

/** `greeting`: from the call to the first sound; `answer`: from the last sound of the question to the first of its answer. */
const READINGS = ['greeting', 'answer', 'bargeIn', 'clear', 'frames', 'late'] as const;

type Verdict = Record<(typeof READINGS)[number], number> & { failure?: string };

function utteranceOf({ pcm }: Recorded, { rate, write }: LineAudio): LineUtterance {
  const samples = Buffer.from(pcm);
  return { sound: write(samples), ...soundingOf(samples, rate) };
}

async function talk(line: Line, begun: number, task: Talk, verdict: Verdict): Promise<void> {
  const { heard } = line;
  const first = await waitFor(() => heard.first, ANSWER_MS);
  if (first === undefined) throw new Error('no greeting');
  verdict.greeting = first - begun;
  await waitFor(() => performance.now() - heard.last > QUIET_MS, TURN_MS);
  heard.forget();
  const { to } = await line.say(task.ask);
  const answer = await waitFor(() => heard.first, ANSWER_MS);
  if (answer === undefined) throw new Error('unanswered turn');
  verdict.answer = answer - to;
  await pause(task.listenMs);
  line.cleared = undefined;
  const { from } = await line.say(task.interrupt);
  const cleared = await waitFor(() => line.cleared, ANSWER_MS);
  if (cleared === undefined) throw new Error(NOT_INTERRUPTED);
  verdict.clear = cleared.at - from;
  // It pauses first, and has the rest dropped once it knows that it is interrupted.
  verdict.bargeIn = cleared.silent - from;
}

interface Talk {
  readonly ask: LineUtterance;
  readonly interrupt: LineUtterance;
  readonly listenMs: number;
}

export class Lines implements Program {
  readonly #lines = new Set<Line>();
  readonly #microphones = new Microphones(this.#lines);

  async run(params: unknown): Promise<Outcome> {
    const { to, calls, spreadMs, listenMs, ask, interrupt } = params as LinesTask;
    const { audio } = DOORS[to.door];
    const task: Talk = { ask: utteranceOf(ask, audio), interrupt: utteranceOf(interrupt, audio), listenMs };
    this.#microphones.open();
    const one = async (_: unknown, index: number): Promise<Verdict> => {
      await pause((spreadMs * index) / calls);
      return this.#call(to, task);
    };
    const all = Array.from({ length: calls }, one);
    const { result, seconds, cpu } = await timed(() => Promise.all(all));
    this.#microphones.close();
    return { ...outcomeOf(result), lateness: this.#microphones.takeLateness(), seconds, cpu };
  }

  async #call(to: Destination, task: Talk): Promise<Verdict> {
    const begun = performance.now();
    const unknown = { greeting: Number.NaN, answer: Number.NaN, bargeIn: Number.NaN, clear: Number.NaN };
    const verdict: Verdict = { ...unknown, frames: 0, late: 0 };
    let line: Line | undefined;
    try {
      line = await callAt(to);
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
