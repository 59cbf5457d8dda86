/**
 * Chats: agents in writing (docs/contract/platform.md 6.19). A chat is a session that runs while one of its messages is answered, in
 * whichever process got that message; between two of them its record is all there is.
 */
import type { SessionItem } from '../sessions/sessions.js';

/** A tool call as clients are told of it (docs/contract/platform.md 6.9). */
export interface ChatToolNews {
  readonly callId: string;
  readonly toolName: string;
  readonly toolSource: string;
}

/** What an answer tells its client, in order. */
export type ChatNews =
  | { readonly on: 'delta'; readonly text: string }
  | ({ readonly on: 'tool_call'; readonly input: string } & ChatToolNews)
  | ({ readonly on: 'tool_result'; readonly output: string; readonly error: string | null } & ChatToolNews)
  /** A message of the agent is whole, and in the record. */
  | { readonly on: 'message'; readonly item: Extract<SessionItem, { readonly type: 'message' }> };

/** Why an answer is not whole: its time was over, this process stops, or its client has left or does not read. */
export type ChatCut = 'timeout' | 'shutdown' | 'client';

export interface ChatOutcome {
  /** Whether the chat has ended with this answer. */
  readonly ended: boolean;
  readonly cut: ChatCut | null;
}

export interface ChatAnswering {
  /** Called in order; false if the client takes no more, which ends the answer. */
  told(news: ChatNews): boolean;
  /** Ends the answer. */
  readonly signal: AbortSignal;
}

/** A chat that this process holds until its answer is over. */
export interface OpenChat {
  /**
   * Resolves when the answer is whole or cut, and the chat is free for the next message. `text`: undefined for the opening. Called
   * once. Errors: `storage_unavailable` if the record could not be kept in time.
   */
  answer(text: string | undefined, answering: ChatAnswering): Promise<ChatOutcome>;
}

export interface Chats {
  /**
   * Holds the chat of a session. Errors: `conflict` while another message is answered, or once it has ended; `draining`, `overloaded`,
   * `quota_exceeded`.
   */
  open(sessionId: string, workspaceId: string): Promise<OpenChat>;
  readonly tokens: ChatTokens;
}

/** Tokens with which whoever began a chat writes on, reads it and ends it. */
export interface ChatTokens {
  issue(sessionId: string, workspaceId: string): string;
  /** Whether it looks like such a token. */
  isOne(token: string): boolean;
  /** The workspace of the session; undefined if it is not the token of that session. */
  workspaceOf(token: string, sessionId: string): string | undefined;
}
