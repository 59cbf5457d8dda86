/**
 * Complete audio goes before interim transcriptions: an engine transcribes incomplete audio only while it has nothing else
 * to do, one at a time, and aborts it when complete audio comes. Batch work is nothing to an interim transcription of live
 * speech, which takes its turns with it: somebody else's files must not take the words from a screen.
 */
import { ServiceError } from '../contracts/errors.js';

interface Turn {
  /** Aborts with the job's own signal; an interim one's also when it must give way (`engine_busy`). */
  readonly signal: AbortSignal;
  leave(): void;
}

interface Interim {
  readonly isLive: boolean;
  readonly giveWay: AbortController;
}

/** What a job of this kind goes before, or gives way to. */
export interface Kind {
  readonly interim: boolean;
  readonly isLive: boolean;
}

export class Precedence {
  readonly #complete = { live: 0, batch: 0 };
  #interim: Interim | undefined;

  enter({ interim, isLive }: Kind, signal: AbortSignal): Turn {
    return interim ? this.#enterInterim(isLive, signal) : this.#enterComplete(isLive, signal);
  }

  #enterComplete(isLive: boolean, signal: AbortSignal): Turn {
    const kind = isLive ? 'live' : 'batch';
    this.#complete[kind] += 1;
    const interim = this.#interim;
    if (interim && (isLive || !interim.isLive)) interim.giveWay.abort(new ServiceError('engine_busy'));
    return { signal, leave: () => void (this.#complete[kind] -= 1) };
  }

  #enterInterim(isLive: boolean, signal: AbortSignal): Turn {
    const { live, batch } = this.#complete;
    if (live > 0 || (batch > 0 && !isLive) || this.#interim) throw new ServiceError('engine_busy');
    const giveWay = new AbortController();
    this.#interim = { isLive, giveWay };
    return { signal: AbortSignal.any([signal, giveWay.signal]), leave: () => (this.#interim = undefined) };
  }
}
