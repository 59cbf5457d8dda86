/**
 * The address and token for joining a session: from a response of `POST /v1/agent/sessions` passed on by a backend, or requested
 * here, without a key, of a public agent (docs/contract/platform.md 6.6, 6.10).
 */
import { isSessionError, SessionError } from './errors.js';

/** The gateway's answer. Only these fields are read, and any other field that ends in `_url`, for the address. */
export interface SessionResponse {
  readonly session_id?: string;
  readonly transport: string;
  readonly token: string;
  readonly media_url?: string;
  readonly livekit_url?: string;
  readonly expires_at?: string;
}

/** The application's own request for a session. `signal` is aborted if the session is ended meanwhile. */
export type SessionRequest = (signal: AbortSignal) => Promise<SessionResponse>;

export interface PublicAgent {
  readonly agentId: string;
  /** The address of the gateway, for example `https://voice.example.com`. */
  readonly baseUrl: string;
  /** More fields of the request: `dynamic_variables`, `metadata`, `overrides` that the agent allows. */
  readonly request?: Readonly<Record<string, unknown>>;
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

export interface Place {
  readonly sessionId: string | undefined;
  readonly url: string;
  readonly token: string;
  /** Whether the token's time is up by the clock of this machine, which may be wrong. */
  isExpired(): boolean;
}

const TRANSPORTS: readonly unknown[] = ['media', 'livekit'];
const REQUEST_MS = 30_000;

const isSocketAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^wss?:\/\//.test(value);

function addressIn(response: SessionResponse): string | undefined {
  const usual = `${response.transport}_url`;
  const addresses = Object.entries(response).filter(
    (field): field is [string, string] => field[0].endsWith('_url') && isSocketAddress(field[1]),
  );
  return (addresses.find(([name]) => name === usual) ?? addresses[0])?.[1];
}

/** Whether this is the gateway's answer: one from something else in its place, or from a backend that does not pass it on, names no transport. */
const isSession = (response: SessionResponse | null | undefined): boolean =>
  typeof response?.transport === 'string';

/** Errors: `unsupported_transport`, `session_request_failed`. */
export function placeOf(response: SessionResponse): Place {
  if (!isSession(response))
    throw new SessionError('session_request_failed', { message: 'The response is no session' });
  const { transport, token, session_id: sessionId, expires_at: expiresAt } = response;
  if (!TRANSPORTS.includes(transport))
    throw new SessionError('unsupported_transport', {
      message: `No transport "${transport}" in this client`,
    });
  const url = addressIn(response);
  if (url === undefined || typeof token !== 'string')
    throw new SessionError('session_request_failed', { message: 'The response has no address or no token' });
  const isExpired = (): boolean => expiresAt !== undefined && Date.parse(expiresAt) <= Date.now();
  return { sessionId, url, token, isExpired };
}

type Body = Readonly<Record<string, unknown>>;

const refusalCode = (status: number, { code }: Body, message: string) => {
  if (status === 403) return /origin/i.test(message) ? 'origin_forbidden' : 'agent_not_public';
  return status === 409 && code === 'unsupported_transport' ? code : 'session_request_failed';
};

function refusal(response: Response, body: Body): SessionError {
  const said = body['message'] ?? body['error'];
  const message = typeof said === 'string' ? said : `The gateway answers ${response.status}`;
  const retryAfter = Number(response.headers.get('retry-after') ?? NaN);
  return new SessionError(refusalCode(response.status, body, message), {
    message,
    status: response.status,
    ...(Number.isFinite(retryAfter) && { retryAfter }),
  });
}

/**
 * Runs `work` with a signal that is aborted with `signal`, and after `ms`. Safari before 17.4 has no `AbortSignal.any`.
 */
async function within<Result>(
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const abort = new AbortController();
  const stop = (): void => abort.abort(signal.reason);
  const timer = setTimeout(stop, ms);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    return await work(abort.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

/** Where a session is asked for, and with which fields. */
export interface Asking {
  readonly address: string;
  readonly request?: Readonly<Record<string, unknown>> | undefined;
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/** Errors: `session_request_failed`, `agent_not_public`, `origin_forbidden`, `unsupported_transport`. */
export async function askForSession(asking: Asking, signal: AbortSignal): Promise<SessionResponse> {
  try {
    return await within(REQUEST_MS, signal, (limited) => ask(asking, limited));
  } catch (error) {
    if (isSessionError(error)) throw error;
    throw new SessionError('session_request_failed', {
      message: 'The gateway cannot be reached',
      cause: error,
    });
  }
}

async function ask(asking: Asking, signal: AbortSignal): Promise<SessionResponse> {
  const { address, request, fetch: send = globalThis.fetch } = asking;
  const client_timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const response = await send(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_timezone, ...request }),
    signal,
  });
  const body = (await response.json().catch(() => null)) as Body | null;
  if (!response.ok) throw refusal(response, body ?? {});
  return body as unknown as SessionResponse;
}

/** Errors: those of `askForSession`. */
export function requestSession(
  { agentId, baseUrl, request, fetch }: PublicAgent,
  signal: AbortSignal,
): Promise<SessionResponse> {
  const address = `${baseUrl.replace(/\/+$/, '')}/v1/agent/sessions`;
  return askForSession({ address, request: { ...request, agent_id: agentId }, fetch }, signal);
}
