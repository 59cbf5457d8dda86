/**
 * The one table of errors. A code names what went wrong; each dialect puts it in its own shape
 * (docs/contract/limits.md). `origin` is who refuses: `edge` (ours: validation, refusals, limits) or
 * `service` (the native service), which protocol A shows as `provider_error`.
 */
import type { Problem } from './schemas/check.js';

interface ErrorRow {
  readonly status: number;
  readonly origin: 'edge' | 'service';
  readonly message: string;
}

const edge = (status: number, message: string): ErrorRow => ({ status, origin: 'edge', message });
const service = (status: number, message: string): ErrorRow => ({ status, origin: 'service', message });

export const ERRORS = {
  invalid_request: edge(400, 'Invalid request'),
  malformed_body: edge(400, 'Malformed request body'),
  nothing_to_say: edge(400, 'The text holds nothing that can be spoken'),
  unsupported_option: edge(400, 'This option is not supported'),
  unsupported_format: edge(400, 'Unsupported audio format'),
  model_not_found: edge(400, 'Unknown model'),
  missing_key: edge(401, 'Missing API key'),
  not_found: edge(404, 'Not found'),
  forbidden: edge(403, 'Forbidden'),
  conflict: edge(409, 'Conflict'),
  validation_failed: edge(422, 'Validation failed'),
  method_not_allowed: edge(405, 'Method not allowed'),
  /** LIMITS.socket.connectionMs and LIMITS.http.connectionMs: said in band, since the answer has begun. */
  connection_expired: edge(408, 'The connection has reached its limit of 3600 seconds, open another one'),
  request_timeout: edge(408, 'The request did not arrive in time'),
  payload_too_large: edge(413, 'Request body is too large'),
  audio_too_large: edge(413, 'Audio is too large'),
  unsupported_media_type: edge(415, 'Unsupported content type'),
  /** This one and the next two refuse a request at the level of HTTP: its connection ends with the reply. */
  head_too_large: edge(431, 'The request line and the headers are larger than 64 KiB'),
  unknown_method: edge(501, 'This HTTP method is not known'),
  http_version: edge(505, 'HTTP/1.1 is spoken here'),
  rate_limited: edge(429, 'Too many requests, try again later'),
  overloaded: edge(503, 'The server is under high load, try again later'),
  /** What waits for its client or its turn has used MEMORY_BUDGET_MB up. */
  memory_exhausted: edge(503, 'The server has no memory left for this request, try again later'),
  draining: edge(503, 'The server is shutting down, try again'),
  storage_unavailable: edge(503, 'The database cannot be reached, try again later'),
  /** A statement took too long, or too many of one workspace were waiting. */
  storage_busy: edge(503, 'The database did not finish this in time, try again later'),
  /** The message says which roles a key would need. */
  role_forbidden: edge(403, 'This key may not do that'),
  storage_full: edge(503, 'The server has no space left to store this, try again later'),
  invalid_key: service(401, 'Invalid Token'),
  expired_key: service(401, 'Token expired'),
  quota_exceeded: service(402, 'Insufficient API credit'),
  concurrency_exceeded: service(429, 'You have exceeded your current concurrency limit'),
  voice_not_found: service(400, 'Reference not found'),
  voice_read_only: service(403, 'This voice belongs to an engine and cannot be changed'),
  voice_language: service(400, 'Language not supported by this voice'),
  cloning_unavailable: service(400, 'No configured engine can speak with reference audio'),
  speakers_unavailable: service(400, 'No configured engine can speak with several voices'),
  language_unavailable: service(400, 'Language not supported'),
  audio_unreadable: service(
    400,
    'Audio could not be decoded: send WAV, MP3, AAC, M4A or MP4, Ogg, WebM or Matroska, FLAC, AIFF, CAF, AU, AMR, AC-3, WMA, AVI, FLV or MPEG',
  ),
  audio_too_long: service(413, 'Audio is longer than 60 minutes'),
  engine_failed: service(502, 'The speech engine failed'),
  engine_lost: service(502, 'The speech engine stopped while working on this request'),
  /** A remote engine; `status` is its answer's, if it answered. */
  provider_failed: service(502, 'The speech provider failed'),
  context_exceeded: service(502, 'The conversation is longer than the language model can read'),
  /** The cluster that hosts the sessions (`LIVEKIT_URL`). */
  transport_failed: service(502, 'The media server could not be reached or refused'),
  first_byte_timeout: service(502, 'No response within 5 minutes'),
  engine_busy: service(503, 'All speech engines are busy, try again later'),
  internal: service(500, 'Internal error'),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

/** What a synthesis fails with because of its text: said again with the same voice, it would fail again. */
export const TEXT_FAILURES: ReadonlySet<string> = new Set<ErrorCode>([
  'language_unavailable',
  'nothing_to_say',
  'voice_language',
]);

interface ServiceErrorOptions {
  /** Replaces the table's message; must not hold transcripts, keys or audio. */
  readonly message?: string;
  /** The request field at fault, as the client spelled it. */
  readonly param?: string;
  /** All problems of the request, if more than the first is reported. */
  readonly problems?: readonly Problem[];
  /** Why, as one word for programs, where the status does not tell; shown by the agent platform. */
  readonly reason?: string | undefined;
  /** Replaces the table's status: errors of a remote engine keep theirs. */
  readonly status?: number;
  /** Seconds, sent as `Retry-After`. */
  readonly retryAfter?: number;
  /** The status with which a part of ours has answered, whatever the client gets. */
  readonly answered?: number | undefined;
  readonly cause?: unknown;
}

/** An error that a client may see. Everything else that is thrown becomes `internal`. */
export class ServiceError extends Error {
  readonly status: number;
  readonly origin: 'edge' | 'service';
  readonly param: string | undefined;
  readonly problems: readonly Problem[];
  readonly retryAfter: number | undefined;
  readonly answered: number | undefined;
  readonly reason: string | undefined;

  constructor(
    readonly code: ErrorCode,
    options: ServiceErrorOptions = {},
  ) {
    const row: ErrorRow = ERRORS[code];
    super(options.message ?? row.message, { cause: options.cause });
    this.name = 'ServiceError';
    this.status = options.status ?? row.status;
    this.origin = row.origin;
    this.param = options.param;
    this.problems = options.problems ?? [];
    this.retryAfter = options.retryAfter;
    this.answered = options.answered;
    this.reason = options.reason;
  }

  /** The same error with a reason, and perhaps with another code, whose status it gets then. */
  because(reason: string, code: ErrorCode = this.code): ServiceError {
    const { message, problems, answered, cause, param, retryAfter, status } = this;
    return new ServiceError(code, {
      ...{ message, problems, answered, cause, reason },
      ...(param !== undefined && { param }),
      ...(retryAfter !== undefined && { retryAfter }),
      ...(code === this.code && { status }),
    });
  }
}

/**
 * Codes of an unreachable database: the driver's own, and for query errors those of sockets and names, and the
 * SQLSTATEs for lost connections (08), too many of them (53300), a server that stops or starts (57P), and one that has
 * become a standby (25006).
 */
const DRIVER_CODE = /^CONNECT(ION)?_/;
const QUERY_CODE = /^(E[A-Z]+$|EAI_AGAIN$|08|25006$|53300$|57P)/;

/** Codes of a statement that was cancelled, or did not get a lock in time. */
const LATE_CODE = /^(57014|55P03)$/;

/**
 * Codes of full storage: the disk is full (ENOSPC, or a quota), or the database lacks resources (SQLSTATE class
 * 53, except too many connections).
 */
const FULL_DISK = /^(ENOSPC|EDQUOT)$/;
const FULL_DATABASE = /^53(?!300)/;

function codeOf(error: unknown): ErrorCode {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return 'internal';
  const { code } = error;
  const isQuery = 'query' in error;
  if (FULL_DISK.test(code) || (isQuery && FULL_DATABASE.test(code))) return 'storage_full';
  if (isQuery && LATE_CODE.test(code)) return 'storage_busy';
  return DRIVER_CODE.test(code) || (isQuery && QUERY_CODE.test(code)) ? 'storage_unavailable' : 'internal';
}

/** Converts anything thrown to an error that a client may see; unknown errors keep their cause for the log. */
export const toServiceError = (error: unknown): ServiceError =>
  error instanceof ServiceError ? error : new ServiceError(codeOf(error), { cause: error });

/** A question to the database was not answered in the time that whoever asked has. */
export const databaseIsLate = (): ServiceError =>
  new ServiceError('storage_busy', { message: 'the database does not answer in time' });

/** Our own limits; an engine's 429 is a failure of the engine like any other. */
const RATE_LIMITS: ReadonlySet<ErrorCode> = new Set(['rate_limited', 'concurrency_exceeded']);

export const isRateLimit = ({ code }: ServiceError): boolean => RATE_LIMITS.has(code);

/** Whether a system call failed because the disk is full, or a quota used up. */
export const isFullDisk = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && FULL_DISK.test(String(error.code));

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);

export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const OF_STORAGE: ReadonlySet<ErrorCode> = new Set(['storage_unavailable', 'storage_busy', 'storage_full']);

/** Whether that is the database: away, late, or full. */
const isOfStorage = (error: unknown): boolean => OF_STORAGE.has(toServiceError(error).code);

/** Why something did not work, for the log: in words, and with a code if it was the database. */
export const whyOf = (error: unknown): { readonly reason: string; readonly code?: ErrorCode } => ({
  reason: errorText(error),
  ...(isOfStorage(error) && { code: toServiceError(error).code }),
});
