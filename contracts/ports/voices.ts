/** The voice library: rows for the voices of the configured engines, and cloned ones (decisions.md "Models, voices"). */
import type { Language } from '../languages.js';

export interface Voice {
  /** 32 lowercase hex. */
  readonly id: string;
  readonly title: string;
  readonly languages: readonly Language[];
  /** Other ids that reach it, `alloy` among them. */
  readonly aliases: readonly string[];
  /** The engine that speaks it, and the engine's name for it. */
  readonly engine: string;
  readonly engineVoice: string;
}

export interface VoiceLibrary {
  /** The voice behind an id or alias; undefined where there is none. Never falls back. */
  find(id: string): Promise<Voice | undefined>;
  list(): Promise<readonly Voice[]>;
}
