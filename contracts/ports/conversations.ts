/** The conversations that this process holds, as signalling connections find them. */
import type { SignalConnect, SignalEnd, SignalLink } from './calls.js';
import type { RunningSession } from './sessions.js';

export interface Conversations {
  /** Whether the conversation is here. */
  holds(sessionId: string): boolean;
  /** Resolves once the token of a client that has just gone is given back, so that it can join again. */
  settled(sessionId: string): Promise<void>;
  /** Begins the conversation of a session that has just been joined; nothing where it has begun already. */
  begin(session: RunningSession): void;
  /** One connection of the session's client. Undefined where the conversation is not here. */
  connect(sessionId: string, how: SignalConnect, link: SignalLink): SignalEnd | undefined;
}

/** The way to conversations that other processes of this machine hold (decisions.md fine point 24). */
export interface SignalRelay {
  /** One connection of the session's client, carried to the process at `address`. */
  connect(address: string, sessionId: string, how: SignalConnect, link: SignalLink): SignalEnd;
}
