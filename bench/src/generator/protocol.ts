/** Messages to and from a load generator over IPC: structured clones, so that typed arrays survive. */
import type { Arrivals } from '../arrivals.js';

/** An open load is due whatever happens; a closed one asks again once it has been answered. */
export type Load =
  | { readonly arrivals: Arrivals }
  | { readonly concurrency: number; readonly seconds: number }
  | { readonly concurrency: number; readonly requests: number };

export interface RequestTask {
  /** A row of bench/src/clients/index.ts, and what it is made with. */
  readonly client: string;
  readonly params: unknown;
  readonly load: Load;
  /** Milliseconds after which a request has failed. */
  readonly deadline: number;
}

/** Load that is no row of requests, such as sockets that stay: a row of bench/src/programs/index.ts, which keeps them. */
export interface ProgramTask {
  readonly program: string;
  readonly params: unknown;
}

export type Task = RequestTask | ProgramTask;

/** Times are milliseconds. All arrays have an entry for each request, in the order in which they were due. */
export interface Outcome {
  /** When it was due, from the beginning of the load. */
  readonly due: Float64Array;
  /** How much later than due it was sent: this side's fault. Empty in a closed load, which has nobody to be late for. */
  readonly lateness: Float64Array;
  /** By name; NaN where the request failed. Instants count from when the request was due. */
  readonly readings: Readonly<Record<string, Float64Array>>;
  /** How many failed, by the reason. */
  readonly failures: Readonly<Record<string, number>>;
  /** From the first request to the last answer. */
  readonly seconds: number;
  /** The generator's own CPU, in cores, meanwhile. */
  readonly cpu: number;
  /** What else a program has to tell, in a form of its own. */
  readonly told?: unknown;
}

export interface Progress {
  readonly begun: number;
  readonly ended: number;
}

export type FromGenerator =
  | { readonly progress: Progress }
  | { readonly outcome: Outcome }
  | { readonly error: string };
