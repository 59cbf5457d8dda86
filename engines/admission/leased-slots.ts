/**
 * The concurrency slots that this process has leased, one lease a workspace (slot-lease.ts, decision 6). Blocks are
 * leased ahead of need in the background, so a job is admitted without waiting; only a workspace's first job, and a burst
 * beyond the lease, wait for one answer of the store, for a limited time.
 */
import { whyOf } from '../../contracts/errors.js';
import { SlotLease, type SlotLeaseParts } from './slot-lease.js';

export class LeasedSlots {
  readonly #leases = new Map<string, SlotLease>();
  readonly #listening: Promise<() => void>;

  constructor(private readonly parts: SlotLeaseParts) {
    const { leases, log } = parts;
    const giveBackSpare = (workspaceId: string): void => this.#leases.get(workspaceId)?.giveBack();
    this.#listening = leases.onShortage(giveBackSpare).catch((error: unknown) => {
      log.warn(whyOf(error), 'not told of other processes that are short of slots');
      return () => undefined;
    });
  }

  /** Errors: `concurrency_exceeded` with `retryAfter`; `overloaded` if the store is unreachable for too long,
   * `storage_full` if it cannot write the lease. */
  take(workspaceId: string): Promise<() => void> {
    const lease = this.#leases.get(workspaceId) ?? new SlotLease(workspaceId, this.parts);
    this.#leases.set(workspaceId, lease);
    return lease.take();
  }

  /** Extends every lease and fits it to the need. Needs no `this`. */
  readonly renew = async (): Promise<void> => {
    await Promise.all(this.#all.map((lease) => this.#renew(lease)));
  };

  /** Returns every slot. */
  async stop(): Promise<void> {
    (await this.#listening)();
    await Promise.all(this.#all.map((lease) => lease.end()));
    this.#leases.clear();
  }

  state(): { readonly workspaces: number; readonly used: number; readonly held: number } {
    const sum = (of: (lease: SlotLease) => number): number =>
      this.#all.reduce((total, lease) => total + of(lease), 0);
    return { workspaces: this.#leases.size, used: sum(({ used }) => used), held: sum(({ held }) => held) };
  }

  get #all(): SlotLease[] {
    return [...this.#leases.values()];
  }

  async #renew(lease: SlotLease): Promise<void> {
    await lease.renew();
    if (lease.isOver) this.#leases.delete(lease.workspaceId);
  }
}

export const createLeasedSlots = (parts: SlotLeaseParts): LeasedSlots => new LeasedSlots(parts);
