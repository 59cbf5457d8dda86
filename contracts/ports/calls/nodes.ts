/**
 * Nodes: gateway processes that share a database, on one machine or on several (ops/adr/0033-nodes.md). A node owns the
 * calls that began on it for as long as its heartbeat is fresh.
 */
export interface NodeRecord {
  readonly id: string;
  /** Shared by the processes of one supervisor, which reach one another by Unix sockets. */
  readonly installation: string | null;
  /** Its address for other nodes; null while it starts, or for an older version. */
  readonly url: string | null;
  /** Most calls at once; null for no limit. */
  readonly places: number | null;
  readonly calls: number;
  readonly draining: boolean;
  readonly version: string;
  readonly startedAt: Date;
  readonly seenAt: Date;
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

/** Figures a node reports with each heartbeat. */
export interface NodeFigures {
  readonly calls: number;
  readonly places: number | null;
  readonly draining: boolean;
}

export interface Nodes {
  /** All of them, the oldest first. */
  list(): Promise<readonly NodeRecord[]>;
}

/** `silent`: others may soon take the node's calls over, so it does nothing for them; `lost`: they may have done so. */
export type TenureState = 'held' | 'silent' | 'lost';

/** A node's right to act for the calls that it owns. */
export interface Held {
  /** Whether the node holds it right now, by the clock. */
  readonly holds: boolean;
  /** Calls `listener` with each change. The result unsubscribes. */
  onChange(listener: (state: TenureState) => void): () => void;
}
