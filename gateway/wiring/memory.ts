/** Opens the ledger of one gateway process's waiting memory: its part of MEMORY_BUDGET_MB. */
import { MEMORY_KINDS } from '../../contracts/ports/accounts/memory.js';
import type { Config } from '../config.js';
import type { SpeechShelves } from '../../engines/kept-speech.js';
import { Ledger } from '../server/memory/ledger.js';
import type { Metrics } from '../server/system/metrics.js';

export const openMemory = ({
  memoryBudgetBytes,
  workers,
}: Pick<Config, 'memoryBudgetBytes' | 'workers'>): Ledger =>
  new Ledger(Math.floor(memoryBudgetBytes / workers));

export function addMemoryMetrics(metrics: Metrics, memory: Ledger): void {
  const byKind = (read: (kind: (typeof MEMORY_KINDS)[number]) => number) => () =>
    MEMORY_KINDS.map((kind) => ({ labels: { kind }, value: read(kind) }));
  metrics.gauge(
    'memory_charged_bytes',
    'Memory of what waits, by kind',
    byKind((kind) => memory.bytesOf(kind)),
    ['kind'],
  );
  metrics.gauge('memory_budget_bytes', 'Most memory that may wait', () => memory.budgetBytes);
  metrics.counter(
    'memory_refused',
    'Pieces that did not fit into the memory budget, and work that was ended for others, by kind',
    byKind((kind) => memory.refusedOf(kind)),
    ['kind'],
  );
}

export const addKeptSpeechMetrics = (metrics: Metrics, { found }: Pick<SpeechShelves, 'found'>): void =>
  metrics.counter(
    'kept_speech',
    'Short pieces and fixed lines of agents that were looked for among kept sounds, by result',
    () => Object.entries(found).map(([result, value]) => ({ labels: { result }, value })),
    ['result'],
  );
