/**
 * Reads PDF and HTML on a thread of its own, whatever is in them.
 *
 * Invariants: one document at a time, workspaces take turns, and a bounded number waits; each has a bounded time and heap, over which its
 * thread ends; a thread without work ends after a while and never keeps the process alive.
 */
import { setMaxListeners } from 'node:events';
import { Worker } from 'node:worker_threads';
import { FairPlaces } from '../../contracts/admission/fair-places.js';
import type { Clock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import { BUILT } from '../../contracts/places.js';
import type { DocumentKind, DocumentReader } from '../../contracts/ports/documents.js';
import { ownerOf } from '../../processes/job-owner.js';

export interface DocumentTask {
  readonly kind: DocumentKind;
  readonly bytes: Uint8Array;
}

/** `refusal`: what is wrong with it, behind its name. */
export type DocumentResult = { readonly text: string } | { readonly refusal: string };

const THREAD = new URL('engines/documents/documents-thread.js', BUILT);
const HEAP_MB = 256;
const REST_MS = 60_000;
const { queue, timeMs, textBytes } = LIMITS.document;

const refused = (what: string): ServiceError => {
  const message = `source ${what}`;
  return new ServiceError('validation_failed', {
    message,
    problems: [{ type: 'document', loc: ['source'], message }],
  });
};

const TOO_MUCH = `takes longer than ${timeMs / 1000} s to read, or more memory than there is: divide it`;

/** Errors: `validation_failed`. */
function checked(result: DocumentResult | undefined): string {
  if (!result) throw refused(TOO_MUCH);
  if ('refusal' in result) throw refused(result.refusal);
  // Postgres takes no null characters.
  const text = result.text.replaceAll('\0', '');
  if (text.trim() === '') throw refused('has no text: what was scanned has to be recognised first (OCR)');
  if (Buffer.byteLength(text) > textBytes)
    throw refused(`has more than ${textBytes / 1_000_000} MB of text: divide it`);
  return text;
}

export class ThreadedReader implements DocumentReader {
  readonly #places = new FairPlaces({ slots: 1, queue });
  readonly #stopping = new AbortController();
  #worker: Worker | undefined;
  #cancelRest = (): void => undefined;

  constructor(private readonly clock: Clock) {
    // Every document that waits listens to it.
    setMaxListeners(0, this.#stopping.signal);
  }

  async textOf(kind: DocumentKind, bytes: Uint8Array, workspaceId: string): Promise<string> {
    const leave = await this.#places.turn(ownerOf({ workspaceId }), this.#stopping.signal).catch(() => {
      const message = 'Too many documents wait to be read, try again';
      throw new ServiceError('overloaded', { message, retryAfter: 5 });
    });
    try {
      return checked(await this.#read({ kind, bytes }));
    } finally {
      leave();
    }
  }

  /** Ends the thread. Idempotent. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#cancelRest();
    await this.#worker?.terminate();
  }

  /** Undefined if the thread has ended over it. */
  #read(task: DocumentTask): Promise<DocumentResult | undefined> {
    this.#cancelRest();
    const worker = (this.#worker ??= this.#start());
    return new Promise((resolve) => {
      const stop = this.clock.after(timeMs, () => void worker.terminate());
      const settle = (result?: DocumentResult): void => {
        stop();
        worker.off('message', settle).off('exit', ended);
        worker.unref();
        this.#cancelRest = this.clock.after(REST_MS, () => void worker.terminate());
        resolve(result);
      };
      const ended = (): void => settle();
      worker.on('message', settle).on('exit', ended);
      worker.ref();
      worker.postMessage(task);
    });
  }

  #start(): Worker {
    const worker = new Worker(THREAD, { resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } });
    // An error is followed by an exit.
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    return worker;
  }
}
