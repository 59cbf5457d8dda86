/**
 * Errors of protocol B on the wire (docs/contract/protocol-b.md 7; docs/contract/decisions.md "Protocol B"): the older
 * shape, `status` and `message`, and the newer one, `type` and `code`, in one object.
 */
import type { ErrorCode, ServiceError } from '../../../contracts/errors.js';
import { toldMessage } from '../../../contracts/speech/missing-voice.js';
import type { Reply } from '../../server/port.js';
import { json } from '../../server/replies.js';

/** Errors that have another name in this protocol. */
const SLUGS: Readonly<Partial<Record<ErrorCode, string>>> = {
  missing_key: 'needs_authorization',
  invalid_key: 'invalid_api_key',
  expired_key: 'invalid_api_key',
  role_forbidden: 'missing_permissions',
  concurrency_exceeded: 'too_many_concurrent_requests',
  overloaded: 'system_busy',
  draining: 'system_busy',
  engine_busy: 'system_busy',
  memory_exhausted: 'system_busy',
  connection_expired: 'session_time_limit_exceeded',
  storage_unavailable: 'system_busy',
  storage_busy: 'system_busy',
  storage_full: 'system_busy',
  internal: 'internal_error',
};

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'payment_required',
  403: 'authorization_error',
  404: 'not_found',
  429: 'rate_limit_error',
};

const typeOf = (status: number): string =>
  TYPES[status] ?? (status >= 500 ? 'internal_error' : 'validation_error');

/** Route of the voice list, relative to the base. */
export const VOICE_LIST = 'GET /v1/voices';

/** The protocol's name of an error, on REST and in frames. */
export const slugOf = ({ code }: Pick<ServiceError, 'code'>): string => SLUGS[code] ?? code;

/** The body of an error; also the last line of a JSON lines stream that fails. */
export function errorBody(error: ServiceError, generationId: string): object {
  const { status, param } = error;
  const slug = slugOf(error);
  const detail = {
    type: typeOf(status),
    code: slug,
    status: slug,
    message: toldMessage(error, VOICE_LIST),
    request_id: generationId,
    ...(param === undefined ? {} : { param }),
  };
  return { detail };
}

export const errorReply = (error: ServiceError, generationId: string): Reply =>
  json(error.status, errorBody(error, generationId), requestIds(generationId));

/** The generation id in the headers that this protocol's clients read. */
export const requestIds = (generationId: string): Record<string, string> => ({
  'request-id': generationId,
  'x-request-id': generationId,
});
