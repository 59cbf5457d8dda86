/**
 * The timeline of a call by voice, as heard by the caller, and the measurements from it. Times are milliseconds since
 * the caller's media was connected.
 */
import type { TurnMeasurements } from '../../../../contracts/ports/agents/agent-tests.js';

export interface CallerTurn {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** Said during an answer of the agent. */
  readonly interrupts: boolean;
  /** Needs no answer: agreement of a listener. */
  readonly backchannel: boolean;
  /** The caller waited its longest for an answer, in vain. */
  readonly unanswered: boolean;
}

/** A stretch of the agent's voice, without pauses of SPAN_GAP_MS or more. */
export interface VoiceSpan {
  readonly from: number;
  readonly to: number;
}

/** A shorter silence is a pause between two words, or sentences. */
export const SPAN_GAP_MS = 600;
/** If one side begins within this time after the other, both count as beginning at once. */
const AT_ONCE_MS = 300;

const overlap = (one: VoiceSpan, other: VoiceSpan): number =>
  Math.max(0, Math.min(one.to, other.to) - Math.max(one.from, other.from));

/** The first span that begins after the turn's start and before the caller speaks again. */
function answerTo(
  turn: CallerTurn,
  next: CallerTurn | undefined,
  spans: readonly VoiceSpan[],
): VoiceSpan | undefined {
  return spans.find(
    ({ from, to }) => from > turn.from + AT_ONCE_MS && to > turn.to && from < (next?.from ?? Infinity),
  );
}

/** How long the agent still spoke after the turn began; undefined if it was not speaking then. */
function silenceAfter({ from }: CallerTurn, spans: readonly VoiceSpan[]): number | undefined {
  const spoken = spans.find((span) => span.from < from && span.to > from);
  return spoken && spoken.to - from;
}

/** The measurements from both sides of a call. */
export function measured(turns: readonly CallerTurn[], spans: readonly VoiceSpan[]): TurnMeasurements {
  const wanting = turns.filter(({ backchannel }) => !backchannel);
  const interruptions = wanting.filter(({ interrupts }) => interrupts);
  const answers = wanting.flatMap((turn, index) => {
    const answer = answerTo(turn, wanting[index + 1], spans);
    return answer ? [answer.from - turn.to] : [];
  });
  return {
    answers,
    silences: interruptions.flatMap((turn) => silenceAfter(turn, spans) ?? []),
    unheeded: interruptions.filter((turn) =>
      spans.some((span) => span.from < turn.from && span.to > turn.to + SPAN_GAP_MS),
    ).length,
    talkOver: Math.max(0, ...wanting.flatMap((turn) => spans.map((span) => overlap(turn, span)))),
    interrupted: wanting.reduce(
      (sum, { from, to }) =>
        sum + spans.filter((span) => span.from > from + AT_ONCE_MS && span.from < to).length,
      0,
    ),
    unanswered: wanting.filter(({ unanswered }) => unanswered).length,
  };
}

/** The middle value; of an even number of values, the upper one. */
export const median = (values: readonly number[]): number | undefined =>
  [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];
