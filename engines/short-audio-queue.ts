/**
 * The queue of short audio in a child: complete audio of up to 30 s waits for a place, workspace by workspace. The engine works on one piece at a time
 * anyway, and every open stream costs a detector (50 ms and 12 MB to create if none is idle). Longer
 * audio does not queue, so that nothing waits behind an hour of it.
 */
import type { Demand } from '../contracts/ports/speech/demand.js';
import { EngineScheduler } from './scheduling/engine-scheduler.js';
import { engineWaits } from './scheduling/engine-waits.js';

/** Two, so that speech is detected in one while the other is transcribed. */
const AT_ONCE = 2;
const LONGEST_SECONDS = 30;

const nothing = (): void => undefined;

export class ShortAudioQueue {
  readonly #places = new EngineScheduler({ atOnce: AT_ONCE, waits: engineWaits });

  /** Waits for a place; the result returns it. `seconds`: length of the audio, if known. Rejects if `signal` aborts first. */
  async enter(
    seconds: number | undefined,
    demand: Demand | undefined,
    signal: AbortSignal,
  ): Promise<() => void> {
    if (seconds === undefined || seconds > LONGEST_SECONDS) return nothing;
    return this.#places.enter(this.#places.placeOf(demand), signal);
  }
}
