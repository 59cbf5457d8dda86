/** What speech engines did for a turn, as it is noted. */
import type { WorkedBy } from '../../../../contracts/ports/speech/speech.js';
import type { EngineUsage, Usage } from '../../../../contracts/sessions/turns.js';
import type { NoteTurn } from './turn-events.js';

type Work = Omit<EngineUsage, 'engine' | 'model'>;

const NONE: Work = { characters: 0, spokenMs: 0, recognisedMs: 0 };

/** Usage of that work; `by` is undefined where no engine did it. */
export function usageOfWork(work: Partial<Work>, by: WorkedBy | undefined): Partial<Usage> {
  const { spokenMs, ...counted } = { ...NONE, ...work };
  const engines = by && [{ engine: by.engine, model: by.model ?? null, spokenMs, ...counted }];
  return { ...counted, ...(engines && { engines }) };
}

/** Notes audio that was transcribed, as usage of the next turn. */
export const recognising =
  (note: NoteTurn) =>
  (recognisedMs: number, by: WorkedBy | undefined): void =>
    note({ type: 'used', usage: usageOfWork({ recognisedMs }, by) });
