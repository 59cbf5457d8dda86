/**
 * Faults of the speech sockets, sent as `{message, error, code}`; `code` is the code that the socket then closes
 * with (docs/contract/protocol-b.md 3, "Errors").
 */
import type { SocketFault } from '../../../../actors/stream-input.js';
import { CLOSE, endingFor, ENDINGS } from '../../../../contracts/close-codes.js';
import type { ErrorCode, ServiceError } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { toldMessage } from '../../../../contracts/speech/missing-voice.js';
import { slugOf, VOICE_LIST } from '../errors.js';

const POLICY = CLOSE.policy.code;
const TOO_BIG = CLOSE.tooBig.code;
const FAILED = 500;

/** Errors that have another name here than on REST. */
const SLUGS: Readonly<Partial<Record<ErrorCode, string>>> = {
  missing_key: 'authentication_required',
  unsupported_format: 'unsupported_output_format',
  engine_failed: 'internal_error',
  engine_lost: 'internal_error',
};

function codeOf({ code, status }: ServiceError): number {
  if (code in ENDINGS) return CLOSE[endingFor(code)].code;
  return status >= FAILED ? CLOSE.internal.code : POLICY;
}

export const faultOf = (error: ServiceError): SocketFault => ({
  message: toldMessage(error, VOICE_LIST),
  error: SLUGS[error.code] ?? slugOf(error),
  code: codeOf(error),
  param: error.param,
});

/** Fault for an invalid frame; `problem` says what is wrong with it. */
export const invalidMessage = (problem: string): SocketFault => ({
  message: `Could not parse input message, make sure it is a json and follows the schema: ${problem}`,
  error: 'invalid_input_message',
  code: POLICY,
});

export const silence = (inactivityMs: number): SocketFault => ({
  message:
    `Have not received a new text input within the timeout of ${inactivityMs / 1000} seconds. ` +
    'The stream has ended; a text of one blank keeps it open',
  error: 'input_timeout_exceeded',
  code: POLICY,
});

/** Buffer overflow: code 1009, then the close. */
export const OVERFLOW: SocketFault = {
  message: 'More text waits to be spoken than 1 MiB',
  error: 'buffer_overflow',
  code: TOO_BIG,
};

export const TOO_LARGE: SocketFault = {
  message: 'The message is too large',
  error: 'message_too_large',
  code: TOO_BIG,
};

export const TOO_MANY_CONTEXTS: SocketFault = {
  message: `At most ${LIMITS.streamInput.contexts} contexts may be open on a connection at once`,
  error: 'max_contexts_exceeded',
  code: POLICY,
};

/** Fault of a closed context that still spoke when another one needed its place. */
export const GAVE_WAY: SocketFault = {
  ...TOO_MANY_CONTEXTS,
  message: `${TOO_MANY_CONTEXTS.message}: this closed one was stopped for a new one`,
};

export const LATE_SETTINGS: SocketFault = {
  message: 'voice_settings can only be set in the first message',
  error: 'invalid_input_message',
  code: POLICY,
  param: 'voice_settings',
};

export const LATE_SCHEDULE: SocketFault = {
  message: 'generation_config can only be set in the first message',
  error: 'invalid_input_message',
  code: POLICY,
  param: 'generation_config',
};
