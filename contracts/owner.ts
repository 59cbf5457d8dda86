/**
 * Whose work this is: of the request or socket that it was begun for, and so of a workspace. What is shared by all, such as the
 * connections to the database, takes turns by it, and stops work whose owner has gone. It follows the work through
 * every `await`, so that no port has to pass it on; work without an owner is the gateway's own.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface Owner {
  /** The workspace; before a key is known, the client's address. */
  tag: string;
  /** Aborted once the owner has gone; undefined: it cannot go. */
  readonly signal?: AbortSignal | undefined;
  /** The most milliseconds that it waits for any one answer of the database, turns included, if fewer than usual. */
  readonly withinMs?: number;
}

const owners = new AsyncLocalStorage<Owner>();

/** Does the work on behalf of that owner. */
export const ownedBy = <T>(owner: Owner, work: () => T): T => owners.run(owner, work);

export const currentOwner = (): Owner | undefined => owners.getStore();

/** The owner has shown whose it is. */
export function ownedByWorkspace(workspaceId: string): void {
  const owner = owners.getStore();
  if (owner) owner.tag = workspaceId;
}
