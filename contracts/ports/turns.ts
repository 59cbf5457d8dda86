/** The end of a user's turn: who may say that it is over, and the model that listens for it. `engines/turns` has one. */

/** `tables`: words and pauses; `audio`: a model that listens; `both` (actors/agent/turns/detectors.ts). */
export const DETECTORS = ['tables', 'audio', 'both'] as const;
export type Detector = (typeof DETECTORS)[number];

export interface TurnModel {
  /** Somebody may speak soon: what takes long to load is loaded. */
  prepare(): void;
  /**
   * The probability, 0 to 1, that the speaker at the end of this audio has finished. PCM at the rate of recognition whose
   * chunks follow one another, with the first moments of silence behind the voice; the last eight seconds count.
   * Undefined where it is not known in time, whatever the cause, or after an abort. Never rejects.
   */
  probability(chunks: readonly Uint8Array[], signal: AbortSignal): Promise<number | undefined>;
}

/** How conversations listen for ends of turns, beside the tables; `detector`: where the agent leaves it to the gateway. */
export interface TurnListening {
  readonly detector: Exclude<Detector, 'tables'>;
  readonly model: TurnModel;
}
