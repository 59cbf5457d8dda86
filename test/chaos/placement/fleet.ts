/**
 * A fleet of gateways under calls, simulated in steps of a tenth of a second on the code that places calls
 * (contracts/admission/placement.ts): heartbeats and looks at the other nodes are as often, and reports as old, as
 * they are in storage/nodes.ts. Machines are uneven, clients reach any gateway that the balancer has, and nodes are added, die,
 * drain, and lose their network. All that is random comes from one seed.
 */
import type { Candidate } from '../../../contracts/admission/placement.js';
import { LIMITS } from '../../../contracts/limits.js';
import { CALL_TIMES } from '../../../contracts/limits/call-times.js';
import type { NodeRecord } from '../../../contracts/ports/calls/nodes.js';
import { LOOK_MS, UNCLAIMED_MS } from '../../../storage/nodes.js';
import { seeded } from '../../fixtures/random.js';
import { FleetNode, machineBy, type NodeState } from './machines.js';
import { countedSpread, type Spread } from './spread.js';

export const STEP_MS = 100;
const stepsOf = (ms: number): number => Math.round(ms / STEP_MS);
const SECOND = stepsOf(1000);
const BEAT = stepsOf(CALL_TIMES.heartbeatMs);
const LOOK = stepsOf(LOOK_MS);
/** Nodes whose looks fall within as many steps share what they are told. */
const SHARED_LOOK = 5;
/** A node that drains is known to the balancer after that. */
const ANNOUNCE = stepsOf(5000);
/** A client whose node has died is back at another one after the lease, and some seconds of trying. */
const RETURN = { first: stepsOf(CALL_TIMES.leaseMs), most: stepsOf(CALL_TIMES.leaseMs + 4000) };
/** Nodes that are asked for a call that cannot begin here (LIMITS.node.tries). */
const TRIES = LIMITS.node.tries;

export type FaultKind = 'add' | 'kill' | 'drain' | 'unplug' | 'burst';

export interface Fault {
  readonly at: number;
  readonly kind: FaultKind;
  /** Nodes; of a burst, how many times as many calls come. */
  readonly count: number;
  /** For how long nodes are unplugged, or the burst is. */
  readonly seconds?: number;
}

export interface FleetPlan {
  readonly seed: number;
  readonly nodes: number;
  /** Calls that are placed; those that run at the beginning come on top. */
  readonly calls: number;
  readonly meanCallSeconds: number;
  /** Share of all machines that calls take in the mean. */
  readonly inUse: number;
  /** `balancer`: each call begins where its client came, as long as there is a place. */
  readonly placed: 'by room' | 'balancer';
  readonly faults: readonly Fault[];
}

/** Reports of nodes, as the database has them, and the step of each. */
interface Row {
  readonly report: NodeRecord;
  readonly at: number;
}

export interface FleetCounts {
  /** Calls placed, and how many of them at another node than the one that their client reached. */
  placed: number;
  elsewhere: number;
  refused: number;
  /** Calls that began at a node that drains, has died or is unplugged. */
  misplaced: number;
  /** Nodes that were asked for a call in vain. */
  askedDraining: number;
  askedDead: number;
  /** Calls whose node was lost, and that went on elsewhere. */
  returned: number;
  ended: number;
  /** Looks for a call that found no room in what was known. */
  looks: number;
}

/** A moment of the run. */
export interface Sample {
  readonly second: number;
  readonly nodes: number;
  readonly calls: number;
  readonly spread: Spread;
}

/** How long nodes that were added took to be as loaded as the others. */
export interface Added {
  readonly at: number;
  readonly nodes: number;
  /** Undefined: longer than the run. */
  seconds: number | undefined;
}

/** As loaded as the others: placing leaves differences of a tenth of a machine alone. */
const SHARE = 0.8;

export class Fleet {
  readonly counts: FleetCounts = {
    ...{ placed: 0, elsewhere: 0, refused: 0, misplaced: 0, askedDraining: 0, askedDead: 0 },
    ...{ returned: 0, ended: 0, looks: 0 },
  };
  readonly samples: Sample[] = [];
  readonly added: Added[] = [];
  /** Sum over all seconds, for means. */
  readonly sums = { seconds: 0, nodes: 0, calls: 0 };
  readonly #random: () => number;
  readonly #nodes: FleetNode[] = [];
  readonly #rows = new Map<string, Row>();
  readonly #byId = new Map<string, FleetNode>();
  readonly #groups = new Map<Added, readonly FleetNode[]>();
  /** What happens in later steps. */
  readonly #ends = new Map<number, [node: FleetNode, life: number][]>();
  readonly #returns = new Map<number, number>();
  readonly #later = new Map<number, (() => void)[]>();
  #step = 0;
  /** Gateways that the balancer has. */
  #reachable: readonly FleetNode[] = [];
  #told: readonly NodeRecord[] = [];
  #rate = 0;
  #burst = 1;

