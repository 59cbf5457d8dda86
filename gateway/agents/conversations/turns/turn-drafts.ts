/**
 * Drafts of answers that nobody has asked for yet, and what is part of no row of the log yet (turn-log.ts): how many drafts were
 * discarded, and the usage of those and of other work between two rows.
 */
import { addUsage, NO_USAGE, type Usage } from '../../../../contracts/sessions/turns.js';
import type { TurnAnswer, TurnRow } from './turn-row.js';

export class TurnDrafts {
  readonly #drafts = new Map<number, TurnAnswer>();
  #discarded = 0;
  #spare: Usage = NO_USAGE;

  add(draft: TurnAnswer): void {
    this.#drafts.set(draft.job, draft);
  }

  find(job: number): TurnAnswer | undefined {
    return this.#drafts.get(job);
  }

  get last(): TurnAnswer | undefined {
    return [...this.#drafts.values()].at(-1);
  }

  /** It is asked for, and is a draft no more. */
  take(job: number): TurnAnswer | undefined {
    const draft = this.#drafts.get(job);
    this.#drafts.delete(job);
    return draft;
  }

  /** The same of the first one; the others are forgotten. */
  takeFirst(): TurnAnswer | undefined {
    const [first] = this.#drafts.values();
    this.#drafts.clear();
    return first;
  }

  /** False if there is none of that job. */
  discard(job: number): boolean {
    const draft = this.take(job);
    if (!draft) return false;
    this.#discarded += 1;
    this.use(draft.usage);
    return true;
  }

  discardAll(): void {
    for (const job of this.#drafts.keys()) this.discard(job);
  }

  /** Keeps usage for the next row. */
  use(usage: Usage): void {
    this.#spare = addUsage(this.#spare, usage);
  }

  /** Adds to `row` the discarded drafts and the usage since the last row. */
  discount(row: TurnRow): void {
    row.draftsDiscarded += this.#discarded;
    this.#discarded = 0;
    this.spend(row);
  }

  /** Adds that usage to `row`; false if there is none. */
  spend(row: TurnRow): boolean {
    if (this.#spare === NO_USAGE) return false;
    row.usage = addUsage(row.usage, this.#spare);
    this.#spare = NO_USAGE;
    return true;
  }
}
