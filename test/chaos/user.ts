/** What a talk needs of its user's client, whatever carries the call. */
import { Caller, type CallerOptions, type SessionInvite, type ShownText } from '../fixtures/calls/caller.js';

export interface User {
  /** Whether it has lost the call; a talk that has it back sets it to false. */
  ended: boolean;
  /** Why the gateway or the room said goodbye, if it did: then it cannot come back. */
  readonly leave: unknown;
  readonly shown: readonly ShownText[];
  /** Speaks samples at CALLER_RATE; resolves once the last has left. */
  say(samples: Int16Array): Promise<unknown>;
  /** When the agent was first heard after `from`, both as `performance.now()` says. */
  heardSince(from: number): number | undefined;
  /** Comes back as a client that has lost everything does. */
  rejoin(): Promise<void>;
  hangUp(): void;
  /** Disappears. */
  drop(): void;
}

export type Join = (invite: SessionInvite) => Promise<User>;

/** Users whose call a gateway carries itself. */
export const embedded =
  (options: CallerOptions = {}): Join =>
  (invite) =>
    Caller.join(invite, options);
