/** Sessions of calls by one WebSocket: checked as its client connects, and made once it has said how it wants its session. */
import type { AgentConfig } from '../../schemas/agent-config.js';
import type { Language } from '../../speech/languages.js';
import type { PlannedTool, RunningSession } from './sessions.js';

/** Who asks: the workspace of a key, or a client without one, from a page and an address. */
export type SocketClient =
  | { readonly workspaceId: string }
  | { readonly address: string; readonly headers: ReadonlyMap<string, string> };

/** What a client may wish otherwise. */
export interface WantedSession {
  readonly first_message?: string;
  readonly system_prompt?: string;
  readonly voice_id?: string;
  readonly language?: Language;
}

/** What else a client may say of its session. */
export interface SessionDetails {
  /** Values of placeholders, as of a request for a session: not checked yet. */
  readonly dynamic_variables?: Readonly<Record<string, unknown>>;
  readonly end_user_id?: string;
}

/** The wishes that take effect, and the names of those that do not, as the agent does not allow them or they make no sense. */
export interface SettledSession {
  readonly overrides: WantedSession;
  readonly kept: readonly (keyof WantedSession)[];
}

/** A session that may begin. */
export interface SocketSession {
  /** The id that it will have. */
  readonly id: string;
  readonly workspaceId: string;
  readonly agentId: string;
  /** As it is published. */
  readonly config: AgentConfig;
  /** The agent's tools that its client runs. */
  readonly tools: readonly PlannedTool[];
  settle(wanted: WantedSession): Promise<SettledSession>;
  /** Makes the session, with a place for its call. Errors: those of creating a session. */
  begin(overrides: WantedSession, details?: SessionDetails): Promise<void>;
  /** Ends a session that could not begin. */
  failed(): Promise<void>;
}

export interface SocketSessions {
  /** Checks everything that is checked before a session is made, in that order. Errors: those of creating a session. */
  find(agentId: string, client: SocketClient): Promise<SocketSession>;
  /** Whether it is a session of that workspace, and of that agent if one is given, which could go on by a socket if its process has died. */
  mayGoOn(id: string, workspaceId: string, agentId?: string): Promise<boolean>;
  /** The session of a call that goes on here. It has begun: its client may change its instructions only. */
  goesOn(
    running: RunningSession,
  ): Promise<{ readonly session: SocketSession; readonly overrides: WantedSession }>;
  /** Ends a session of that workspace; one that has ended stays as it is. False if there is none. */
  end(id: string, workspaceId: string): Promise<boolean>;
}