  constructor(private readonly plan: FleetPlan) {
    this.#random = seeded(plan.seed);
    this.#add(plan.nodes);
    const capacity = this.#nodes.reduce((sum, { callCost }) => sum + 1 / callCost, 0);
    this.#rate = (capacity * plan.inUse * STEP_MS) / 1000 / plan.meanCallSeconds;
    this.#fill();
    for (const fault of plan.faults) this.#at(fault.at * SECOND, () => this.#befall(fault));
  }

  /** Runs until all calls are placed. */
  run(): this {
    while (this.counts.placed + this.counts.refused < this.plan.calls) this.#next();
    return this;
  }

  /** All nodes begin as loaded as the fleet is in the mean, and know one another. */
  #fill(): void {
    for (const node of this.#nodes) {
      const calls = Math.round(this.plan.inUse / node.callCost);
      for (let call = 0; call < calls; call += 1) this.#begin(node);
      for (let second = 0; second < 120; second += 1) node.measure();
      this.#beat(node);
    }
    this.#told = this.#snapshot();
    for (const node of this.#nodes) node.known = this.#told;
    this.#reachable = this.#nodes;
  }

  #add(count: number): readonly FleetNode[] {
    const clock = { monotonic: () => this.#step * STEP_MS };
    return Array.from({ length: count }, () => {
      const parts = {
        index: this.#nodes.length,
        machine: machineBy(this.#random),
        clock,
        random: this.#random,
      };
      const node = new FleetNode(parts, this.#step);
      this.#nodes.push(node);
      this.#byId.set(node.id, node);
      return node;
    });
  }

  #at(step: number, work: () => void): void {
    const later = this.#later.get(step) ?? [];
    later.push(work);
    this.#later.set(step, later);
  }

  #next(): void {
    this.#step += 1;
    for (const work of this.#later.get(this.#step) ?? []) work();
    this.#later.delete(this.#step);
    if (this.#step % SECOND === 0) this.#eachSecond();
    if (this.#step % SHARED_LOOK === 0) this.#told = this.#snapshot();
    for (let index = this.#step % BEAT; index < this.#nodes.length; index += BEAT) this.#beats(index);
    for (let index = this.#step % LOOK; index < this.#nodes.length; index += LOOK) this.#looks(index);
    this.#endCalls();
    this.#bringBack();
    for (let calls = this.#arriving(); calls > 0; calls -= 1) this.#arrive();
  }

  #beats(index: number): void {
    const node = this.#nodes[index]!;
    if (!node.hasDatabase) return;
    node.measure();
    this.#beat(node);
  }

  #looks(index: number): void {
    const node = this.#nodes[index]!;
    if (node.hasDatabase) node.known = this.#told;
  }

  #beat(node: FleetNode): void {
    this.#rows.set(node.id, { report: node.report(), at: this.#step });
  }

  /** What the database answers now. */
  #snapshot(): readonly NodeRecord[] {
    const told: NodeRecord[] = [];
    for (const [id, { report, at }] of this.#rows) {
      const ageMs = (this.#step - at) * STEP_MS;
      if (ageMs > CALL_TIMES.leaseMs + UNCLAIMED_MS) this.#rows.delete(id);
      else told.push({ ...report, ageMs, alive: ageMs < CALL_TIMES.leaseMs });
    }
    return told;
  }

  /** The balancer has found out who is there. */
  #eachSecond(): void {
    this.#reachable = this.#nodes.filter(
      ({ state, since }) =>
        (state === 'up' && this.#step - since >= SECOND) ||
        (state === 'draining' && this.#step - since < ANNOUNCE),
    );
    const up = this.#nodes.filter(({ takes }) => takes);
    const calls = up.reduce((sum, node) => sum + node.calls, 0);
    this.sums.seconds += 1;
    this.sums.nodes += up.length;
    this.sums.calls += calls;
    this.#lookAtAdded(up);
    const spread = countedSpread(up.map(({ load }) => load));
    this.samples.push({ second: this.#step / SECOND, nodes: up.length, calls, spread });
  }

  #lookAtAdded(up: readonly FleetNode[]): void {
    const mean = (nodes: readonly FleetNode[]): number =>
      nodes.reduce((sum, { load }) => sum + load, 0) / Math.max(1, nodes.length);
    for (const [added, nodes] of this.#groups) {
      const living = nodes.filter(({ takes }) => takes);
      if (mean(living) < SHARE * mean(up)) continue;
      added.seconds = this.#step / SECOND - added.at;
      this.#groups.delete(added);
    }
  }

  /** Exponentially distributed, in steps. */
  #begin(node: FleetNode): void {
    if (!node.takes) this.counts.misplaced += 1;
    node.calls += 1;
    const lasts = Math.ceil((-Math.log(1 - this.#random()) * this.plan.meanCallSeconds * 1000) / STEP_MS);
    const end = this.#step + Math.max(1, lasts);
    const ends = this.#ends.get(end) ?? [];
    ends.push([node, node.life]);
    this.#ends.set(end, ends);
  }

  #endCalls(): void {
    for (const [node, life] of this.#ends.get(this.#step) ?? []) {
      if (node.life !== life) continue;
      node.calls -= 1;
      this.counts.ended += 1;
    }
    this.#ends.delete(this.#step);
  }

  /** Calls whose node was lost go on where their clients come to. */
  #bringBack(): void {
    const calls = this.#returns.get(this.#step) ?? 0;
    this.#returns.delete(this.#step);
    for (let call = 0; call < calls; call += 1) {
      this.counts.returned += 1;
      this.#begin(this.#reached());
    }
  }

  /** Poisson. */
  #arriving(): number {
    const least = Math.exp(-Math.min(this.#rate * this.#burst, 700));
    let [count, product] = [-1, 1];
    do {
      count += 1;
      product *= this.#random();
    } while (product > least);
    return count;
  }

  /** A gateway that lives, as clients try another one; one that leaves may be among them. */
  #reached(takes = true): FleetNode {
    for (;;) {
      const node = this.#reachable[Math.floor(this.#random() * this.#reachable.length)]!;
      if (node.takes || (!takes && node.state === 'draining')) return node;
    }
  }

  /** As gateway/agents/calls/joining.ts leads a client. */
  #arrive(): void {
    const here = this.#reached(false);
    const node = here.takes ? (this.#better(here) ?? here) : this.#withRoom(here);
    if (node === undefined) return void (this.counts.refused += 1);
    this.counts.placed += 1;
    if (node !== here) this.counts.elsewhere += 1;
    this.#begin(node);
  }

  #better(here: FleetNode): FleetNode | undefined {
    if (this.plan.placed === 'balancer') return undefined;
    const found = here.placement.better(here.told);
    return found && this.#asked(here, found);
  }

  #withRoom(here: FleetNode): FleetNode | undefined {
    const first = this.#firstOf(here);
    if (first) return first;
    this.counts.looks += 1;
    here.known = this.#snapshot();
    return this.#firstOf(here);
  }

  #firstOf(here: FleetNode): FleetNode | undefined {
    for (const found of here.placement.withRoom(TRIES)) {
      const node = this.#asked(here, found);
      if (node) return node;
    }
    return undefined;
  }

  /** Undefined if it does not take the call. */
  #asked({ placement }: FleetNode, found: Candidate): FleetNode | undefined {
    const node = this.#byId.get(found.id)!;
    if (node.takes) {
      placement.sent(found);
      return node;
    }
    if (node.state === 'draining') {
      this.counts.askedDraining += 1;
      placement.refused(found);
    } else {
      this.counts.askedDead += 1;
      placement.unreachable(found);
    }
    return undefined;
  }

