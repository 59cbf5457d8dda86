/**
 * Nodes: gateway processes that share a database, on one machine or on several (ops/adr/0033-nodes.md). A node owns the
 * calls that began on it for as long as its heartbeat is fresh.
 */

/** How a node's machine is loaded, in shares of it: 1 is all of its processors. */
export interface NodeLoad {
  /** What is in use. */
  readonly load: number;
  /** What one more call takes, as it was measured there. */
  readonly callCost: number;
}

/** Figures a node reports with each heartbeat. */
export interface NodeFigures extends NodeLoad {
  readonly calls: number;
  /** Most calls at once; null for no limit. */
  readonly places: number | null;
  readonly draining: boolean;
}

export interface NodeRecord extends NodeFigures {
  readonly id: string;
  /** Shared by the processes of one supervisor, which reach one another by Unix sockets. */
  readonly installation: string | null;
  /** Its address for other nodes; null while it starts, or for an older version. */
  readonly url: string | null;
  readonly version: string;
  readonly startedAt: Date;
  readonly seenAt: Date;
  /** How old its report was when the database was asked, in milliseconds. */
  readonly ageMs: number;
  /** False if its heartbeat is stale: its calls may be taken over. */
  readonly alive: boolean;
}

export const NODE_STATES = ['up', 'full', 'draining', 'silent'] as const;
export type NodeState = (typeof NODE_STATES)[number];

export function stateOf({ alive, draining, places, calls }: NodeRecord): NodeState {
  if (!alive) return 'silent';
  if (draining) return 'draining';
  return places !== null && calls >= places ? 'full' : 'up';
}

export interface Nodes {
  /** All of them, the oldest first. */
  list(): Promise<readonly NodeRecord[]>;
}

/** Nodes as a process knows them that looks at them every few seconds. */
export interface KnownNodes extends Nodes {
  /** All of them, as of some seconds ago; another array once they were looked at anew. */
  readonly known: readonly NodeRecord[];
  /** Looks at them anew. Those who ask meanwhile share the answer. */
  look(): Promise<readonly NodeRecord[]>;
}

/** `silent`: others may soon take the node's calls over, so it does nothing for them; `lost`: they may have done so. */
export type NodeLeaseState = 'held' | 'silent' | 'lost';

/** A node's right to act for the calls that it owns. */
export interface HeldLease {
  /** Whether the node holds it right now, by the clock. */
  readonly holds: boolean;
  /** Calls `listener` with each change. The result unsubscribes. */
  onChange(listener: (state: NodeLeaseState) => void): () => void;
}
