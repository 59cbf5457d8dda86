/**
 * Offers that were answered and whose data channel is not open yet. Each is a connection of the media process, with its memory, and who
 * sends one need never come: so they are few, of a workspace and in all. A call that has begun counts no more.
 */
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';

const { waitingOffers } = LIMITS.agentRealtime;

export class WaitingOffers {
  readonly #held = new Map<string, number>();
  #all = 0;

  /** Begins a wait; the result ends it, once. Errors: `concurrency_exceeded` (its workspace's), `overloaded` (all). */
  enter(workspaceId: string): () => void {
    const own = this.#held.get(workspaceId) ?? 0;
    if (own >= waitingOffers.perWorkspace) throw new ServiceError('concurrency_exceeded');
    if (this.#all >= waitingOffers.total) throw new ServiceError('overloaded');
    this.#held.set(workspaceId, own + 1);
    this.#all += 1;
    let isWaiting = true;
    return () => {
      if (isWaiting) this.#leave(workspaceId);
      isWaiting = false;
    };
  }

  #leave(workspaceId: string): void {
    const own = (this.#held.get(workspaceId) ?? 0) - 1;
    this.#all -= 1;
    if (own > 0) this.#held.set(workspaceId, own);
    else this.#held.delete(workspaceId);
  }
}
