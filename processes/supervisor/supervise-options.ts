/** How the children of a role are started, watched and ended (supervise.ts). */
import type { Clock } from '../../contracts/clock.js';
import type { Log } from '../../contracts/log.js';
import type { SilenceTimes } from '../caller/silence.js';

export interface SuperviseOptions {
  /** Names the children in logs, on command lines and in socket files: lower-case letters, digits, hyphens. */
  readonly role: string;
  /** The compiled entry that the children run; it calls `serveAsChild`. */
  readonly entry: string | URL;
  readonly count: number;
  /**
   * Number of the first one, above those of children of the role that still end. Absent: 0, and what a killed supervisor left of
   * the role is swept away before.
   */
  readonly from?: number;
  /** Created for the owner only if missing; refused if it is not private. Keep it short: a socket's path has about 100 bytes. */
  readonly socketFolder: string;
  readonly log: Log;
  /** The children's whole environment. Default: this process's. */
  readonly env?: NodeJS.ProcessEnv;
  /** The role's own arguments, as `childPlace().args` gives them. */
  readonly args?: readonly string[];
  /** Added to the niceness of the children: 10 lets the gateways go first. */
  readonly nice?: number;
  /** Cap of the JavaScript heap. */
  readonly heapMb?: number;
  readonly clock?: Clock;
  /** A child that stayed up for `stableMs` is restarted after `initialMs` again. */
  readonly restart?: { readonly initialMs: number; readonly maxMs: number; readonly stableMs: number };
  /** How long a child may be silent before it is replaced. */
  readonly health?: SilenceTimes;
  /** How long a child may take from its start to its hello. */
  readonly startMs?: number;
  /** How long a child may take to leave, before it is killed. */
  readonly stopMs?: number;
  /**
   * Whether a child may serve somebody before its hello, as a gateway does on its port: it is asked to leave even then. Any
   * other child is killed, since it has no work to finish. Default: false.
   */
  readonly servesBeforeHello?: boolean;
  /** Takes what a child prints, line by line. Default: the log. */
  readonly output?: (line: string, from: 'stdout' | 'stderr', child: ChildName) => void;
}

export interface ChildName {
  readonly role: string;
  readonly index: number;
  readonly pid: number | undefined;
}
