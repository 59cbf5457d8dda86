/** What an answer or an error of a part means (contracts/ports/parts.ts), by statuses and codes. */
import { ERRORS, ServiceError } from '../errors.js';
import { McpError } from '../ports/agents/mcp.js';
import { OutboundError, type OutboundFailure } from '../ports/outbound.js';
import type { PartOutcome, PartAnswer } from '../ports/parts.js';

export type OutcomeMeaning = Pick<PartAnswer, 'outcome' | 'status' | 'code' | 'reason'>;

const STATUSES: Readonly<Record<number, PartOutcome>> = {
  401: 'refused_key',
  402: 'limited',
  403: 'refused_key',
  404: 'wrong_address',
  405: 'wrong_address',
  407: 'refused_key',
  408: 'timeout',
  410: 'wrong_address',
  429: 'limited',
  504: 'timeout',
};

/** By the class of a status, for all others. */
const CLASSES: Readonly<Record<number, PartOutcome>> = {
  1: 'invalid',
  2: 'ok',
  3: 'wrong_address',
  4: 'refused',
  5: 'failed',
};

export const outcomeOfStatus = (status: number): PartOutcome =>
  STATUSES[status] ?? CLASSES[Math.floor(status / 100)] ?? 'invalid';

/** Codes of a connection that was never made. */
const NO_CONNECTION =
  /^(ECONNREFUSED|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN|ENOENT|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_.*|ERR_SSL_.*|EPROTO|CERT_.*|.*SELF_SIGNED_CERT.*|UNABLE_TO_.*)$/;
/** Codes of a certificate whose authority Node does not know, such as that of a proxy which inspects TLS. */
const UNKNOWN_AUTHORITY =
  /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE)$/;
/** Of the AWS library, where nothing gives it credentials. */
const NO_CREDENTIALS = /^CredentialsProviderError$/;
const LATE = /^(UND_ERR_(HEADERS|BODY)_TIMEOUT|TimeoutError|RequestTimeout)$/;

const FAILURES: Readonly<Record<OutboundFailure, PartOutcome>> = {
  refused: 'refused',
  unresolved: 'unreachable',
  unreachable: 'unreachable',
  timeout: 'timeout',
  too_many_redirects: 'wrong_address',
};

interface Hinting {
  readonly code?: unknown;
  readonly name?: unknown;
  readonly status?: unknown;
  /** Of the AWS library. */
  readonly $metadata?: { readonly httpStatusCode?: unknown };
  readonly cause?: unknown;
}

const MOST_CAUSES = 8;

/** An error and those that caused it. */
function* causesOf(error: unknown): Generator<Hinting> {
  for (let at = error, depth = 0; at instanceof Error && depth < MOST_CAUSES; depth += 1) {
    yield at;
    at = at.cause ?? (at instanceof AggregateError ? at.errors[0] : undefined);
  }
}

/** An error of sockets or of a library; undefined if nothing in it tells. The status of an error of ours is none that the part gave. */
function meaningOfHints(error: unknown): OutcomeMeaning | undefined {
  for (const each of causesOf(error)) {
    if (each instanceof ServiceError) return meaningOfService(each);
    if (each instanceof OutboundError) return meaningOfOutbound(each);
    const { code, name, status, $metadata } = each;
    const answered = $metadata?.httpStatusCode ?? status;
    if (typeof answered === 'number') return { outcome: outcomeOfStatus(answered), status: answered };
    const said = [code, name].filter((each) => typeof each === 'string');
    const late = said.find((each) => LATE.test(each));
    if (late !== undefined) return { outcome: 'timeout', code: late };
    if (said.some((each) => NO_CREDENTIALS.test(each))) return { outcome: 'refused_key' };
    const [first] = said;
    if (typeof code !== 'string' || first === undefined) continue;
    return { outcome: NO_CONNECTION.test(code) ? 'unreachable' : 'failed', code };
  }
  return undefined;
}

export const isUnknownAuthorityCode = (code: string | undefined): boolean =>
  UNKNOWN_AUTHORITY.test(code ?? '');

/** Whether a server's certificate is of an authority that Node does not know. */
export const isUnknownAuthority = (error: unknown): boolean =>
  [...causesOf(error)].some(({ code }) => typeof code === 'string' && isUnknownAuthorityCode(code));

/** Whether an answer was not what a parser reads, such as JSON. */
const isUnreadable = (error: unknown): boolean =>
  [...causesOf(error)].some((each) => each instanceof SyntaxError);

const CODES: Readonly<Record<string, PartOutcome>> = {
  first_byte_timeout: 'timeout',
  context_exceeded: 'refused',
  /** It is there, and has enough to do. */
  engine_busy: 'refused',
  draining: 'cancelled',
  storage_unavailable: 'unreachable',
  storage_busy: 'timeout',
};

/** What the table says of every error of a code is no reason. */
const reasonOf = ({ code, message }: ServiceError): Pick<OutcomeMeaning, 'reason'> =>
  message === ERRORS[code].message ? {} : { reason: message };

const FAILED = 500;

const meaningOfOutbound = ({ failure, cause }: OutboundError): OutcomeMeaning => ({
  outcome: FAILURES[failure],
  code: meaningOfHints(cause)?.code,
});

function meaningOfService(error: ServiceError): OutcomeMeaning {
  const { code, cause, answered, status } = error;
  const known = CODES[code];
  if (known) return { outcome: known };
  if (answered !== undefined) return { outcome: outcomeOfStatus(answered), status: answered };
  if (status < FAILED) return { outcome: 'refused', reason: error.message };
  const outcome = cause === undefined || isUnreadable(cause) ? 'invalid' : 'failed';
  return meaningOfHints(cause) ?? { outcome, ...reasonOf(error) };
}

const isLate = (error: unknown): boolean => error instanceof ServiceError && CODES[error.code] === 'timeout';

/** Whether that is only how whoever asked has left. */
const isLeft = (error: unknown, signal: AbortSignal | undefined): boolean =>
  (error instanceof Error && error.name === 'AbortError') ||
  (signal?.aborted === true && error === signal.reason && !isLate(error));

function meaningOfMcp({ answered, isLate }: McpError): OutcomeMeaning {
  if (answered !== undefined) return { outcome: outcomeOfStatus(answered), status: answered };
  return { outcome: isLate ? 'timeout' : 'invalid' };
}

/** `signal`: that by which whoever asked leaves; its reason is no failure of the part unless it says so. */
export function meaningOf(error: unknown, signal?: AbortSignal): OutcomeMeaning {
  if (error instanceof OutboundError) return meaningOfOutbound(error);
  if (isLeft(error, signal)) return { outcome: 'cancelled' };
  if (error instanceof ServiceError) return meaningOfService(error);
  if (error instanceof McpError) return meaningOfMcp(error);
  return meaningOfHints(error) ?? { outcome: isUnreadable(error) ? 'invalid' : 'failed' };
}
