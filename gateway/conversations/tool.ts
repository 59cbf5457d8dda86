/** A tool as a conversation calls it, wherever it comes from: an endpoint, the client, an MCP server, or ourselves. */
import type { ChatTool } from '../../contracts/ports/chat.js';
import type { Briefing, TransferMode } from '../../contracts/transfers.js';

export interface ToolResult {
  readonly ok: boolean;
  /** Or why it failed: text for the model. */
  readonly output: string;
  readonly truncated?: boolean;
  /** Another agent goes on: the answer is over, whatever was called beside it. */
  readonly handsOver?: boolean;
}

export const failure = (output: string): ToolResult => ({ ok: false, output });

/** One call of a tool. */
export interface ToolUse {
  readonly callId: string;
  /** Aborted when nobody waits for the result any more. */
  readonly signal: AbortSignal;
}

/** Most characters of an output that a model is told. */
export const TOLD = 16_000;

/** What is done with the other side of a phone call; empty in all others. */
export interface PhoneLine {
  /** Keys for its menus. */
  readonly press?: (keys: string) => Promise<void>;
  /** Connects it to somebody else. */
  readonly transfer?: PhoneTransfer;
}

export interface TransferRequest {
  /** The call of the tool. */
  readonly toolCallId: string;
  readonly label: string;
  /** A number or SIP address. */
  readonly to: string;
  readonly mode: TransferMode;
  /** What the colleague is told; of warm ones. */
  readonly briefing: Briefing | null;
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal;
}

export interface PhoneTransfer {
  /** Those that the provider can. */
  readonly modes: readonly TransferMode[];
  /** Why it does not come about, as a text for the model; undefined where the agent's part of the call is over. */
  begin(request: TransferRequest): Promise<string | undefined>;
}

/** As the model is told of it, under the name by which it is called. */
export interface ConversationTool extends ChatTool {
  readonly source: 'webhook' | 'client' | 'mcp' | 'builtin';
  /** The model is told that it failed, and not why. */
  readonly hidesErrors?: boolean;
  /** The conversation goes on while it runs; the model is told of its answer when it comes. */
  readonly besideSpeech?: boolean;
  /** Called alone, it ends the answer: nothing is said behind it. */
  readonly endsAnswer?: boolean;
  /** `args`: JSON text as the model wrote it. Errors: a `ServiceError`, `OutboundError` or `McpError` is told. */
  run(args: string, use: ToolUse): Promise<ToolResult>;
}
