/**
 * The sessions that this process owns: their ids, how long each has lasted, and when it must have ended, by this process's own
 * clock, since the database's may be set while they run. Notifies listeners when one of them has ended: learnt by NOTIFY, or from the rows
 * if a notification may have been lost.
 */
import { CALL_TIMES } from '../../contracts/limits/call-times.js';
import type { Clock } from '../../contracts/clock.js';
import { whyOf } from '../../contracts/errors.js';
import type { Log } from '../../contracts/log.js';
import type { Sql } from '../postgres/sql.js';
import type { NotifyListener } from '../postgres/events.js';

/** Monotonic milliseconds. */
interface Span {
  /** When it began, or would have, had it been here from the beginning. */
  readonly begun: number;
  /** When it must have ended. */
  readonly end: number;
}

/** By id; undefined until its user is connected. */
export class OwnedSessions extends Map<string, Span | undefined> implements NotifyListener {
  readonly #listeners = new Set<(id: string) => void>();

  constructor(
    private readonly sql: Sql,
    private readonly log: Log,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {
    super();
  }

  add(id: string): void {
    this.set(id, undefined);
  }

  /** Its user is connected, and may be for so long; `lasted`: milliseconds elsewhere before. */
  begun(id: string, maxDurationSeconds: number, lasted = 0): void {
    const now = this.clock.monotonic();
    const end = now + maxDurationSeconds * 1000 + CALL_TIMES.overtimeMs;
    if (this.has(id)) this.set(id, { begun: now - lasted, end });
  }

  /** How long it has lasted in milliseconds; null if its user is not connected. */
  lasted(id: string): number | null {
    const span = this.get(id);
    return span ? Math.round(this.clock.monotonic() - span.begun) : null;
  }

  /** Sessions that should have been ended long ago. */
  get overdue(): readonly string[] {
    const now = this.clock.monotonic();
    return [...this].flatMap(([id, span]) => (span && span.end <= now ? [id] : []));
  }

  onEnded(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  heard(id: string): void {
    if (this.delete(id)) for (const listener of this.#listeners) listener(id);
  }

  missed(): void {
    this.#lookForEnded().catch((error: unknown) =>
      this.log.warn(whyOf(error), 'could not look for ended sessions'),
    );
  }

  async #lookForEnded(): Promise<void> {
    const rows = await this.sql<{ id: string }[]>`
      select id from sessions where id = any(${[...this.keys()]}::text[]) and ended_at is not null`;
    for (const { id } of rows) this.heard(id);
  }
}
