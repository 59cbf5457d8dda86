/**
 * How protocol A says that something went wrong (spec "Errors"; decisions.md "Protocol A"). What the native
 * service says is a `provider_error` with its name; what this layer says carries no metadata.
 */
import type { ServiceError } from '../../../contracts/errors.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';
import type { Reply } from '../../server/port.js';

export type ErrorType =
  'authentication_error' | 'rate_limit_error' | 'provider_error' | 'invalid_request_error';

export function errorType({ code, status, origin }: ServiceError): ErrorType {
  if (code === 'missing_key') return 'authentication_error';
  if (status === 429) return 'rate_limit_error';
  return origin === 'service' ? 'provider_error' : 'invalid_request_error';
}

/** The value of `error`. */
export function errorBody(error: ServiceError, { providerName }: Pick<Vocabulary, 'providerName'>): object {
  const type = errorType(error);
  return {
    code: error.status,
    message: error.message,
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

/** Work may have been done, and billed: the clients' own retries are told to stay out (spec "Errors"). */
const NEVER_RETRIED: readonly number[] = [500, 502];

export const errorReply = (error: ServiceError, vocabulary: Vocabulary): Reply => ({
  status: error.status,
  headers: {
    'content-type': 'application/json',
    ...(NEVER_RETRIED.includes(error.status) ? { 'x-should-retry': 'false' } : {}),
  },
  body: JSON.stringify({ error: errorBody(error, vocabulary) }),
});
