/**
 * The calls that this process owns, by the ids of their sessions. A session that another process has ended is ended here
 * as well; a process that stops ends what is left.
 */
import type { Clock } from '../../contracts/clock.js';
import type { SessionRuns } from '../../contracts/ports/sessions.js';
import type { OwnedCall } from './owned-call.js';

export interface RegistryParts {
  readonly runs: Pick<SessionRuns, 'onEnded'>;
  readonly clock: Clock;
}

export class CallRegistry<Owned extends Pick<OwnedCall, 'id' | 'over' | 'closedBy'>> {
  readonly #calls = new Map<string, Owned>();
  readonly #stopListening: () => void;

  constructor(private readonly parts: RegistryParts) {
    this.#stopListening = parts.runs.onEnded((id) => this.find(id)?.closedBy('session'));
  }

  find(id: string): Owned | undefined {
    return this.#calls.get(id);
  }

  /** Those that are not over, in the order in which they began. */
  get all(): readonly Owned[] {
    return [...this.#calls.values()];
  }

  /** Keeps it until it is over. Its session may have no other here. */
  add(call: Owned): void {
    this.#calls.set(call.id, call);
    void call.over.then(() => this.remove(call));
  }

  /** Nothing where its session has another one by now. */
  remove(call: Owned): void {
    if (this.find(call.id) === call) this.#calls.delete(call.id);
  }

  /** Ends all of them, once they have had `graceMs` to end by themselves. */
  async stop(graceMs: number): Promise<void> {
    const stopTimer = this.parts.clock.after(graceMs, () => {
      for (const call of this.all) call.closedBy('shutdown');
    });
    await Promise.all(this.all.map(({ over }) => over));
    stopTimer();
    this.#stopListening();
  }
}
