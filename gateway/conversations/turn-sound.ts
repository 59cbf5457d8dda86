/**
 * How the user's turn sounds so far: behind each stretch of voice the model is asked whether the turn is over. What has
 * been said is kept as it came, as long as the model listens back.
 */
import { RECOGNITION_RATE } from '../../contracts/audio.js';
import type { TurnModel } from '../../contracts/ports/turns.js';

/** Bytes of the eight seconds that count. */
const MOST_BYTES = 8 * RECOGNITION_RATE * 2;

export class TurnSound {
  #chunks: Uint8Array[] = [];
  #asked = new AbortController();

  /** `told`: of the turn whose last stretch that was; undefined where nobody can tell. */
  constructor(
    private readonly model: TurnModel,
    private readonly told: (span: number, probability: number | undefined) => void,
  ) {
    model.prepare();
  }

  /** The user goes on: nobody waits for what is being weighed. */
  goesOn(): void {
    this.#asked.abort();
  }

  /** That stretch of voice has ended. Resolves when it is told; never rejects. */
  async ended(span: number, chunks: readonly Uint8Array[]): Promise<void> {
    this.goesOn();
    const { signal } = (this.#asked = new AbortController());
    this.#keep(chunks);
    const probability = await this.model.probability([...this.#chunks], signal);
    if (!signal.aborted) this.told(span, probability);
  }

  /** What is said from now on is another turn. */
  turnOver(): void {
    this.#chunks = [];
  }

  #keep(chunks: readonly Uint8Array[]): void {
    this.#chunks.push(...chunks);
    let bytes = this.#chunks.reduce((sum, { length }) => sum + length, 0);
    while (bytes - (this.#chunks[0]?.length ?? 0) >= MOST_BYTES) bytes -= this.#chunks.shift()?.length ?? 0;
  }
}
