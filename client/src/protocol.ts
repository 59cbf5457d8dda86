/** Messages over the data channel, both ways (docs/contract/platform.md 6.9). Unknown ones are ignored. */
import type { SessionEvents } from './events.js';

export const TOPICS = {
  fromAgent: 'agent-event',
  toAgent: 'client-event',
  transcription: 'lk.transcription',
} as const;

/** Attributes of the agent and of its text streams. */
export const ATTRIBUTES = {
  state: 'lk.agent.state',
  segment: 'lk.segment_id',
  final: 'lk.transcription_final',
  withdrawn: 'withdrawn',
} as const;

interface ToolNote {
  readonly callId: string;
  readonly toolName: string;
  readonly toolSource: string;
}

export interface AgentEvents {
  'client_tool.call': {
    readonly callId: string;
    readonly toolName: string;
    readonly params?: Readonly<Record<string, unknown>>;
    readonly expectsResponse?: boolean;
  };
  'tool.started': ToolNote & { readonly input?: string; readonly inputTruncated?: boolean };
  'tool.completed': ToolNote & { readonly output?: string; readonly outputTruncated?: boolean };
  'tool.failed': ToolNote & { readonly error?: string };
  'turn.completed': Omit<SessionEvents['turnCompleted'], 'answerCut'> & {
    readonly answerCut?: string | null;
  };
  'agent.changed': { readonly agentId: string; readonly agentName: string };
  'language.changed': { readonly language: string };
  'message.dropped': SessionEvents['messageDropped'];
  error: { readonly code: string };
  'session.ended': { readonly reason: string };
}

export type AgentEvent = {
  [Type in keyof AgentEvents]: { readonly type: Type } & AgentEvents[Type];
}[keyof AgentEvents];

export type ClientEvent =
  | { readonly type: 'user.message'; readonly text: string; readonly audio?: false }
  | { readonly type: 'user.activity' }
  | { readonly type: 'user.interrupt' }
  | { readonly type: 'user.hangup' }
  | { readonly type: 'captions.live' }
  | ToolResult;

export interface ToolResult {
  readonly type: 'client_tool.result';
  readonly callId: string;
  readonly result?: unknown;
  readonly isError?: boolean;
}

export const encodeEvent = (event: ClientEvent): Uint8Array =>
  new TextEncoder().encode(JSON.stringify(event));

/** Undefined if the payload is no message. */
export function readAgentEvent(payload: Uint8Array): AgentEvent | undefined {
  try {
    const value = JSON.parse(new TextDecoder().decode(payload)) as unknown;
    return typeof value === 'object' && value !== null ? (value as AgentEvent) : undefined;
  } catch {
    return undefined;
  }
}
