/**
 * Errors of protocol A on the wire (docs/contract/limits.md; docs/contract/decisions.md "Protocol A"). An error of the native
 * service is a `provider_error` with the provider's name; an error of this layer carries no metadata.
 */
import { isRateLimit, type ServiceError } from '../../../contracts/errors.js';
import { toldMessage } from '../../../contracts/speech/missing-voice.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';
import type { Reply } from '../../server/port.js';
import { json } from '../../server/replies.js';

const FAILED = 500;

/** The only list of voices in this protocol. */
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

/** `error_type` by status, as the aggregator's schema spells it. */
const STREAM_ERROR_TYPES: Readonly<Record<number, string>> = {
  408: 'timeout',
  429: 'rate_limit_exceeded',
  502: 'provider_unavailable',
  503: 'provider_overloaded',
  504: 'timeout',
};

const streamErrorType = ({ status }: ServiceError): string =>
  STREAM_ERROR_TYPES[status] ?? (status < 500 ? 'invalid_request' : 'server');

/** The value of `error` in a chunk of a stream: there, metadata must include `error_type`. */
export function streamErrorBody(error: ServiceError, vocabulary: Pick<Vocabulary, 'providerName'>): object {
  const body: { readonly metadata?: object } = errorBody(error, vocabulary);
  if (!body.metadata) return body;
  return { ...body, metadata: { ...body.metadata, error_type: streamErrorType(error) } };
}

/** Statuses after which work may have been done and billed: clients are told not to retry by themselves (docs/contract/limits.md). */
const NEVER_RETRIED: readonly number[] = [500, 502];

export const errorReply = (error: ServiceError, vocabulary: Vocabulary): Reply =>
  json(
    error.status,
    { error: errorBody(error, vocabulary) },
    NEVER_RETRIED.includes(error.status) ? { 'x-should-retry': 'false' } : {},
  );
