/** What a run of chaos writes down. Times are milliseconds since its start. */

export type FaultKind = 'kill' | 'stop' | 'cut' | 'child' | 'drain';

/** One thing done to one node, from its beginning until the node served again. */
export interface Fault {
  readonly kind: FaultKind;
  readonly node: string;
  readonly from: number;
  to: number;
}

/** Something that was to be written once. */
export interface Write {
  readonly name: string;
  readonly acknowledged: boolean;
}

export interface Delivered {
  /** Session, event and address: what makes it that delivery and no other. */
  readonly id: string;
  readonly body: string;
}

export interface CallRecord {
  readonly session: string;
  readonly from: number;
  to: number;
  /** Times that its user was answered. */
  answers: number;
  /** Each time that its client had to come back: its connection had gone, or nobody answered it there. */
  readonly returns: { readonly at: number; readonly why: 'gone' | 'unanswered' }[];
  /** The user, still in the call, was not answered to the end. */
  silent: boolean;
  /** The user hung up. */
  hungUp: boolean;
  /** What its session says; null: it has not ended. */
  reason: string | null;
}

/** What a client was told that was no success. */
export interface Failure {
  readonly at: number;
  readonly what: string;
  /** An HTTP status, a close code of a WebSocket, or a word: `stalled`, ECONNRESET. */
  readonly told: number | string;
}

export interface Recorded {
  readonly faults: readonly Fault[];
  readonly writes: readonly Write[];
  /** The names that are there at the end, as often as they are. */
  readonly kept: readonly string[];
  readonly promised: readonly Delivered[];
  readonly received: readonly Delivered[];
  readonly calls: readonly CallRecord[];
  readonly failures: readonly Failure[];
  /** Items of conversations that are there more than once. */
  readonly doubledItems: readonly string[];
  /** Slots, tokens, files, processes, sessions that nobody has any more. */
  readonly left: readonly string[];
}
