/**
 * JSON messages over the data channel (docs/contract/platform.md 6.9): `agent-event` to the client, `client-event` from it.
 * Incoming events are limited in size and checked; one that is not understood is dropped.
 */
import type { EndReason } from '../../../../actors/agent/events.js';
import { withoutByteOrderMark } from '../../../../contracts/text/byte-order-mark.js';
import { isPlainObject, type PlainObject } from '../../../../contracts/schemas/plain-object.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { Language } from '../../../../contracts/speech/languages.js';
import { firstBytes, wellFormed } from '../../../../contracts/text/text.js';
import { cutOf, type Turn } from '../../../../contracts/sessions/turns.js';

export const TOPICS = { toClient: 'agent-event', fromClient: 'client-event' } as const;

/** Most bytes of a message; one data packet is not larger. */
const MOST_BYTES = 64 * 1024;
/** Most bytes of input, of output and of an error that a lifecycle event shows. */
const SHOWN = 4096;

export type SessionClientEvent =
  | { readonly type: 'user.message'; readonly text: string; readonly aloud: boolean }
  /** Keys of a telephone that belong together. */
  | { readonly type: 'user.dtmf'; readonly digits: string }
  | { readonly type: 'user.activity' }
  | { readonly type: 'user.interrupt' }
  | { readonly type: 'user.hangup' }
  /** Shows the user's words while they are spoken. */
  | { readonly type: 'captions.live' }
  | {
      readonly type: 'client_tool.result';
      readonly callId: string;
      readonly result: unknown;
      readonly isError: boolean;
    };

export type ClientEventHandlers = {
  readonly [Type in SessionClientEvent['type']]: (
    event: Extract<SessionClientEvent, { readonly type: Type }>,
  ) => void;
};

/** Events that cost something each time: their rate is limited. */
export const RATIONED: ReadonlySet<SessionClientEvent['type']> = new Set([
  'user.message',
  'user.dtmf',
  'user.activity',
  'user.interrupt',
]);

/** Pressed keys as the record and the language model see them. */
export const keyed = (digits: string): string => `[keypad: ${digits}]`;

const KEYS = /^[0-9*#A-D]{1,32}$/;

const SIMPLE = new Set(['user.activity', 'user.interrupt', 'user.hangup', 'captions.live']);

/** Why an event that was understood has no effect. */
export type DropReason = 'rate_limited' | 'too_long' | 'on_hold';

/** A line that the user has typed, longer than one is taken. */
export interface TooLong {
  readonly type: 'user.message';
  readonly dropped: 'too_long';
}

/** A line that the user has typed; undefined for a blank one. */
export function typedLine(text: string, aloud: boolean): SessionClientEvent | TooLong | undefined {
  if (text.trim() === '') return undefined;
  if (text.length > LIMITS.session.typedLength) return { type: 'user.message', dropped: 'too_long' };
  return { type: 'user.message', text: wellFormed(text), aloud };
}

function eventOf(fields: PlainObject): SessionClientEvent | TooLong | undefined {
  const { type, text, audio, digits, callId, result, isError } = fields;
  // Only strings: a value that merely converts to one would escape the rate limit, which goes by type.
  if (typeof type !== 'string') return undefined;
  if (SIMPLE.has(type)) return { type } as SessionClientEvent;
  if (type === 'user.message' && typeof text === 'string') return typedLine(text, audio !== false);
  if (type === 'user.dtmf' && typeof digits === 'string' && KEYS.test(digits)) return { type, digits };
  if (type === 'client_tool.result' && typeof callId === 'string')
    return { type, callId, result, isError: isError === true };
  return undefined;
}

/** Undefined if the payload is no event of ours. */
export function readClientEvent(payload: Uint8Array): SessionClientEvent | TooLong | undefined {
  if (payload.byteLength > MOST_BYTES) return undefined;
  try {
    const value = JSON.parse(withoutByteOrderMark(Buffer.from(payload).toString())) as unknown;
    return isPlainObject(value) ? eventOf(value) : undefined;
  } catch {
    return undefined;
  }
}

export interface ToolNote {
  readonly callId: string;
  readonly toolName: string;
  readonly toolSource: string;
}

function shown(name: 'input' | 'output', value: string) {
  const text = firstBytes(value, SHOWN);
  return { [name]: text, ...(text.length < value.length && { [`${name}Truncated`]: true }) };
}

/** The reasons of an end, as clients know them. */
const SESSION_ENDS: Readonly<Record<EndReason, string>> = {
  user_hangup: 'user_hangup',
  gone: 'user_hangup',
  agent_hangup: 'agent_hangup',
  conversation_timeout: 'conversation_timeout',
  ended_by_api: 'agent_hangup',
  transferred: 'agent_hangup',
  transport_lost: 'agent_hangup',
  llm_endpoint_failure: 'agent_hangup',
  speech_failure: 'agent_hangup',
  error: 'agent_hangup',
};

/** Each gives one message for the client. */
export const AGENT_EVENTS = {
  toolStarted: (note: ToolNote, input: string) => ({
    type: 'tool.started',
    ...note,
    nodeId: null,
    ...shown('input', input),
  }),
  toolCompleted: (note: ToolNote, output: string) => ({
    type: 'tool.completed',
    ...note,
    nodeId: null,
    ...shown('output', output),
  }),
  toolFailed: (note: ToolNote, error: string) => ({
    type: 'tool.failed',
    ...note,
    nodeId: null,
    error: firstBytes(error, SHOWN),
  }),
  clientToolCall: (callId: string, toolName: string, params: object, expectsResponse: boolean) => ({
    type: 'client_tool.call',
    callId,
    toolName,
    params,
    expectsResponse,
  }),
  /** Numbers only: the words have already been shown as captions. */
  turnCompleted: (turn: Turn) => ({
    type: 'turn.completed',
    number: turn.number,
    turnId: turn.turnId,
    cause: turn.cause,
    latencyMs: turn.playedMs,
    latency: turn.parts,
    interruptedBy: turn.interrupted?.by ?? null,
    answerCut: cutOf(turn),
  }),
  /** The user speaks another language, and so does the agent from now on. */
  languageChanged: (language: Language) => ({ type: 'language.changed', language }),
  agentChanged: (agentId: string, agentName: string) => ({ type: 'agent.changed', agentId, agentName }),
  /** A message of the client had no effect. */
  messageDropped: (event: SessionClientEvent['type'], reason: DropReason) => ({
    type: 'message.dropped',
    event,
    reason,
  }),
  /** `code`: of the error, if it is known (contracts/errors.ts). */
  failed: (code: string | undefined) => ({
    type: 'error',
    code: code === 'internal' ? 'internal_error' : 'provider_error',
  }),
  ended: (reason: EndReason) => ({ type: 'session.ended', reason: SESSION_ENDS[reason] }),
} as const;

export const encodeEvent = (event: object): Uint8Array => Buffer.from(JSON.stringify(event));
