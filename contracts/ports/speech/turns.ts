/** Ends of a user's turns: the kinds of detectors, and the model that listens for them. `engines/turns` has one. */

/** `tables`: words and pauses; `audio`: a model that listens; `both` (actors/agent/turns/detectors.ts). */
export const DETECTORS = ['tables', 'audio', 'both'] as const;
export type Detector = (typeof DETECTORS)[number];

export interface TurnModel {
  /** Loads whatever takes long, because somebody may speak soon. */
  prepare(): void;
  /**
   * The probability, 0 to 1, that the speaker at the end of this audio has finished. PCM at the rate of recognition whose
   * chunks follow one another, with the first moments of silence behind the voice; the last eight seconds count.
   * Undefined if it is not known in time, for any reason, or after an abort. Never rejects. `workspaceId`: whose call it is.
   */
  probability(
    chunks: readonly Uint8Array[],
    workspaceId: string,
    signal: AbortSignal,
  ): Promise<number | undefined>;
}

/** Detection of ends of turns besides the tables; `detector`: the default if the agent leaves it to the gateway. */
export interface TurnListening {
  readonly detector: Exclude<Detector, 'tables'>;
  readonly model: TurnModel;
}

/** The model that listens now: it may be added and taken away while the gateway runs. A call keeps what it began with. */
export interface TurnsInUse {
  readonly inUse: TurnListening | undefined;
}
