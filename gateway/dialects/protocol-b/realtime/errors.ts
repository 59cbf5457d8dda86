/**
 * Errors on the realtime socket of protocol B (docs/contract/protocol-b.md 5, "Error message_types";
 * docs/contract/decisions.md "Protocol B"): the type of each of our errors, and whether it ends the session.
 */
import type { PassingFault, SessionFault } from '../../../../actors/transcription-session.js';
import type { ErrorCode, ServiceError } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';

type ErrorType =
  | 'auth_error'
  | 'chunk_size_exceeded'
  | 'commit_throttled'
  | 'input_error'
  | 'invalid_request'
  | 'queue_overflow'
  | 'quota_exceeded'
  | 'rate_limited'
  | 'resource_exhausted'
  | 'session_time_limit_exceeded'
  | 'transcriber_error';

type Row = Pick<SessionFault, 'close'> & { readonly type: ErrorType };

const AUTH: Row = { type: 'auth_error', close: 'policy' };
/** Keeps the session open, since closing would make all clients reconnect at once. */
const EXHAUSTED: Row = { type: 'resource_exhausted' };
const FAILED: Row = { type: 'transcriber_error', close: 'internal' };
const REJECTED: Row = { type: 'invalid_request', close: 'policy' };

const ROWS: Readonly<Partial<Record<ErrorCode, Row>>> = {
  missing_key: AUTH,
  invalid_key: AUTH,
  expired_key: AUTH,
  role_forbidden: AUTH,
  quota_exceeded: { type: 'quota_exceeded', close: 'policy' },
  concurrency_exceeded: { type: 'rate_limited', close: 'policy' },
  audio_too_long: { type: 'input_error' },
  engine_busy: EXHAUSTED,
  overloaded: EXHAUSTED,
  storage_busy: EXHAUSTED,
  memory_exhausted: EXHAUSTED,
  connection_expired: { type: 'session_time_limit_exceeded', close: 'policy' },
  draining: EXHAUSTED,
};

/** The message, prefixed with the option at fault unless it names it already. */
const causeOf = ({ message, param }: ServiceError): string =>
  param === undefined || message.includes(param) ? message : `${param}: ${message}`;

/** One of our errors in the form in which the client gets it. */
export const faultOf = (error: ServiceError): SessionFault => ({
  ...(ROWS[error.code] ?? (error.status >= 500 ? FAILED : REJECTED)),
  message: causeOf(error),
});

/** Whether the client may commit the same audio again, since the audio itself was accepted. */
export const isExhausted = ({ type }: SessionFault): boolean => type === EXHAUSTED.type;

/** Fault for a refused frame; the session continues. */
export const inputFault = (message: string): PassingFault & Row => ({ type: 'input_error', message });

export const FRAME_TOO_LARGE: SessionFault & Row = {
  type: 'chunk_size_exceeded',
  message: 'The frame is larger than 32 MiB',
  close: 'tooBig',
};

export const TOO_MANY_COMMITS: PassingFault & Row = {
  type: 'queue_overflow',
  message: `Commit request ignored: ${LIMITS.realtimeTranscription.pendingCommits} commits wait for their transcripts`,
};

export const BUFFER_FULL = inputFault('The audio was dropped: 100 MiB wait to be committed or transcribed');

export const NO_MEMORY: PassingFault & Row = {
  type: 'resource_exhausted',
  message: 'The audio was dropped: the server has no memory left, try again later',
};

/** Fault for a commit with only `seconds` of audio, which is too little. */
export const throttled = (seconds: number): PassingFault & Row => ({
  type: 'commit_throttled',
  message:
    `Commit request ignored: only ${seconds.toFixed(2)}s of uncommitted audio. You need at least ` +
    `${LIMITS.realtimeTranscription.commitMs / 1000}s of uncommitted audio before committing.`,
});
