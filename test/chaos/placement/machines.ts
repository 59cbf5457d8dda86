/** Simulated machines and the nodes on them, one on each. */
import { CallCost, firstCost } from '../../../contracts/admission/call-cost.js';
import { Placement } from '../../../contracts/admission/placement.js';
import type { NodeRecord } from '../../../contracts/ports/calls/nodes.js';

/** Machines by their cores, and what share of the fleet they are. */
const CORES: readonly (readonly [cores: number, share: number])[] = [
  [2, 0.3],
  [4, 0.4],
  [8, 0.25],
  [16, 0.05],
];
/** Calls on a core: more or less than docs/operate/sizing.md says, as models, agents and processors differ. */
const CALLS_PER_CORE = { least: 6, most: 12 };
/** What machines do beside calls, as a share, at most. */
const MOST_BESIDE = 0.1;
/** Measurements are off by so much, at most. */
const NOISE = 0.1;

export interface Machine {
  readonly cores: number;
  /** What a call takes in truth. */
  readonly callCost: number;
  readonly beside: number;
}

export function machineBy(random: () => number): Machine {
  let at = random();
  const [cores] = CORES.find(([, share]) => (at -= share) < 0) ?? CORES[0]!;
  const { least, most } = CALLS_PER_CORE;
  const calls = cores * (least + random() * (most - least));
  return { cores, callCost: 1 / calls, beside: random() * MOST_BESIDE };
}

export type NodeState = 'up' | 'draining' | 'unplugged' | 'dead';

export interface NodeParts {
  readonly index: number;
  readonly machine: Machine;
  readonly clock: { monotonic(): number };
  readonly random: () => number;
}

export class FleetNode {
  state: NodeState = 'up';
  calls = 0;
  /** Counts its lives: calls of an earlier one have left. */
  life = 0;
  /** What it knows of all nodes. */
  known: readonly NodeRecord[] = [];
  readonly id: string;
  readonly placement: Placement;
  readonly #cost: CallCost;

  constructor(
    private readonly parts: NodeParts,
    /** The step since which it is in its state. */
    public since: number,
  ) {
    const { index, machine, clock, random } = parts;
    this.id = `node-${index}`;
    this.#cost = new CallCost(firstCost(machine.cores));
    this.placement = new Placement({ known: () => this.known, installation: this.id, clock, random });
  }

  get callCost(): number {
    return this.parts.machine.callCost;
  }

  /** The share of its machine that is in use. */
  get load(): number {
    return this.parts.machine.beside + this.calls * this.callCost;
  }

  /** The load that it knows. */
  get told() {
    return this.#cost.load(this.calls);
  }

  get takes(): boolean {
    return this.state === 'up';
  }

  get hasDatabase(): boolean {
    return this.state === 'up' || this.state === 'draining';
  }

  /** Measures a second. */
  measure(): void {
    const noise = 1 + NOISE * (2 * this.parts.random() - 1);
    this.#cost.measured(Math.min(1, this.load * noise), this.calls, 1000);
  }

  /** What its heartbeat says. */
  report(): NodeRecord {
    const { id, calls, state, told } = this;
    const when = new Date(0);
    return {
      ...{ id, installation: id, url: `http://${id}:8080`, version: '', startedAt: when, seenAt: when },
      ...{ calls, places: null, draining: state === 'draining', ageMs: 0, alive: true },
      ...told,
    };
  }
}
