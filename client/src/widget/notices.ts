/** What has gone wrong, or how a call has ended, in words for whoever sits before the page: what it is, and what to do. */
import type { SessionError, SessionErrorCode } from '../errors.js';
import type { EndReason } from '../events.js';
import { filled, type Texts } from './texts.js';

type Say = (error: SessionError, texts: Texts) => string;

/** Names of browsers' errors about microphones. */
const MICROPHONE: Readonly<Record<string, keyof Texts>> = {
  NotFoundError: 'noMicrophone',
  NotReadableError: 'inUse',
  AbortError: 'inUse',
};

function microphone({ cause }: SessionError, texts: Texts): string {
  if (!window.isSecureContext) return texts.insecure;
  return texts[MICROPHONE[(cause as Error | undefined)?.name ?? ''] ?? 'refused'];
}

/** Statuses of requests for a session that another try may mend: too many calls, or no server for one. */
const BUSY: readonly (number | undefined)[] = [429, 503];
const FAILED = 500;

/** An answer that is no session comes from a backend that was made wrong. */
function request({ status, retryAfter, cause }: SessionError, texts: Texts): string {
  if (BUSY.includes(status))
    return retryAfter === undefined ? texts.busy : filled(texts.busyFor, { seconds: retryAfter });
  const isAway = status === undefined ? cause !== undefined : status >= FAILED;
  return isAway ? texts.away : texts.closed;
}

const text =
  (name: keyof Texts): Say =>
  (_error, texts) =>
    texts[name];

/** What a user can do nothing about, and need not know, is left out: a tool of the page that fails. */
const ERRORS: Partial<Record<SessionErrorCode, Say>> = {
  session_request_failed: request,
  agent_not_public: text('closed'),
  origin_forbidden: text('closed'),
  unsupported_transport: text('closed'),
  session_expired: text('late'),
  mic_permission_denied: microphone,
  device_change_failed: text('microphoneGone'),
  connection_failed: text('away'),
  provider_error: text('unanswered'),
  internal_error: text('unanswered'),
};

/** Undefined for what users are not told. */
export const errorNotice = (error: SessionError, texts: Texts): string | undefined =>
  ERRORS[error.code]?.(error, texts);

export const ENDS: Readonly<Record<EndReason, keyof Texts>> = {
  user_hangup: 'hungUp',
  agent_hangup: 'ended',
  conversation_timeout: 'tooLong',
  escalated: 'escalated',
  connection_lost: 'lost',
};

/** Why a typed message had no effect. */
const DROPS: Readonly<Record<string, keyof Texts>> = {
  too_long: 'messageTooLong',
  rate_limited: 'tooFast',
  on_hold: 'onHold',
};

export const dropNotice = (reason: string, texts: Texts): string => texts[DROPS[reason] ?? 'unsent'];
