/**
 * What Postgres knows of the words in knowledge is brought up to date after an upload, beside the requests: until then it searches
 * the new passages one by one, and takes all words for rare. Autovacuum does the same, but minutes later.
 */
import { systemClock } from '../../contracts/clock.js';
import { ownedBy } from '../../contracts/owner.js';
import type { Sql, Transaction } from '../postgres/sql.js';

/** Fewer new passages make no difference. */
const FROM_PASSAGES = 100;
const PAUSE_MS = 10_000;

const STEPS: readonly ((tx: Transaction) => Promise<unknown>)[] = [
  (tx) => tx`select gin_clean_pending_list('knowledge_chunks_terms')`,
  async (tx) => {
    // A sample of 9,000 passages and the 300 most common words: some hundred milliseconds.
    await tx`set local default_statistics_target = 30`;
    await tx`analyze knowledge_chunks`;
  },
];

/** Errors: none; a user that may not do it leaves it to autovacuum. */
export async function refreshStatistics(sql: Sql): Promise<void> {
  for (const step of STEPS) await sql.begin((tx) => step(tx)).catch(() => undefined);
}

export interface KnowledgeStatistics {
  /** So many passages were written. */
  wrote(passages: number): void;
}

/** Refreshes at once, and then at most every ten seconds. */
export function keepStatistics(sql: Sql, clock = systemClock): KnowledgeStatistics {
  let [pending, resting] = [0, false];
  const refresh = (): void => {
    if (resting || pending < FROM_PASSAGES) return;
    [pending, resting] = [0, true];
    // It outlives the upload's request.
    const refreshed = ownedBy({ tag: 'knowledge statistics' }, () => refreshStatistics(sql));
    void refreshed.then(() =>
      clock.after(PAUSE_MS, () => {
        resting = false;
        refresh();
      }),
    );
  };
  return {
    wrote(passages) {
      pending += passages;
      refresh();
    },
  };
}
