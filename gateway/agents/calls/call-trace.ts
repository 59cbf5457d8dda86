/**
 * A call in a trace: session > turn > recognition, model, tool, voice. A turn's spans are made when it has ended, with
 * the times of its row. Invariants: names and attributes hold ids, causes, names of tools and numbers, and never a word
 * that somebody said; a span ends once, within that of its turn.
 */
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { LATENCY_PARTS, type Turn } from '../../../contracts/sessions/turns.js';
import { tracer } from '../../server/tracing/trace.js';

interface Piece {
  readonly name: 'recognition' | 'model' | 'tool' | 'voice';
  /** Milliseconds after the turn's `at`. */
  readonly from: number;
  readonly to: number;
  readonly attributes?: Attributes;
  readonly failed?: boolean;
}

function voiceOf({ firstAudioMs, decidedMs, requests, heardMs, complete }: Turn, end: number): Piece[] {
  if (firstAudioMs === null) return [];
  const from = requests.at(-1)?.firstTokenMs ?? decidedMs ?? 0;
  const attributes = { 'speech.heard_ms': heardMs, 'speech.complete': complete };
  return [{ name: 'voice', from: Math.min(from, firstAudioMs), to: end, attributes }];
}

/** The parts of a turn; a part without an end of its own ends with the turn. */
function piecesOf(turn: Turn): readonly Piece[] {
  const end = turn.endedMs ?? turn.playedMs ?? 0;
  const recognised = turn.lastTranscriptMs;
  return [
    ...(recognised === null
      ? []
      : [{ name: 'recognition', from: Math.min(0, recognised), to: recognised } as const]),
    ...turn.requests.map(({ askedMs, endedMs }): Piece => ({
      name: 'model',
      from: askedMs,
      to: endedMs ?? end,
    })),
    ...turn.tools.map(({ toolName, startedMs, endedMs, failed }): Piece => ({
      name: 'tool',
      from: startedMs,
      to: endedMs ?? end,
      failed,
      attributes: { 'speech.tool': toolName },
    })),
    ...voiceOf(turn, end),
  ];
}

function attributesOf(turn: Turn): Attributes {
  const { number, cause, playedMs, parts, endOfTurn, reopened, interrupted, drafted, error } = turn;
  const latency = parts
    ? Object.fromEntries(LATENCY_PARTS.map((part) => [`speech.latency.${part}_ms`, parts[part]]))
    : {};
  return {
    'speech.turn': number,
    'speech.cause': cause,
    'speech.reopened': reopened,
    'speech.drafted': drafted,
    ...(playedMs !== null && { 'speech.latency_ms': playedMs }),
    ...latency,
    ...(endOfTurn && {
      'speech.detector': endOfTurn.detector,
      'speech.completeness': endOfTurn.completeness,
      'speech.endpointing_delay_ms': endOfTurn.delayMs,
      ...(endOfTurn.probability !== null && { 'speech.probability': endOfTurn.probability }),
    }),
    ...(interrupted && { 'speech.interrupted_by': interrupted.by }),
    ...(error !== null && { 'speech.error': error }),
  };
}

const FAILED = { code: SpanStatusCode.ERROR };

export class CallTrace {
  readonly #session: Span;
  readonly #context: Context;

  constructor(sessionId: string, agentId: string, startTime: Date) {
    const attributes = { 'speech.session_id': sessionId, 'speech.agent_id': agentId };
    this.#session = tracer().startSpan('session', { attributes, startTime }, ROOT_CONTEXT);
    this.#context = trace.setSpan(ROOT_CONTEXT, this.#session);
  }

  /** Adds a turn that has ended. */
  turn(turn: Turn): void {
    const pieces = piecesOf(turn);
    const moment = (ms: number): Date => new Date(turn.at.getTime() + ms);
    const from = Math.min(0, ...pieces.map((piece) => piece.from));
    const to = Math.max(turn.endedMs ?? 0, ...pieces.flatMap((piece) => [piece.from, piece.to]));
    const options = { attributes: attributesOf(turn), startTime: moment(from) };
    const span = tracer().startSpan('turn', options, this.#context);
    const context = trace.setSpan(this.#context, span);
    for (const piece of pieces) {
      const startTime = moment(piece.from);
      const { name, attributes = {} } = piece;
      const part = tracer().startSpan(name, { attributes, startTime }, context);
      if (piece.failed) part.setStatus(FAILED);
      part.end(moment(Math.max(piece.from, piece.to)));
    }
    if (turn.error !== null) span.setStatus(FAILED);
    span.end(moment(to));
  }

  end(reason: string, endTime: Date): void {
    this.#session.setAttribute('speech.ended_reason', reason);
    if (reason === 'error') this.#session.setStatus(FAILED);
    this.#session.end(endTime);
  }
}
