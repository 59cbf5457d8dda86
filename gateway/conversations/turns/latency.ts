/**
 * Where the time of an answer goes: what it waits for, one thing after the other, and the parts of the latency, from the
 * end of the user's voice to the first audio. They add up to it. All times are whole milliseconds of one clock.
 */
import type { LatencyParts } from '../../../contracts/turns.js';

/** `waiting`: for the agent's last sentence, the search in the knowledge base, the list of tools, or a user who makes a sound. */
export type Activity = 'waiting' | 'model' | 'tools' | 'voice' | 'transport';

export class AnswerTimeline {
  readonly #steps: { readonly activity: Activity; readonly at: number }[] = [];

  enter(activity: Activity, at: number): void {
    this.#steps.push({ activity, at });
  }

  /** The time of each between two moments; before the first step it waits. */
  between(from: number, to: number): Readonly<Record<Activity, number>> {
    const spent = { waiting: 0, model: 0, tools: 0, voice: 0, transport: 0 };
    const steps = [{ activity: 'waiting' as const, at: -Infinity }, ...this.#steps];
    steps.forEach(({ activity, at }, index) => {
      const until = steps[index + 1]?.at ?? Infinity;
      spent[activity] += Math.max(0, Math.min(until, to) - Math.max(at, from));
    });
    return spent;
  }
}

export interface Answered {
  /** The end of the user's voice, and when voice activity noticed it. */
  readonly from: number;
  readonly noticed: number;
  /** The silence that was wanted from then on. */
  readonly delayMs: number;
  /** When the turn was over. */
  readonly decided: number;
  readonly timeline: AnswerTimeline;
  /** When the first audio left for the user. */
  readonly played: number;
}

/** What was done before the turn was over, for a draft, has cost no time: only what came behind counts. */
export function latencyParts({ from, noticed, delayMs, decided, timeline, played }: Answered): LatencyParts {
  const weighed = Math.min(decided, noticed + delayMs);
  return {
    silence: noticed - from,
    endpointing: weighed - noticed,
    recognition: decided - weighed,
    ...timeline.between(decided, played),
  };
}
