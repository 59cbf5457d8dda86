/**
 * Errors of a realtime session: an `error` event in band, with the client's `event_id`
 * (docs/contract/decisions.md "Protocol A", realtime error codes). The socket stays open.
 */
import type { ToldError } from '../../../../actors/realtime.js';
import { type ErrorCode, isRateLimit, ServiceError } from '../../../../contracts/errors.js';
import { A_SESSION } from '../../../../contracts/options/protocol-a.js';
import { toldMessage } from '../../../../contracts/speech/missing-voice.js';
import { VOICE_LIST } from '../errors.js';

export const FAULTS = {
  unknown_event_type: 'Unknown event type',
  invalid_event: 'Invalid event',
  session_expired: 'The session has reached its longest duration',
  item_not_found: 'The conversation has no such item',
  input_audio_buffer_commit_empty: 'The input audio buffer is empty',
  // Clients tell by its first words that it is no failure: they cancel to be sure.
  response_cancel_not_active: 'Cancellation failed: no such response is active',
  response_already_active: 'The session has an active response; wait for its end or cancel it',
  conversation_too_large: 'The session holds as much as it may',
  unsupported_native_options:
    'Native option headers are for synthesis only: this session does not transcribe',
  unsupported_turn_detection: A_SESSION['audio.input.turn_detection'].refusal.why,
  unsupported_audio_format: 'Unsupported audio format',
  unsupported_output_modalities: 'output_modalities must hold audio',
  invalid_speed: 'Invalid speed',
  invalid_voice: 'Invalid voice',
  model_not_found: 'Unknown model',
} as const;

export type FaultCode = keyof typeof FAULTS;

/** A client's event that cannot be carried out. */
export class Fault extends Error {
  constructor(
    readonly code: FaultCode,
    message: string = FAULTS[code],
    /** The field at fault, as the client spells it. */
    readonly param?: string,
  ) {
    super(message);
  }
}

const CODES: Partial<Record<ErrorCode, FaultCode>> = {
  voice_not_found: 'invalid_voice',
  voice_language: 'invalid_voice',
  model_not_found: 'model_not_found',
  unsupported_format: 'unsupported_audio_format',
  invalid_request: 'invalid_event',
  connection_expired: 'session_expired',
};

function typeOf(error: ServiceError): string {
  if (isRateLimit(error)) return 'rate_limit_error';
  const failed = error.status >= 500 || error.status === 429;
  return failed ? 'server_error' : 'invalid_request_error';
}

export const toldFault = ({ code, message, param }: Fault): ToldError => ({
  type: 'invalid_request_error',
  code,
  message,
  ...(param === undefined ? {} : { param }),
});

export const toldError = (error: ServiceError): ToldError => ({
  type: typeOf(error),
  code: CODES[error.code] ?? error.code,
  message: toldMessage(error, VOICE_LIST),
  ...(error.param === undefined ? {} : { param: error.param }),
});

/** The error as the client is told it. Errors: rethrows any error that is not for clients. */
export function toldOf(error: unknown): ToldError {
  if (error instanceof Fault) return toldFault(error);
  if (error instanceof ServiceError) return toldError(error);
  throw error;
}
