/** The transport by which clients join sessions: one for the whole installation (docs/contract/transport.md). */
import type { Chats } from './chats.js';
import type { JoinTokens } from './join-tokens.js';
import type { RunningSession } from '../sessions/sessions.js';

export interface SessionTransport {
  /** Address at which clients join; undefined: the one at which they created the session. */
  readonly url: string | undefined;
  readonly joinTokens: Pick<JoinTokens, 'issue'>;
  /** Conversations in writing, which need no transport. */
  readonly chats: Chats;
  /** Whether calls begin with their sessions, before anybody has joined them. Absent: with their first client. */
  readonly beginsAtOnce?: boolean;
  /**
   * Called with each new session, before its token is given out. Errors: `transport_failed`, `engine_busy`,
   * `engine_lost`; after an error nothing of the session remains here.
   */
  prepare(session: RunningSession): Promise<void>;
}
