/** Failures of the service, in the bodies of its refusals and in frames of its sockets. */
import { ServiceError } from '../../../contracts/errors.js';
import { isPlainObject, type PlainObject } from '../../../contracts/schemas/plain-object.js';
import { refused, type RemoteAddress } from '../remote/request.js';

const NO_CREDIT = 402;
/** Seconds to wait where the service names none. */
const RETRY_AFTER = 1;

/** Statuses of what sockets call by name: as its REST answers the same. */
const STATUSES: Readonly<Record<string, number>> = {
  authentication_required: 401,
  auth_error: 401,
  invalid_api_key: 401,
  invalid_authorization_header: 401,
  missing_permissions: 401,
  needs_authorization: 401,
  unaccepted_terms: 401,
  quota_exceeded: NO_CREDIT,
  voice_not_found: 404,
  model_not_found: 400,
  input_error: 400,
  invalid_request: 400,
  unsupported_output_format: 400,
  concurrency_limit_exceeded: 429,
  rate_limited: 429,
  system_busy: 429,
  too_many_concurrent_requests: 429,
  resource_exhausted: 503,
  queue_overflow: 503,
};

const noCredit = (): ServiceError =>
  new ServiceError('provider_failed', {
    status: NO_CREDIT,
    answered: NO_CREDIT,
    message: 'The speech provider has no credit left for this gateway',
  });

/** Of a body: a used up quota comes with the status of a wrong key. */
export function refusalIn(body: unknown): ServiceError | undefined {
  const detail = isPlainObject(body) && isPlainObject(body['detail']) ? body['detail'] : {};
  return detail['status'] === 'quota_exceeded' ? noCredit() : undefined;
}

/** Names that are words, and no texts of users. */
const NAME = /^[a-z0-9_]{1,64}$/;

/** `said`: what the service says of it in words. */
export function failureNamed(name: string, address: RemoteAddress, said?: string): ServiceError {
  const status = STATUSES[name];
  if (status === NO_CREDIT) return noCredit();
  if (status !== undefined)
    return refused(address, status, { said, ...(status === 429 && { retryAfter: RETRY_AFTER }) });
  const cause = new Error(NAME.test(name) ? `It says ${name}` : 'It gives no name for it');
  return new ServiceError('provider_failed', { cause });
}

/** Of a frame of `stream-input`; undefined if it tells none. */
export function failureIn(frame: PlainObject, address: RemoteAddress): ServiceError | undefined {
  const { error, message } = frame;
  if (typeof error !== 'string' && typeof message !== 'string') return undefined;
  return failureNamed(typeof error === 'string' ? error : '', address);
}
