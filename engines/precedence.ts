/**
 * Complete audio goes before interim transcriptions: an engine transcribes incomplete audio only while it has nothing else
 * to do, one at a time, and aborts it when complete audio comes.
 */
import { ServiceError } from '../contracts/errors.js';

interface Turn {
  /** Aborts with the job's own signal; an interim one's also when it must give way (`engine_busy`). */
  readonly signal: AbortSignal;
  leave(): void;
}

export class Precedence {
  #complete = 0;
  #interim: AbortController | undefined;

  enter(interim: boolean, signal: AbortSignal): Turn {
    return interim ? this.#enterInterim(signal) : this.#enterComplete(signal);
  }

  #enterComplete(signal: AbortSignal): Turn {
    this.#complete += 1;
    this.#interim?.abort(new ServiceError('engine_busy'));
    return { signal, leave: () => (this.#complete -= 1) };
  }

  #enterInterim(signal: AbortSignal): Turn {
    if (this.#complete > 0 || this.#interim) throw new ServiceError('engine_busy');
    const interim = (this.#interim = new AbortController());
    return { signal: AbortSignal.any([signal, interim.signal]), leave: () => (this.#interim = undefined) };
  }
}
