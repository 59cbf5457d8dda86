/**
 * Where a call begins. Each node tells with its heartbeats how much of its machine is in use, and what a call costs there
 * (call-cost.ts). Each has what all others told some seconds ago (`Nodes.known`), so placing a call asks the database for
 * nothing.
 *
 * Thousands of gateways have the same reports, and none knows the calls of the last seconds. If each took the best of all
 * nodes, all would take the same one. So each draws a few, those with more room more often, and compares the best of them with
 * itself. A report is only a preference: a node that is full or drains refuses, and where all do, the call begins here.
 */
import type { Clock } from '../clock.js';
import { CALL_TIMES } from '../limits/call-times.js';
import type { NodeFigures, NodeLoad, NodeRecord } from '../ports/calls/nodes.js';

/** A node of another installation, which may take calls. */
export interface Candidate extends NodeRecord {
  readonly url: string;
  readonly installation: string;
}

/** How many are compared with this node. */
const DRAWN = 3;
/** By how much less of its machine another one uses: to be there costs a call a relayed connection, and loads are measured roughly. */
const MARGIN = 0.1;
/** A node whose report is older has fallen silent, and takes no calls (ops/adr/0033-nodes.md). */
const FRESH_MS = CALL_TIMES.silentMs;
/** Calls for which a node counts as having room that has none by its load: if all are so, they are still drawn. */
const LEAST_ROOM = 0.01;
/** Nodes that are drawn for a call that cannot begin here, before the best of them are asked. */
const DRAWN_FOR_ROOM = 16;
/** How long a node is left out that was not reached. */
const UNREACHABLE_MS = 10_000;

/** The share of its machine that is in use once it has another call. */
export const loadWithOneMore = ({ load, callCost }: NodeLoad): number => load + callCost;

/** Calls for which there is room, by what a call costs and by its places. */
export const roomOf = ({ load, callCost, places, calls }: NodeFigures): number =>
  Math.min(Math.max(0, 1 - load) / callCost, places === null ? Infinity : places - calls);

const mayTake = (node: NodeRecord): node is Candidate =>
  node.alive &&
  !node.draining &&
  node.url !== null &&
  node.installation !== null &&
  node.ageMs <= FRESH_MS &&
  (node.places === null || node.calls < node.places);

/** The name or address of its machine. */
const hostOf = ({ url }: Pick<Candidate, 'url'>): string => new URL(url).hostname;

/** All nodes that may take calls, to be drawn from. */
export class Picture {
  readonly nodes: readonly Candidate[];
  /** Room of each and of all before it. */
  readonly #sums: Float64Array;
  /** Addresses by installation, also of nodes that take no calls. */
  readonly #urls = new Map<string | null, string>();

  constructor(known: readonly NodeRecord[]) {
    this.nodes = known.filter(mayTake);
    for (const { installation, url } of known) if (url !== null) this.#urls.set(installation, url);
    // The processes of a machine tell the same load: each has its part of the room.
    const processes = new Map<string, number>();
    for (const { installation } of this.nodes)
      processes.set(installation, (processes.get(installation) ?? 0) + 1);
    let sum = 0;
    this.#sums = Float64Array.from(
      this.nodes,
      (node) => (sum += Math.max(LEAST_ROOM, roomOf(node)) / processes.get(node.installation)!),
    );
  }

  urlOf(installation: string): string | undefined {
    return this.#urls.get(installation);
  }

  /** A node by a random number from 0 up to 1, the more likely the more room it has. */
  draw(random: number): Candidate | undefined {
    const wanted = random * (this.#sums.at(-1) ?? 0);
    let [low, high] = [0, this.#sums.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#sums[middle]! > wanted) high = middle;
      else low = middle + 1;
    }
    return this.nodes[low];
  }
}

/** One picture for each answer of the database. */
const pictures = new WeakMap<readonly NodeRecord[], Picture>();

