/**
 * The ids of the sessions that this process owns. Notifies listeners when one of them has ended: learnt by NOTIFY, or
 * from the rows if a notification may have been lost.
 */
import { errorText } from '../../contracts/errors.js';
import type { Log } from '../../contracts/log.js';
import type { Sql } from '../postgres/sql.js';
import type { Listener } from '../postgres/events.js';

export class OwnedSessions extends Set<string> implements Listener {
  readonly #listeners = new Set<(id: string) => void>();

  constructor(
    private readonly sql: Sql,
    private readonly log: Log,
  ) {
    super();
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
      this.log.warn({ reason: errorText(error) }, 'could not look for ended sessions'),
    );
  }

  async #lookForEnded(): Promise<void> {
    const rows = await this.sql<{ id: string }[]>`
      select id from sessions where id = any(${[...this]}::text[]) and ended_at is not null`;
    for (const { id } of rows) this.heard(id);
  }
}
