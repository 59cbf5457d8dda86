/**
 * Errors of protocol A on the wire (docs/contract/limits.md; docs/contract/decisions.md "Protocol A"). What the native
 * service says is a `provider_error` with its name; what this layer says carries no metadata.
 */
import { isRateLimit, type ServiceError } from '../../../contracts/errors.js';
import { toldMessage } from '../../../contracts/missing-voice.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';
import type { Reply } from '../../server/port.js';
import { json } from '../../server/replies.js';

const FAILED = 500;

/** The one list of voices in this protocol. */
export const VOICE_LIST = 'GET /v1/audio/voices';

export type ErrorType =
  | 'authentication_error'
  | 'rate_limit_error'
  | 'provider_error'
  | 'server_error'
  | 'invalid_request_error';

export function errorType(error: ServiceError): ErrorType {
  if (error.code === 'missing_key') return 'authentication_error';
  if (isRateLimit(error)) return 'rate_limit_error';
  if (error.origin === 'service') return 'provider_error';
  return error.status >= FAILED ? 'server_error' : 'invalid_request_error';
}

/** The value of `error`. */
export function errorBody(error: ServiceError, { providerName }: Pick<Vocabulary, 'providerName'>): object {
  const type = errorType(error);
  return {
    code: error.status,
    message: toldMessage(error, VOICE_LIST),
    type,
    ...(error.param === undefined ? {} : { param: error.param }),
    ...(type === 'provider_error' ? { metadata: { provider_name: providerName } } : {}),
  };
}

/** `error_type` by status, in the words of the aggregator's schema. */
const STREAM_ERROR_TYPES: Readonly<Record<number, string>> = {
  408: 'timeout',
  429: 'rate_limit_exceeded',
  502: 'provider_unavailable',
  503: 'provider_overloaded',
  504: 'timeout',
};

const streamErrorType = ({ status }: ServiceError): string =>
  STREAM_ERROR_TYPES[status] ?? (status < 500 ? 'invalid_request' : 'server');

/** The value of `error` in a chunk of a stream: there, metadata must say of what type the error is. */
export function streamErrorBody(error: ServiceError, vocabulary: Pick<Vocabulary, 'providerName'>): object {
  const body: { readonly metadata?: object } = errorBody(error, vocabulary);
  if (!body.metadata) return body;
  return { ...body, metadata: { ...body.metadata, error_type: streamErrorType(error) } };
}

/** Work may have been done, and billed: the clients' own retries are told to stay out (docs/contract/limits.md). */
const NEVER_RETRIED: readonly number[] = [500, 502];

export const errorReply = (error: ServiceError, vocabulary: Vocabulary): Reply =>
  json(
    error.status,
    { error: errorBody(error, vocabulary) },
    NEVER_RETRIED.includes(error.status) ? { 'x-should-retry': 'false' } : {},
  );
