/**
 * Judges how the user's turn sounds: after each stretch of voice the model is asked whether the turn is over. Keeps the
 * turn's audio, as much of it as the model listens to.
 */
import { RECOGNITION_RATE } from '../../../../contracts/audio.js';
import type { TurnModel } from '../../../../contracts/ports/speech/turns.js';

/** Bytes of the last eight seconds, all that the model listens to. */
const MOST_BYTES = 8 * RECOGNITION_RATE * 2;

export class TurnSound {
  #chunks: Uint8Array[] = [];
  #asked = new AbortController();

  /** `told`: gets the probability that the turn ended with that stretch; undefined if unknown. */
  constructor(
    private readonly model: TurnModel,
    private readonly workspaceId: string,
    private readonly told: (span: number, probability: number | undefined) => void,
  ) {
    model.prepare();
  }

  /** The user speaks on: nobody waits for the running judgement any more. */
  goesOn(): void {
    this.#asked.abort();
  }

  /** A stretch of voice has ended. Resolves when its probability is reported, or no longer wanted; never rejects. */
  async ended(span: number, chunks: readonly Uint8Array[]): Promise<void> {
    this.goesOn();
    const { signal } = (this.#asked = new AbortController());
    this.#keep(chunks);
    const probability = await this.model.probability([...this.#chunks], this.workspaceId, signal);
    if (!signal.aborted) this.told(span, probability);
  }

  /** The turn has ended: forgets its audio. */
  turnOver(): void {
    this.#chunks = [];
  }

  #keep(chunks: readonly Uint8Array[]): void {
    this.#chunks.push(...chunks);
    let bytes = this.#chunks.reduce((sum, { length }) => sum + length, 0);
    while (bytes - (this.#chunks[0]?.length ?? 0) >= MOST_BYTES) bytes -= this.#chunks.shift()?.length ?? 0;
  }
}
