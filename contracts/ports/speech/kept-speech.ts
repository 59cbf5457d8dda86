/**
 * Short speech that agents say again and again, kept as sound: whoever says it next need not ask an engine. What is kept belongs to one
 * workspace.
 */
import type { WorkedBy } from './speech.js';
import type { TimedWord } from './tts.js';

/** Who speaks what was kept, in place of an engine: it costs nothing. */
export const KEPT: WorkedBy = { engine: 'kept' };

export interface KeptSound {
  /** PCM, at a rate that its keeper knows. */
  readonly samples: Int16Array;
  /** Times of its words, if its engine told them. */
  readonly words: readonly TimedWord[];
}

export interface KeptSpeech {
  /** What is kept under that key, which holds all that decides how it sounds; counts a hit or a miss. */
  find(workspaceId: string, key: string): KeptSound | undefined;
  /** Whether it was said before, so that it is worth keeping; notes that it is said now. */
  isRepeated(workspaceId: string, key: string): boolean;
  /** Keeps it, unless it is too long or there is no memory for it. */
  keep(workspaceId: string, key: string, sound: KeptSound): void;
}
