/** Errors: their statuses and words, and what becomes of those of others. */
import t from '../../fixtures/tap.js';
import {
  type ErrorCode,
  ERRORS,
  errorText,
  isErrorCode,
  isRateLimit,
  ServiceError,
  toServiceError,
} from '../../../contracts/errors.js';
import { exactly } from '../../fixtures/exactly.js';

t.test('the database that is away or full is told as such, and everything else is internal', async (t) => {
  const query = 'select 1';
  const cases: [object, string][] = [
    [{ code: 'CONNECTION_CLOSED' }, 'storage_unavailable'],
    [{ code: 'CONNECT_TIMEOUT' }, 'storage_unavailable'],
    [{ code: 'ECONNREFUSED', query }, 'storage_unavailable'],
    [{ code: 'EAI_AGAIN', query }, 'storage_unavailable'],
    [{ code: '08006', query }, 'storage_unavailable'],
    [{ code: '25006', query }, 'storage_unavailable'],
    [{ code: '53300', query }, 'storage_unavailable'],
    [{ code: '57P01', query }, 'storage_unavailable'],
    [{ code: '57014', query }, 'storage_busy'],
    [{ code: '55P03', query }, 'storage_busy'],
    [{ code: 'ENOSPC' }, 'storage_full'],
    [{ code: 'EDQUOT' }, 'storage_full'],
    [{ code: '53100', query }, 'storage_full'],
    [{ code: '53100' }, 'internal'],
    [{ code: 'ECONNREFUSED' }, 'internal'],
    [{ code: '23505', query }, 'internal'],
    [{ code: '250061', query }, 'internal'],
    [{ code: 'XENOSPC' }, 'internal'],
    [{ code: 'ENOSPCX' }, 'internal'],
    [{ code: 'XCONNECTION_CLOSED' }, 'internal'],
    // A moment outside of the database's range.
    [{ code: '22008', query }, 'internal'],
    [{ code: '42530', query }, 'internal'],
    [{ code: '533000', query }, 'internal'],
    [{ code: 'ERR_INVALID_ARG_TYPE', query }, 'internal'],
    [{ code: 25006, query }, 'internal'],
    [{ code: 53100, query }, 'internal'],
    [{}, 'internal'],
  ];
  for (const [fields, code] of cases) {
    const error = Object.assign(new Error('m'), fields);
    exactly(t, toServiceError(error), { code, cause: error }, JSON.stringify(fields));
  }
  for (const thrown of [{ code: 'ENOSPC' }, { code: 'CONNECTION_CLOSED' }, 'ENOSPC', undefined, null])
    exactly(t, toServiceError(thrown), { code: 'internal', status: 500 }, 'no error');
  const known = new ServiceError('not_found', { status: 410, retryAfter: 3 });
  t.equal(toServiceError(known), known);
  exactly(t, known, {
    name: 'ServiceError',
    message: 'Not found',
    status: 410,
    origin: 'edge',
    retryAfter: 3,
  });
  t.ok(isErrorCode('internal'));
  t.notOk(isErrorCode('constructor'));
  t.ok(
    isRateLimit(new ServiceError('rate_limited')) && isRateLimit(new ServiceError('concurrency_exceeded')),
  );
  t.notOk(isRateLimit(new ServiceError('provider_failed', { status: 429 })));
});

/** The statuses of docs/contract, by which clients decide whether to ask again. */
const STATUSES: Readonly<Record<number, string>> = {
  400: 'invalid_request malformed_body nothing_to_say unsupported_option unsupported_format model_not_found voice_not_found voice_language cloning_unavailable speakers_unavailable language_unavailable audio_unreadable',
  401: 'missing_key invalid_key expired_key',
  402: 'quota_exceeded',
  403: 'forbidden role_forbidden voice_read_only',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'connection_expired request_timeout',
  409: 'conflict',
  413: 'payload_too_large audio_too_large audio_too_long',
  415: 'unsupported_media_type',
  422: 'validation_failed',
  429: 'rate_limited concurrency_exceeded',
  431: 'head_too_large',
  500: 'internal',
  501: 'unknown_method',
  502: 'engine_failed engine_lost provider_failed context_exceeded transport_failed first_byte_timeout',
  503: 'overloaded memory_exhausted draining storage_unavailable storage_busy storage_full engine_busy',
  505: 'http_version',
};

t.test('each error has its status, and a sentence', async (t) => {
  const codes = Object.entries(STATUSES).flatMap(([status, names]) =>
    names.split(' ').map((code) => [code, Number(status)] as const),
  );
  t.strictSame(codes.map(([code]) => code).sort(), Object.keys(ERRORS).sort());
  for (const [code, status] of codes)
    exactly(t, new ServiceError(code as ErrorCode), { status, message: /^[A-Z].{5}/, param: undefined }, code);
  t.strictSame(new ServiceError('internal').problems, []);
  const problems = [{ loc: ['a'], type: 'required', message: 'missing field a' }];
  const cause = new Error('cause');
  const options = { message: 'm', param: 'p', problems, status: 418, retryAfter: 0, cause };
  exactly(t, new ServiceError('internal', options), { ...options, code: 'internal', origin: 'service' });
  for (const thrown of [new Error('m'), 'm']) t.equal(errorText(thrown), 'm');
  t.equal(errorText(undefined), 'undefined');
}); // oxfmt-ignore

t.test('errors that clients know by their words have these words', async (t) => {
  const words = {
    invalid_key: 'Invalid Token',
    quota_exceeded: 'Insufficient API credit',
    concurrency_exceeded: 'You have exceeded your current concurrency limit',
    voice_not_found: 'Reference not found',
    overloaded: 'The server is under high load, try again later',
    first_byte_timeout: 'No response within 5 minutes',
    audio_too_long: 'Audio is longer than 60 minutes',
    head_too_large: 'The request line and the headers are larger than 64 KiB',
  } as const satisfies Partial<Record<ErrorCode, string>>;
  for (const [code, message] of Object.entries(words))
    t.equal(new ServiceError(code as ErrorCode).message, message);
});
