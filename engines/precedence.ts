/**
 * Complete audio goes before guesses: an engine transcribes incomplete audio only while it has nothing else
 * to do, one such guess at a time, and aborts it when complete audio comes.
 */
import { ServiceError } from '../contracts/errors.js';

interface Turn {
  /** Aborts with the job's own signal; a guess's also when it must give way (`engine_busy`). */
  readonly signal: AbortSignal;
  leave(): void;
}

export class Precedence {
  #complete = 0;
  #guess: AbortController | undefined;

  enter(interim: boolean, signal: AbortSignal): Turn {
    return interim ? this.#enterGuess(signal) : this.#enterComplete(signal);
  }

  #enterComplete(signal: AbortSignal): Turn {
    this.#complete += 1;
    this.#guess?.abort(new ServiceError('engine_busy'));
    return { signal, leave: () => (this.#complete -= 1) };
  }

  #enterGuess(signal: AbortSignal): Turn {
    if (this.#complete > 0 || this.#guess) throw new ServiceError('engine_busy');
    const guess = (this.#guess = new AbortController());
    return { signal: AbortSignal.any([signal, guess.signal]), leave: () => (this.#guess = undefined) };
  }
}
