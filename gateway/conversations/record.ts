/**
 * Writes a conversation's record item by item, in order, while it goes on (docs/contract/platform.md 6.7). Nobody waits for
 * the database but the end; what it does not take is offered again.
 */
import type { Clock } from '../../contracts/clock.js';
import type { Log } from '../../contracts/log.js';
import type { SessionItem } from '../../contracts/ports/sessions.js';
import type { Turn } from '../../contracts/turns.js';

export interface RecordParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Writes items in order; resolves when they are kept. */
  append(items: readonly SessionItem[]): Promise<void>;
  /** Writes a turn in the place of what was written of it before. */
  keepTurn(turn: Turn): Promise<void>;
}

/** When a write that failed is tried again. */
const AGAIN_MS = [500, 2000];

export const pause = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => void clock.after(ms, resolve));

export class RecordWriter {
  #writing: Promise<void> = Promise.resolve();

  constructor(private readonly parts: RecordParts) {}

  /** Goes before all items. `work` never rejects. */
  begin(work: () => Promise<void>): void {
    this.#writing = this.#writing.then(work);
  }

  add(item: SessionItem): void {
    this.#after(() => this.parts.append([item]));
  }

  keep(turn: Turn): void {
    this.#after(() => this.parts.keepTurn(turn));
  }

  /** Resolves when all so far are kept, or given up. */
  written(): Promise<void> {
    return this.#writing;
  }

  #after(write: () => Promise<void>): void {
    this.#writing = this.#writing.then(() => this.#write(write));
  }

  async #write(write: () => Promise<void>): Promise<void> {
    for (const again of [...AGAIN_MS, undefined]) {
      try {
        return await write();
      } catch (error) {
        this.parts.log.error({ err: error, again }, 'a session item was not kept');
        if (again !== undefined) await pause(this.parts.clock, again);
      }
    }
  }
}
