/**
 * A request's body between the adapter, which pushes, and one reader, who pulls. Back-pressure: beyond
 * HELD_BYTES unread the connection is paused, so a body costs that and one read of the stack.
 * Limits (docs/contract/limits.md): the caller's size, refused as soon as it is passed or declared; and
 * LIMITS.http.uploadBytesPerSecond while the reader waits for the client, not the other way round.
 */
import type { Clock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';

const HELD_BYTES = 64 * 1024;
/** Shorter than the 8 s after which uWebSockets.js drops a slow upload by itself, without a reply. */
const PACE_WINDOW_MS = 7000;
const PACE_BYTES = (LIMITS.http.uploadBytesPerSecond * PACE_WINDOW_MS) / 1000;

interface Source {
  /** Takes nothing more from the connection. Not asked once the last byte has arrived. */
  pause(): void;
  resume(): void;
  /** The client is within its pace: where the stack has a timer of its own for that, it starts anew. */
  renew?(): void;
}

export class BodyPipe {
  #chunks: Uint8Array[] = [];
  #heldBytes = 0;
  #receivedBytes = 0;
  #paused = false;
  /** Whether the reader has held the client back since the last look at the pace. */
  #heldBack = false;
  #ended = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;
  #read = false;
  /** When the last byte arrived, on the monotonic clock. */
  endedAt: number | undefined;

  constructor(
    private readonly source: Source,
    private readonly clock: Clock,
    readonly declaredBytes: number | undefined,
  ) {}

  get ended(): boolean {
    return this.#ended;
  }

  /** Whether the reader has begun and the client has not finished. */
  get arriving(): boolean {
    return this.#read && !this.#ended;
  }

  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  /** Takes ownership of `chunk`. With `isLast`, `end` follows: behind the last byte there is nothing to hold back. */
  push(chunk: Uint8Array, isLast = false): void {
    this.#receivedBytes += chunk.byteLength;
    if (this.#failure) return this.#notify();
    this.#heldBytes += chunk.byteLength;
    if (chunk.byteLength > 0) this.#chunks.push(chunk);
    if (this.#heldBytes >= HELD_BYTES && !this.#paused && !isLast) this.#setPaused(true);
    this.#notify();
  }

  end(): void {
    this.#ended = true;
    this.endedAt = this.clock.monotonic();
    // The bytes that follow on the connection are another request.
    if (this.#paused) this.#setPaused(false);
    this.#notify();
  }

  /** Makes the reader throw `error`, the first one, and drops what still comes. */
  fail(error: Error): void {
    this.#failure ??= error;
    if (this.#paused) this.#setPaused(false);
    this.#notify();
  }

  /**
   * The body in the chunks that it came in; may be read once.
   * Errors: `payload_too_large`, `request_timeout`, and what `fail` was given.
   */
  async *chunks(limitBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#read) throw new Error('A request body can be read only once');
    this.#read = true;
    if ((this.declaredBytes ?? 0) > limitBytes) throw new ServiceError('payload_too_large');
    const stopPacing = this.#pace();
    try {
      for (let bytes = 0, chunk = await this.#next(); chunk; chunk = await this.#next()) {
        bytes += chunk.byteLength;
        if (bytes > limitBytes) throw new ServiceError('payload_too_large');
        yield chunk;
      }
    } finally {
      stopPacing();
    }
  }

  /**
   * Throws away what still comes, so that a client which reads only after it has written gets its reply.
   * Resolves with whether the body ended within `limitBytes` and `ms`; if not, it is over for every reader.
   */
  async discard(limitBytes: number, ms: number): Promise<boolean> {
    if ((this.declaredBytes ?? 0) - this.#receivedBytes > limitBytes) this.fail(new Error('discarded'));
    const cancel = this.clock.after(ms, () => this.fail(new Error('discarded')));
    try {
      for (let bytes = this.#drop(); !this.#ended && !this.#failure; bytes += this.#drop()) {
        if (bytes > limitBytes) this.fail(new Error('discarded'));
        else await this.#arrival();
      }
      return this.#ended;
    } finally {
      cancel();
    }
  }

  /** Resolves when a body that is thrown away has ended, or after `ms`, or once `mostBytes` have come in all. */
  async over(mostBytes: number, ms: number): Promise<void> {
    let late = false;
    const cancel = this.clock.after(ms, () => {
      late = true;
      this.#notify();
    });
    this.fail(new Error('discarded'));
    while (!this.#ended && !late && this.#receivedBytes <= mostBytes) await this.#arrival();
    cancel();
  }

  async #next(): Promise<Uint8Array | undefined> {
    while (this.#chunks.length === 0 && !this.#ended && !this.#failure) await this.#arrival();
    if (this.#failure) throw this.#failure;
    const chunk = this.#chunks.shift();
    this.#heldBytes -= chunk?.byteLength ?? 0;
    return chunk;
  }

  /** Resolves when something has changed; until then the client is what we wait for. */
  #arrival(): Promise<void> {
    if (this.#paused) this.#setPaused(false);
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #drop(): number {
    const bytes = this.#heldBytes;
    this.#chunks = [];
    this.#heldBytes = 0;
    return bytes;
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  #setPaused(paused: boolean): void {
    this.#paused = paused;
    this.#heldBack ||= paused;
    if (paused) this.source.pause();
    else this.source.resume();
  }

  /** Fails the body when too little came in a window in which the client was never held back. */
  #pace(): () => void {
    let before = this.#receivedBytes;
    let stop = (): void => undefined;
    const check = (): void => {
      if (this.#ended || this.#failure) return;
      const slow = this.#wake && !this.#heldBack && this.#receivedBytes - before < PACE_BYTES;
      if (slow) return this.fail(new ServiceError('request_timeout'));
      if (!this.#paused) this.source.renew?.();
      before = this.#receivedBytes;
      this.#heldBack = this.#paused;
      stop = this.clock.after(PACE_WINDOW_MS, check);
    };
    stop = this.clock.after(PACE_WINDOW_MS, check);
    return () => stop();
  }
}
