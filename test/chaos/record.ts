/** The recording of a chaos run. Times are milliseconds since its start. */

/** In an order whose length and the three nodes have no common divisor, so that every fault meets every node. */
export const FAULT_KINDS = ['kill', 'stop', 'cut', 'child', 'drain'] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** One thing done to one node, from its beginning until the node served again. */
export interface Fault {
  readonly kind: FaultKind;
  readonly node: string;
  readonly from: number;
  to: number;
}

/** A write that must exist exactly once. */
export interface Write {
  readonly name: string;
  readonly acknowledged: boolean;
}

export interface Delivered {
  /** Session, event and address, which identify the delivery. */
  readonly id: string;
  readonly body: string;
}

/** A client that had to reconnect. */
export interface Return {
  readonly at: number;
  readonly why: 'gone' | 'unanswered';
  /** What each attempt in vain was told. */
  readonly refusals: (number | string)[];
  /** When it was in the call again; null if it gave up. */
  back: number | null;
  /** When it heard the agent again. */
  heard?: number;
}

export interface CallRecord {
  readonly session: string;
  readonly from: number;
  to: number;
  /** Times at which its user was answered. */
  answers: number;
  /** The longest time from one answer to the next, the user's own words and pauses included. */
  gap: number;
  readonly returns: Return[];
  /** The user stayed in the call, unanswered, to the end. */
  silent: boolean;
  /** The user hung up. */
  hungUp: boolean;
  /** The session's `ended_reason`; null if it has not ended. */
  reason: string | null;
}

/** An error that a client saw. */
export interface Failure {
  readonly at: number;
  readonly what: string;
  /** An HTTP status, a close code of a WebSocket, or a word: `stalled`, ECONNRESET. */
  readonly told: number | string;
}

export interface Recorded {
  readonly faults: readonly Fault[];
  readonly writes: readonly Write[];
  /** The names that exist at the end, repeated as often as they exist. */
  readonly kept: readonly string[];
  readonly promised: readonly Delivered[];
  readonly received: readonly Delivered[];
  readonly calls: readonly CallRecord[];
  readonly failures: readonly Failure[];
  /** Duplicate items of conversations. */
  readonly doubledItems: readonly string[];
  /** Leaked slots, tokens, files, processes and sessions. */
  readonly left: readonly string[];
}
