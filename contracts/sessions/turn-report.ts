/** Turns, usage and cost of a session, as its record and its post-call events show them (docs/contract/platform.md 6.7). */
import { costOf, type Prices } from './prices.js';
import type { Transfer } from '../phone/transfers.js';
import type { EventReport } from '../schemas/post-call.js';
import type { TurnBody } from '../schemas/turns.js';
import { cutOf, LATENCY_PARTS, type Turn, type Usage, usageOf } from './turns.js';

export interface SessionFigures {
  readonly turns: readonly Turn[];
  /** Transfers of a phone call, in the order in which they began. */
  readonly transfers?: readonly Transfer[];
  /** Null if the operator has configured none. */
  readonly prices: Prices | null;
  /** Length of the conversation in whole seconds; null until it has ended. */
  readonly durationSeconds: number | null;
}

const seconds = (ms: number): number => ms / 1000;

export const usageBody = ({
  inputTokens,
  outputTokens,
  tokensEstimated,
  models = [],
  characters,
  recognisedMs,
  engines = [],
}: Usage) => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  tokens_estimated: tokensEstimated,
  models: models.map((used) => ({
    model: used.model,
    input_tokens: used.inputTokens,
    output_tokens: used.outputTokens,
  })),
  characters,
  recognised_seconds: seconds(recognisedMs),
  engines: engines.map((used) => ({
    engine: used.engine,
    model: used.model,
    characters: used.characters,
    speech_seconds: seconds(used.spokenMs),
    recognised_seconds: seconds(used.recognisedMs),
  })),
});

const latencyBody = ({ parts }: Turn): TurnBody['latency'] =>
  parts &&
  (Object.fromEntries(LATENCY_PARTS.map((part) => [`${part}_ms`, parts[part]])) as TurnBody['latency']);

/** A turn's times and decisions, without any words. */
export const turnBody = (turn: Turn): TurnBody => ({
  number: turn.number,
  turn_id: turn.turnId,
  cause: turn.cause,
  at: turn.at.toISOString(),
  latency_ms: turn.playedMs,
  latency: latencyBody(turn),
  language: turn.language ?? null,
  end_of_turn: turn.endOfTurn && {
    detector: turn.endOfTurn.detector,
    probability: turn.endOfTurn.probability,
    completeness: turn.endOfTurn.completeness,
    delay_ms: turn.endOfTurn.delayMs,
  },
  reopened: turn.reopened,
  first_transcript_ms: turn.firstTranscriptMs,
  last_transcript_ms: turn.lastTranscriptMs,
  decided_ms: turn.decidedMs,
  draft: { used: turn.drafted, discarded: turn.draftsDiscarded },
  passages: (turn.passages ?? []).map(({ sourceId, source, by }) => ({
    knowledge_source_id: sourceId,
    name: source,
    found_by: by,
  })),
  model_requests: turn.requests.map(({ askedMs, firstTokenMs, endedMs }) => ({
    asked_ms: askedMs,
    first_token_ms: firstTokenMs,
    ended_ms: endedMs,
  })),
  tools: turn.tools.map(({ callId, toolName, startedMs, endedMs, failed }) => ({
    call_id: callId,
    tool_name: toolName,
    started_ms: startedMs,
    ended_ms: endedMs,
    failed,
  })),
  first_audio_ms: turn.firstAudioMs,
  ended_ms: turn.endedMs,
  heard_ms: turn.heardMs,
  complete: turn.complete,
  held: turn.held,
  resumed: turn.resumed,
  interrupted: turn.interrupted && {
    by: turn.interrupted.by,
    silence_ms: turn.interrupted.silenceMs,
    mistaken: turn.interrupted.mistaken,
  },
  answer_cut: cutOf(turn),
  error: turn.error,
  usage: usageBody(turn.usage),
});

/** A call's usage and cost; the cost is null until it has ended. */
export function usageReport({
  turns,
  prices,
  durationSeconds,
}: SessionFigures): Pick<EventReport, 'usage' | 'cost'> {
  const usage = usageOf(turns);
  const cost = prices && durationSeconds !== null ? costOf(usage, durationSeconds * 1000, prices) : null;
  return { usage: { ...usageBody(usage), call_seconds: durationSeconds }, cost };
}
