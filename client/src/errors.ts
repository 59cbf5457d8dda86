/** Errors of a session, as one class with a code (docs/contract/platform.md 6.9). */

/** Error codes, each with its default message. */
export const ERRORS = {
  session_request_failed: 'The session could not be made',
  agent_not_public: 'The agent is not public',
  origin_forbidden: 'The agent does not take sessions from this page',
  unsupported_transport: 'The session wants a transport that this client does not have',
  session_expired: 'The session has expired',
  mic_permission_denied: 'The microphone cannot be used',
  device_change_failed: 'The device cannot be used',
  connection_failed: 'The session could not be joined',
  tool_failed: 'A client tool has failed',
  tool_timeout: 'A client tool has not answered in time',
  provider_error: 'The agent could not answer',
  internal_error: 'The agent has failed',
} as const;

export type SessionErrorCode = keyof typeof ERRORS;

export interface SessionErrorDetails {
  readonly message?: string | undefined;
  readonly cause?: unknown;
  /** The HTTP status of the refused request. */
  readonly status?: number;
  /** Seconds until another try makes sense. */
  readonly retryAfter?: number;
}

export class SessionError extends Error {
  override readonly name = 'SessionError';
  readonly status: number | undefined;
  readonly retryAfter: number | undefined;

  constructor(
    readonly code: SessionErrorCode,
    { message = ERRORS[code], cause, status, retryAfter }: SessionErrorDetails = {},
  ) {
    super(message, { cause });
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** By its name: each script of a page that has several (client/build.mjs) has a class of its own. */
export const isSessionError = (cause: unknown): cause is SessionError =>
  cause instanceof Error && cause.name === 'SessionError';

/** Makes a `SessionError` of anything thrown; one that is a `SessionError` already is returned as it is. */
export const asSessionError = (code: SessionErrorCode, cause: unknown): SessionError => {
  if (isSessionError(cause)) return cause;
  const reason = cause instanceof Error ? `: ${cause.message}` : '';
  return new SessionError(code, { message: `${ERRORS[code]}${reason}`, cause });
};
