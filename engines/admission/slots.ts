/**
 * This process's part of every workspace's concurrency slots (fine point 6). It leases blocks ahead of
 * need in the background, so a job is let in without waiting; only a workspace's first job, and a burst
 * beyond what is held, wait for one answer of the store, bounded (share.ts).
 */
import { Share, type SlotsParts } from './share.js';
import { errorText } from './waiting.js';

export class Slots {
  readonly #shares = new Map<string, Share>();
  readonly #listening: Promise<() => void>;

  constructor(private readonly parts: SlotsParts) {
    const { leases, log } = parts;
    // Another process is short.
    const heard = (workspaceId: string): void => this.#shares.get(workspaceId)?.giveBack();
    this.#listening = leases.onShortage(heard).catch((error: unknown) => {
      log.warn({ reason: errorText(error) }, 'not told of other processes that are short of slots');
      return () => undefined;
    });
  }

  /** Errors: `concurrency_exceeded` with `retryAfter`; `overloaded` where the store is away for too long. */
  take(workspaceId: string): Promise<() => void> {
    const share = this.#shares.get(workspaceId) ?? new Share(workspaceId, this.parts);
    this.#shares.set(workspaceId, share);
    return share.take();
  }

  /** Extends every lease and fits it to the need. Needs no `this`. */
  readonly renew = async (): Promise<void> => {
    await Promise.all(this.#all.map((share) => this.#renew(share)));
  };

  /** Gives every slot back. */
  async stop(): Promise<void> {
    (await this.#listening)();
    await Promise.all(this.#all.map((share) => share.end()));
    this.#shares.clear();
  }

  state(): { readonly workspaces: number; readonly used: number; readonly held: number } {
    const sum = (of: (share: Share) => number): number =>
      this.#all.reduce((total, share) => total + of(share), 0);
    return { workspaces: this.#shares.size, used: sum(({ used }) => used), held: sum(({ held }) => held) };
  }

  get #all(): Share[] {
    return [...this.#shares.values()];
  }

  async #renew(share: Share): Promise<void> {
    await share.renew();
    if (share.isOver) this.#shares.delete(share.workspaceId);
  }
}

export const createSlots = (parts: SlotsParts): Slots => new Slots(parts);
