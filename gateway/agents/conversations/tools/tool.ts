/** A tool as a conversation calls it, wherever it comes from: an endpoint, the client, an MCP server, or ourselves. */
import type { Act } from '../../../../actors/agent/effects.js';
import type { ChatTool } from '../../../../contracts/ports/chat.js';
import type { TransferMode } from '../../../../contracts/phone/transfer-states.js';
import type { Briefing } from '../../../../contracts/phone/transfers.js';

export interface ToolResult {
  readonly ok: boolean;
  /** Result, or the reason of a failure: text for the model. */
  readonly output: string;
  readonly truncated?: boolean;
  /** Somebody else takes over: the answer ends, whatever other tools were called with this one. */
  readonly handsOver?: boolean;
  /** The kind of its failure, for the log; absent: it answered that it failed. */
  readonly reason?: string;
  /** It failed, and nobody knows whether it has happened all the same. */
  readonly undecided?: boolean;
}

export const failure = (output: string): ToolResult => ({ ok: false, output });

const MAY_HAVE_HAPPENED = ': it may have happened';

/** A call that was cut off, for `why`, or never answered. */
export const undecided = (why: string): ToolResult => ({
  ...failure(`${why}${MAY_HAVE_HAPPENED}`),
  undecided: true,
});

/** Whether that is the record of such a call. */
export const isUndecided = ({ error }: { readonly error: string | null }): boolean =>
  error?.endsWith(MAY_HAVE_HAPPENED) ?? false;

export interface ToolUse {
  readonly callId: string;
  /** Aborted when it is cut off: what may be, when nobody waits for the result any more; everything else, when the call ends. */
  readonly signal: AbortSignal;
  /** Stays the same when the call is tried again; only for tools with an effect. */
  readonly key?: string;
  /** For tools that `beginLater`: resolves when it may begin, to false if nobody wants it any more. It cannot be cut off from then on. */
  begin(): Promise<boolean>;
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
  /** What it does, which decides when it may begin and what may cut it off (actors/agent/effects.ts). */
  readonly act: Act;
  /** It prepares something before it begins, and says itself when it does. */
  readonly beginsLater?: boolean;
  /** The model is told that it failed, but not why. */
  readonly hidesErrors?: boolean;
  /** The conversation continues while it runs; the model is told of its answer when it comes. */
  readonly besideSpeech?: boolean;
  /** It runs beside the conversation, and the model is never told of its answer. */
  readonly isForgotten?: boolean;
  /** Called alone, it ends the answer: nothing is said after it. */
  readonly endsAnswer?: boolean;
  /** `args`: JSON text as the model wrote it. Errors: the message of a `ServiceError`, `OutboundError` or `McpError` is told to the model. */
  run(args: string, use: ToolUse): Promise<ToolResult>;
}
