/** Servers of the Model Context Protocol, as a source of tools (docs/contract/platform.md 6.5; ops/adr/0029-mcp.md). */
import type { ChatTool } from '../chat.js';

export interface McpTarget {
  readonly url: string;
  /** The owner's headers, including credentials. Headers of the protocol itself are added by the client. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Time limit of each request. */
  readonly timeoutMs: number;
  /** Called when the server says that its tools have changed, or has begun anew, so that they may have. */
  readonly changed?: () => void;
  /** Called when something was mended: the server had forgotten the session, or a stream broke off. */
  readonly mended?: (what: 'session' | 'stream') => void;
}

/** A tool's answer, as text. */
export interface McpAnswer {
  /** False if the tool reports a failure. */
  readonly ok: boolean;
  readonly text: string;
}

/** The name of a call's key in its `_meta`. */
export const MCP_KEY = 'speech-gateway/idempotency-key';

/** Its message may be shown to the server's owner and to a language model. */
export class McpError extends Error {
  override readonly name: string = 'McpError';
  /** The status with which it was refused. */
  readonly answered: number | undefined;
  /** Whether the time for an answer was up. */
  readonly isLate: boolean;

  constructor(
    message: string,
    options: ErrorOptions & { readonly answered?: number | undefined; readonly isLate?: boolean } = {},
  ) {
    super(message, options);
    this.answered = options.answered;
    this.isLate = options.isLate ?? false;
  }
}

/** The request has reached the server, and there is no answer that says what came of it. */
export class McpUnanswered extends McpError {
  override readonly name = 'McpUnanswered';
}

/** Errors of its methods: `McpError`, `OutboundError`; the signal's reason if it was aborted. */
export interface McpServer {
  /** All its tools, within `LIMITS.mcp`, under its own names. */
  list(signal: AbortSignal): Promise<readonly ChatTool[]>;
  /** `key`: stays the same when the call is tried again; the server reads it in the request's `_meta`, under `MCP_KEY`. */
  call(name: string, args: object, signal: AbortSignal, key?: string): Promise<McpAnswer>;
  /** Ends the use of the server. Never throws. */
  close(): void;
}

/** Sends no request yet. */
export type OpenMcp = (target: McpTarget) => McpServer;
