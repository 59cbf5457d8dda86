/**
 * Shows where the time of an answer goes: its activities in order, and the parts that add up to its latency, from the end
 * of the user's voice to the first audio. All times are whole milliseconds of one clock.
 */
import type { LatencyParts } from '../../../../contracts/sessions/turns.js';

/** `waiting`: for the agent's last sentence, the search in the knowledge base, the list of tools, or a user who makes a sound. */
export type Activity = 'waiting' | 'model' | 'tools' | 'voice' | 'transport';

export class AnswerTimeline {
  readonly #steps: { readonly activity: Activity; readonly at: number }[] = [];

  enter(activity: Activity, at: number): void {
    this.#steps.push({ activity, at });
  }

  /** The time of each activity between two moments; before the first step it is `waiting`. */
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

export interface AnsweredTurn {
  /** The end of the user's voice, and when voice activity noticed it. */
  readonly from: number;
  readonly noticed: number;
  /** The silence that was required from then on. */
  readonly delayMs: number;
  /** When the turn was over. */
  readonly decided: number;
  readonly timeline: AnswerTimeline;
  /** When the first audio left for the user. */
  readonly played: number;
}

/** Work on a draft before the turn was over has cost no time: only work after that counts. */
export function latencyParts({
  from,
  noticed,
  delayMs,
  decided,
  timeline,
  played,
}: AnsweredTurn): LatencyParts {
  const weighed = Math.min(decided, noticed + delayMs);
  return {
    silence: noticed - from,
    endpointing: weighed - noticed,
    recognition: decided - weighed,
    ...timeline.between(decided, played),
  };
}
