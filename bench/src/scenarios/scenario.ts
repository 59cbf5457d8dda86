/** A scenario: one file, here or in a folder below, and a line in index.ts. */
import type { Phase } from '../measure/phase.js';
import type { Environment } from '../servers/checkout.js';
import type { Server } from '../servers/server.js';
import type { Context } from './context.js';

/** How much load there is in a scenario, for `--slo`. */
export interface Search<P> {
  /** Such as `requests/s`. */
  readonly unit: string;
  readonly first: number;
  readonly most: number;
  /** Makes a server ready, and returns how it is loaded: at least so many requests, within reason. */
  prepare(
    context: Context,
    parameters: P,
    server: Server,
  ): Promise<(load: number, requests: number) => Promise<Phase>>;
}

export interface Scenario<P = unknown> {
  readonly name: string;
  readonly title: string;
  /** It starts a gateway with settings of its own, or looks into its processes: `--url` leaves it out. */
  readonly isLocal?: boolean;
  /** It takes long and gives no figure that every run needs: left out where no scenario is named. */
  readonly onlyByName?: boolean;
  /** Names of its kinds of measurements: `NAME KIND` measures one of them alone. */
  readonly kinds?: readonly string[];
  /** Names of the ways by which its callers may come, for `--door`. */
  readonly doors?: readonly string[];
  /** Everything that its figures depend on. */
  readonly parameters: { readonly full: P; readonly quick: P };
  run(context: Context, parameters: P): Promise<void>;
  /** Environment of the gateway that a search starts. */
  environment?(context: Context): Environment | Promise<Environment>;
  readonly search?: Search<P>;
}

/** Keeps a scenario's parameters typed where it is defined, and lets all lie in one table. */
export const scenario = <P>(defined: Scenario<P>): Scenario => defined as Scenario;
