/**
 * What one ended call adds to the figures of its workspace (`GET /v1/agent/stats`): numbers only, so that they may outlive its record.
 */
import type { Direction } from '../phone/phone.js';
import type { EndedReason, SessionItem, SessionSource } from '../ports/sessions/sessions.js';
import { latencyCounts } from './latency-counts.js';
import { costOf, type Prices } from './prices.js';
import { type Turn, usageOf } from './turns.js';

/** How a call came about. `chat`: in writing. `dashboard`: a preview of a draft, or a test by voice. */
export const CALL_KINDS = [
  'api_key',
  'public',
  'phone_inbound',
  'phone_outbound',
  'chat',
  'dashboard',
] as const;
export type CallKind = (typeof CALL_KINDS)[number];

export const kindOfCall = (source: SessionSource, direction: Direction | null): CallKind =>
  source === 'phone' ? `phone_${direction ?? 'inbound'}` : source;

/** Sums of any number of calls that ended for the same reason. */
export interface CallSums {
  readonly calls: number;
  /** Answers of the agent that were heard or failed, and those that failed. */
  readonly answers: number;
  readonly failedAnswers: number;
  readonly tools: number;
  readonly failedTools: number;
  readonly wordsUser: number;
  readonly wordsAgent: number;
  readonly callMs: number;
  /** In units of the currency; 0 without prices. */
  readonly cost: number;
  /** How many answers took how long (latency-counts.ts). */
  readonly latencies: readonly number[];
}

/** What is counted of a call: its record, at the moment of its end. */
export interface CountedCall {
  readonly turns: readonly Pick<Turn, 'cause' | 'playedMs' | 'error' | 'tools' | 'usage'>[];
  readonly messages: readonly Pick<Extract<SessionItem, { type: 'message' }>, 'role' | 'content'>[];
  /** 0 if nobody was connected. */
  readonly callMs: number;
  readonly prices: Prices | null;
}

/** A word; of scripts without spaces, two characters, as their words are long on average. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]{1,2}|[\p{L}\p{N}]+(?:['’.-][\p{L}\p{N}]+)*/gu;

export const wordsIn = (text: string): number => text.match(WORD)?.length ?? 0;

const wordsOf = (messages: CountedCall['messages'], role: 'user' | 'assistant'): number =>
  messages.reduce((sum, message) => sum + (message.role === role ? wordsIn(message.content) : 0), 0);

/** The latency of an answer that somebody waited for: to their turn, spoken or typed. */
const waited = ({ cause, playedMs }: CountedCall['turns'][number]): readonly number[] =>
  playedMs !== null && (cause === 'turn' || cause === 'typed') ? [playedMs] : [];

export function sumsOfCall({ turns, messages, callMs, prices }: CountedCall): CallSums {
  const tools = turns.flatMap((turn) => turn.tools);
  return {
    calls: 1,
    answers: turns.filter(({ playedMs, error }) => playedMs !== null || error !== null).length,
    failedAnswers: turns.filter(({ error }) => error !== null).length,
    tools: tools.length,
    failedTools: tools.filter(({ failed }) => failed).length,
    wordsUser: wordsOf(messages, 'user'),
    wordsAgent: wordsOf(messages, 'assistant'),
    callMs,
    cost: prices ? costOf(usageOf(turns), callMs, prices).total : 0,
    latencies: latencyCounts(turns.flatMap(waited)),
  };
}

/** One group of ended calls. */
export interface CallGroup extends CallSums {
  /** The beginning of its hour, day or week, in UTC. */
  readonly at: Date;
  readonly reason: EndedReason;
  /** Whether somebody was connected: what nobody joined is no call. */
  readonly connected: boolean;
  /** Empty without prices. */
  readonly currency: string;
}