  readonly #befalls: Readonly<Record<FaultKind, (fault: Fault) => void>> = {
    add: ({ at, count }) => {
      const added: Added = { at, nodes: count, seconds: undefined };
      this.added.push(added);
      this.#groups.set(added, this.#add(count));
    },
    kill: ({ count }) => this.#some(count, (node) => this.#lose(node, 'dead')),
    drain: ({ count }) => this.#some(count, (node) => this.#turn(node, 'draining')),
    unplug: ({ count, seconds = 0 }) =>
      this.#some(count, (node) => {
        this.#lose(node, 'unplugged');
        this.#at(this.#step + seconds * SECOND, () => this.#turn(node, 'up'));
      }),
    burst: ({ count, seconds = 0 }) => {
      this.#burst = count;
      this.#at(this.#step + seconds * SECOND, () => (this.#burst = 1));
    },
  };

  #befall(fault: Fault): void {
    this.#befalls[fault.kind](fault);
  }

  #some(count: number, work: (node: FleetNode) => void): void {
    const up = this.#nodes.filter(({ takes }) => takes);
    for (let done = 0; done < count && up.length > 1; done += 1)
      work(up.splice(Math.floor(this.#random() * up.length), 1)[0]!);
  }

  #turn(node: FleetNode, state: NodeState): void {
    node.state = state;
    node.since = this.#step;
  }

  /** Its clients come back elsewhere, each after its own time. */
  #lose(node: FleetNode, state: 'dead' | 'unplugged'): void {
    const { first, most } = RETURN;
    for (; node.calls > 0; node.calls -= 1) {
      const back = this.#step + first + Math.floor(this.#random() * (most - first));
      this.#returns.set(back, (this.#returns.get(back) ?? 0) + 1);
    }
    node.life += 1;
    this.#turn(node, state);
  }
}
