/** Identifiers, injected like the clock. */
import { randomBytes, randomUUID } from 'node:crypto';

export type IdKind = 'generation' | 'workspace' | 'key' | 'job' | 'voice';

export interface Ids {
  /** A new unique id of that kind; its shape is the kind's row below. */
  next(kind: IdKind): string;
}

const hex = (bytes: number): string => randomBytes(bytes).toString('hex');

const SHAPES: Record<IdKind, () => string> = {
  generation: () => `gen-${hex(12)}`,
  workspace: () => `ws_${hex(12)}`,
  key: () => `key_${hex(12)}`,
  job: () => randomUUID(),
  voice: () => hex(16),
};

export const randomIds: Ids = { next: (kind) => SHAPES[kind]() };
