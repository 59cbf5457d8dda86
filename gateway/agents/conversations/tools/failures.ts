/** What a failed call of a tool is told as: to the model, to its owner and in the log. */
import { McpError, McpUnanswered } from '../../../../contracts/ports/agents/mcp.js';
import { OutboundError } from '../../../../contracts/ports/outbound.js';
import { ServiceError } from '../../../../contracts/errors.js';
import { isCutByUser } from '../../../../actors/agent/effects.js';
import { type ConversationTool, failure, type ToolResult, undecided } from './tool.js';

export const HIDDEN = 'The tool failed';
const BROKEN_OFF = 'The call was broken off';
const ENDED = 'The call ended before the tool answered';

/** Message of a failed call, for the model and for the tool's owner. */
export const messageOf = (error: unknown): string =>
  error instanceof OutboundError || error instanceof ServiceError || error instanceof McpError
    ? error.message
    : HIDDEN;

/** Kind of a failure, for the log, which quotes nobody's server. */
export const kindOf = (error: unknown): string => {
  if (error instanceof OutboundError) return error.failure;
  return error instanceof McpError ? 'protocol' : 'internal';
};

/** Failures of a connection before anything was sent. */
const UNSENT: ReadonlySet<unknown> = new Set([
  ...['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'UND_ERR_CONNECT_TIMEOUT'],
  ...['ERR_TLS_CERT_ALTNAME_INVALID', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN'],
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'CERT_HAS_EXPIRED'],
]);

const codeOf = (cause: unknown): unknown => (cause as { readonly code?: unknown } | undefined)?.code;

/** Whether the request may have arrived, and nobody knows what came of it. */
function mayHaveArrived(error: unknown): boolean {
  if (error instanceof McpUnanswered) return true;
  if (!(error instanceof OutboundError)) return false;
  return error.failure === 'timeout' || (error.failure === 'unreachable' && !UNSENT.has(codeOf(error.cause)));
}

/** The result of a call that threw `error`; `signal`: that by which it could be cut off. */
export function failedCall({ act }: ConversationTool, error: unknown, signal: AbortSignal): ToolResult {
  if (isCutByUser(act)) return failure(signal.aborted ? BROKEN_OFF : messageOf(error));
  if (signal.aborted) return undecided(ENDED);
  return mayHaveArrived(error) ? undecided(messageOf(error)) : failure(messageOf(error));
}
