/** Errors across the wire: a `ServiceError` with its code and message, anything else as a bare `engine_failed`. */
import { isErrorCode, ServiceError } from '../contracts/errors.js';

/** A handler's error as a caller may see it. The text of an unknown error stays in the cause. */
export const asServiceError = (error: unknown): ServiceError =>
  error instanceof ServiceError ? error : new ServiceError('engine_failed', { cause: error });

export const errorToWire = ({ code, message, param, retryAfter }: ServiceError): object => ({
  code,
  message,
  param,
  retryAfter,
});

/** The error of an `error` frame; a malformed one is a bare `engine_failed`. */
export function errorFromWire(wire: unknown): ServiceError {
  const { code, message, param, retryAfter } = (wire ?? {}) as Record<string, unknown>;
  if (typeof code !== 'string' || !isErrorCode(code)) return new ServiceError('engine_failed');
  return new ServiceError(code, {
    ...(typeof message === 'string' && { message }),
    ...(typeof param === 'string' && { param }),
    ...(typeof retryAfter === 'number' && { retryAfter }),
  });
}

/** A child was frozen and is replaced: whoever asks again is served by another. */
export const engineFrozen = (): ServiceError =>
  new ServiceError('engine_lost', { status: 503, retryAfter: 1 });