function pictureOf(known: readonly NodeRecord[]): Picture {
  const picture = pictures.get(known) ?? new Picture(known);
  pictures.set(known, picture);
  return picture;
}

export interface PlacementParts {
  /** What all nodes told last; another array once they were asked anew. */
  readonly known: () => readonly NodeRecord[];
  /** The processes of this machine: a call that goes from one to another makes no room. */
  readonly installation: string;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Numbers from 0 up to 1. */
  readonly random?: () => number;
}

/** Chooses nodes for the calls that reach this process. */
export class Placement {
  #known: readonly NodeRecord[] = [];
  #picture = new Picture([]);
  #ownHost: string | undefined;
  /** Calls that went from here to a node since it told its load. */
  readonly #sent = new Map<string, number>();
  /** Nodes that have refused a call since they told their load. */
  readonly #refused = new Set<string>();
  /** Until when nodes are left out that were not reached. */
  readonly #unreachable = new Map<string, number>();

  constructor(private readonly parts: PlacementParts) {}

  /** A node that is much better for a call than this one; undefined: it begins here. */
  better(here: NodeLoad): Candidate | undefined {
    this.#look();
    // One that does not know itself yet knows nothing of the others either.
    if (this.#ownHost === undefined) return undefined;
    const [best] = this.#bestOf(this.#drawn(DRAWN).filter((node) => hostOf(node) !== this.#ownHost));
    return best && this.#loadOf(best) < loadWithOneMore(here) - MARGIN ? best : undefined;
  }

  /** Nodes for a call that cannot begin here: so many at most, the best first. */
  withRoom(most: number): readonly Candidate[] {
    this.#look();
    const { nodes } = this.#picture;
    const found = nodes.length <= DRAWN_FOR_ROOM ? nodes : this.#drawn(DRAWN_FOR_ROOM);
    return this.#bestOf(found).slice(0, most);
  }

  /** A call has gone to that node. */
  sent({ id }: Pick<Candidate, 'id'>): void {
    this.#sent.set(id, (this.#sent.get(id) ?? 0) + 1);
  }

  /** That node has no room, or leaves: so it is left out until it has told its load anew. */
  refused({ id }: Pick<Candidate, 'id'>): void {
    this.#refused.add(id);
  }

  unreachable({ id }: Pick<Candidate, 'id'>): void {
    this.#unreachable.set(id, this.parts.clock.monotonic() + UNREACHABLE_MS);
  }

  /** Takes what was told anew. */
  #look(): void {
    const known = this.parts.known();
    if (known === this.#known) return;
    this.#known = known;
    this.#picture = pictureOf(known);
    this.#sent.clear();
    this.#refused.clear();
    const url = this.#picture.urlOf(this.parts.installation);
    this.#ownHost = url === undefined ? undefined : hostOf({ url });
    const now = this.parts.clock.monotonic();
    for (const [id, until] of this.#unreachable) if (until <= now) this.#unreachable.delete(id);
  }

  #drawn(times: number): readonly Candidate[] {
    const { random = Math.random } = this.parts;
    const drawn = Array.from({ length: times }, () => this.#picture.draw(random()));
    return [...new Set(drawn)].filter((node) => node !== undefined);
  }

  /** Those of other machines that are not left out, least load first. */
  #bestOf(nodes: readonly Candidate[]): readonly Candidate[] {
    return nodes
      .filter((node) => node.installation !== this.parts.installation && !this.#isLeftOut(node))
      .sort((one, other) => this.#loadOf(one) - this.#loadOf(other));
  }

  #isLeftOut({ id }: Candidate): boolean {
    const until = this.#unreachable.get(id) ?? -Infinity;
    return this.#refused.has(id) || until > this.parts.clock.monotonic();
  }

  /** With this call and those that went there since. */
  #loadOf(node: Candidate): number {
    return loadWithOneMore(node) + (this.#sent.get(node.id) ?? 0) * node.callCost;
  }
}
