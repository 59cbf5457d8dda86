/** A tool as a conversation calls it, wherever it comes from: an endpoint, the client, an MCP server, or ourselves. */
import type { ChatTool } from '../../../contracts/ports/chat.js';
import type { Briefing, TransferMode } from '../../../contracts/phone/transfers.js';

export interface ToolResult {
  readonly ok: boolean;
  /** Result, or the reason of a failure: text for the model. */
  readonly output: string;
  readonly truncated?: boolean;
  /** Somebody else takes over: the answer ends, whatever other tools were called with this one. */
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

/** Actions towards the other side of a phone call; empty in all other calls. */
export interface PhoneLine {
  /** Presses keys, for its menus. */
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
  /** The colleague's briefing; null unless the transfer is warm. */
  readonly briefing: Briefing | null;
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal;
}

export interface PhoneTransfer {
  /** The modes that the provider supports. */
  readonly modes: readonly TransferMode[];
  /** Begins a transfer. Resolves to the reason of a refusal, as text for the model; undefined if the agent's part of the call has ended. */
  begin(request: TransferRequest): Promise<string | undefined>;
}

/** A tool as the model is told of it, under the name by which it is called. */
export interface ConversationTool extends ChatTool {
  readonly source: 'webhook' | 'client' | 'mcp' | 'builtin';
  /** The model is told that it failed, but not why. */
  readonly hidesErrors?: boolean;
  /** The conversation continues while it runs; the model is told of its answer when it comes. */
  readonly besideSpeech?: boolean;
  /** Called alone, it ends the answer: nothing is said after it. */
  readonly endsAnswer?: boolean;
  /** `args`: JSON text as the model wrote it. Errors: the message of a `ServiceError`, `OutboundError` or `McpError` is told to the model. */
  run(args: string, use: ToolUse): Promise<ToolResult>;
}
