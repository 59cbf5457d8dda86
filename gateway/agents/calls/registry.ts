/**
 * The calls that this process owns, by the ids of their sessions. A session that another process ended is ended here as
 * well; all are released if the process was taken for dead; a stopping process ends those that are left.
 */
import type { HeldLease } from '../../../contracts/ports/calls/nodes.js';
import { eachInTurns } from '../../../contracts/time/loop-turn.js';
import type { SessionRuns } from '../../../contracts/ports/sessions/sessions.js';
import type { ClosedBy } from '../conversations/closing.js';

export interface RegistryParts {
  readonly runs: Pick<SessionRuns, 'onEnded'>;
  readonly held: Pick<HeldLease, 'onChange'>;
}

/** A call in the registry: an agent's, or one to a colleague (../phone/consultation.ts). */
export interface RegisteredCall {
  /** Of its session, or of its transfer. */
  readonly id: string;
  /** Resolves when it has ended. Never rejects. */
  readonly over: Promise<void>;
  /** Ends it, unless it has ended. */
  closedBy(cause: ClosedBy): void;
}

export class CallRegistry<Owned extends RegisteredCall> {
  readonly #calls = new Map<string, Owned>();
  readonly #stops: readonly (() => void)[];
  #closing = false;

  constructor(parts: RegistryParts) {
    this.#stops = [
      parts.runs.onEnded((id) => this.find(id)?.closedBy('session')),
      parts.held.onChange((state) => {
        if (state === 'lost') void eachInTurns(this.all, (call) => call.closedBy('lost'));
      }),
    ];
  }

  find(id: string): Owned | undefined {
    return this.#calls.get(id);
  }

  /** Calls that have not ended, in the order in which they began. */
  get all(): readonly Owned[] {
    return [...this.#calls.values()];
  }

  /** Keeps a call until it has ended. Its session may have no other call here. */
  add(call: Owned): void {
    this.#calls.set(call.id, call);
    void call.over.then(() => this.remove(call));
    if (this.#closing) call.closedBy('shutdown');
  }

  /** Does nothing if its session has another call already. */
  remove(call: Owned): void {
    if (this.find(call.id) === call) this.#calls.delete(call.id);
  }

  /** Once `until` resolves, ends the calls that are left and any that are added later. Lasts until `refuses` has resolved at least. */
  async stop(until: Promise<unknown>, refuses: Promise<unknown> = Promise.resolve()): Promise<void> {
    void until.then(() => {
      this.#closing = true;
      void eachInTurns(this.all, (call) => call.closedBy('shutdown'));
    });
    await refuses;
    while (this.#calls.size > 0) await Promise.all(this.all.map(({ over }) => over));
    for (const stop of this.#stops) stop();
  }
}
