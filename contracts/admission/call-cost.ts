/**
 * What a call costs at a machine, as it is measured there, and how much of the machine is in use: means over time in which
 * each second counts less the longer ago it was. Shares are of the whole machine: 1 is all of its processors.
 */
import type { NodeLoad } from '../ports/calls/nodes.js';

/** Cores of a call with the engines that come with the gateway (docs/operate/sizing.md): the first guess. */
export const FIRST_CORES = 1 / 9;
/** The first guess counts as much as so many calls that were measured. */
const FIRST_CALLS = 4;
/** Time constants of the means, in milliseconds: use changes within seconds, what a call costs does not. */
const MEANS = { inUse: 5000, cost: 60_000 };

/** What is left of a mean after so many milliseconds. */
const kept = (ms: number, constant: number): number => Math.exp(-ms / constant);
const mixed = (before: number, now: number, share: number): number => before * share + now * (1 - share);

/** The first guess for a machine with so many cores, as a share of it. */
export const firstCost = (cores: number): number => FIRST_CORES / Math.max(1, cores);

export class CallCost {
  #inUse: number | undefined;
  /** Means over the time in which there were calls: of the machine's use, and of its calls. */
  #used = 0;
  #calls = 0;

  /** `first`: the cost of a call before one was measured. */
  constructor(private readonly first: number) {}

  /** The share of the machine that was in use for the last so many milliseconds, and the calls that it had. */
  measured(inUse: number, calls: number, ms: number): void {
    this.#inUse = mixed(this.#inUse ?? inUse, inUse, kept(ms, MEANS.inUse));
    if (calls === 0) return;
    const share = kept(ms, MEANS.cost);
    this.#used = mixed(this.#used, inUse, share);
    this.#calls = mixed(this.#calls, calls, share);
  }

  /** All that is in use, over the calls: what the machine does beside them is theirs, too. */
  get callCost(): number {
    return (FIRST_CALLS * this.first + this.#used) / (FIRST_CALLS + this.#calls);
  }

  /** With so many calls now; those that have just begun count before their work is measured. */
  load(calls: number): NodeLoad {
    const { callCost } = this;
    return { load: Math.max(this.#inUse ?? 0, calls * callCost), callCost };
  }
}
