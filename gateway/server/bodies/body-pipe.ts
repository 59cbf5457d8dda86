/**
 * A request's body between the adapter, which pushes, and one reader, which pulls. Back-pressure: with more than
 * HELD_BYTES unread the connection is paused, so a body costs at most that and what the stack reads in one turn of the event loop.
 * The reader goes on in turns of its own: uWebSockets.js reads on, paused or not, for as long as the client has filled the kernel's
 * buffer again, so that work between two reads would make one turn of a whole upload.
 * Limits (docs/contract/limits.md): the caller's size limit, enforced as soon as it is exceeded or a larger length is
 * declared; and LIMITS.http.uploadBytesPerSecond while the reader waits for the client, not the other way round.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../../contracts/clock.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import {
  memoryExhausted,
  type MemoryShare,
  UNBOUNDED_SHARE,
} from '../../../contracts/ports/accounts/memory.js';
import { isTurnOver } from '../../../contracts/time/loop-turn.js';
import type { Drop } from '../unread-body.js';
import type { GoOn } from './body-turns.js';
import { LandedChunk } from './landed-chunk.js';

const HELD_BYTES = 64 * 1024;
/** Shorter than the 8 s after which uWebSockets.js itself drops a slow upload without a reply. */
const PACE_WINDOW_MS = 7000;
const PACE_BYTES = (LIMITS.http.uploadBytesPerSecond * PACE_WINDOW_MS) / 1000;

interface Source {
  /** Stops reading from the connection. Not called once the last byte has arrived. */
  pause(): void;
  resume(): void;
  /** Reports that the client is fast enough; restarts the stack's own timer for slow uploads, if it has one. */
  renew?(): void;
  /** Tells a client to send that waits to be told (`Expect: 100-continue`); absent if it does not wait. */
  invite?(): void;
}

function left(chunk: Uint8Array | LandedChunk): void {
  if (chunk instanceof LandedChunk) chunk.leave();
}

export class BodyPipe {
  #chunks: (Uint8Array | LandedChunk)[] = [];
  /** Of those that nobody has taken. */
  #heldBytes = 0;
  /** The one that the reader has. */
  #lent: Uint8Array | LandedChunk | undefined;
  #receivedBytes = 0;
  #paused = false;
  /** Whether it goes on once it is its turn. */
  #waitsForTurn = false;
  #goOn: GoOn = (resume) => resume();
  /** Whether the connection was paused since the last check of the pace. */
  #heldBack = false;
  #ended = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;
  #read = false;
  #share: MemoryShare = UNBOUNDED_SHARE;
  #invited = false;
  /** Time at which the last byte arrived, on the monotonic clock. */
  endedAt: number | undefined;

  constructor(
    private readonly source: Source,
    private readonly clock: Clock,
    readonly declaredBytes: number | undefined,
  ) {}

  get ended(): boolean {
    return this.#ended;
  }

  /** Whether reading has begun and the client has not finished. */
  get arriving(): boolean {
    return this.#read && !this.#ended;
  }

  /** Whether nobody reads what still arrives: an adapter need not copy it, which takes longer than to read it. */
  get isDropped(): boolean {
    return this.#failure !== undefined;
  }

  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  /** From now on what waits for the reader is charged, and a connection that was paused is read on in its turn. */
  charge(share: MemoryShare, goOn: GoOn = this.#goOn): void {
    this.#share = share;
    this.#goOn = goOn;
  }

  /** Takes ownership of `chunk`. With `isLast`, `end` follows, so the connection is not paused any more. */
  push(chunk: Uint8Array | LandedChunk, isLast = false): void {
    this.#receivedBytes += chunk.byteLength;
    if (this.#failure) {
      left(chunk);
      return this.#notify();
    }
    if (chunk.byteLength > 0 && !this.#hold(chunk)) return this.fail(memoryExhausted());
    if (this.#heldBytes >= HELD_BYTES && !this.#paused && !isLast) this.#setPaused(true);
    this.#notify();
  }

  /** Counts bytes of a dropped body, which the adapter has not copied. */
  skip(byteLength: number): void {
    this.#receivedBytes += byteLength;
    this.#notify();
  }

  end(): void {
    this.#ended = true;
    this.endedAt = this.clock.monotonic();
    // Further bytes on the connection belong to another request.
    if (this.#paused) this.#setPaused(false);
    this.#notify();
  }

  /** Gives back what nobody has read, at the end of the request. */
  forget(): void {
    this.#drop();
  }

  /** Makes the reader throw the first `error`, and drops all further bytes. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#drop();
    if (this.#paused) this.#setPaused(false);
    this.#notify();
  }

  /**
   * The body in chunks as they arrived, each lent until the next one is asked for; may be read once.
   * Errors: `payload_too_large`, `request_timeout`, and the error passed to `fail`.
   */
  async *chunks(limitBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#read) throw new Error('A request body can be read only once');
    this.#read = true;
    if ((this.declaredBytes ?? 0) > limitBytes) throw new ServiceError('payload_too_large');
    this.#invite();
    const stopPacing = this.#pace();
    try {
      for (let bytes = 0, chunk = await this.#next(); chunk; chunk = await this.#next()) {
        bytes += chunk.byteLength;
        if (bytes > limitBytes) throw new ServiceError('payload_too_large');
        yield chunk;
        if (this.#chunks.length > 0 && isTurnOver()) await nextTurn();
      }
    } finally {
      stopPacing();
      this.#takeBack();
    }
  }

  /**
   * Drops what is left of the body; resolves with whether it ended within these bounds. If not, it fails for every reader.
   */
  async discard({ bytes: limitBytes, ms }: Drop): Promise<boolean> {
    if (this.#waitsToBeTold || (this.declaredBytes ?? 0) - this.#receivedBytes > limitBytes)
      this.fail(new Error('discarded'));
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

  /** Drops the body of an answered request; resolves when it has ended, or is beyond these bounds. `bytes`: of the whole body. */
  async over({ bytes, ms, idleMs = ms }: Drop): Promise<void> {
    const until = this.clock.monotonic() + ms;
    let isLate = false;
    let cancel = (): void => undefined;
    const wait = (before: number): void => {
      const left = until - this.clock.monotonic();
      cancel = this.clock.after(Math.min(idleMs, left), () => {
        isLate = this.#receivedBytes === before || left <= idleMs;
        if (isLate) return this.#notify();
        this.source.renew?.();
        wait(this.#receivedBytes);
      });
    };
    this.fail(new Error('discarded'));
    wait(this.#receivedBytes);
    while (!this.#ended && !isLate && this.#receivedBytes <= bytes) await this.#arrival();
    cancel();
  }

  /** Whether the client sends nothing until it is told to. */
  get #waitsToBeTold(): boolean {
    return this.source.invite !== undefined && !this.#invited && this.#receivedBytes === 0;
  }

  #invite(): void {
    if (this.#waitsToBeTold) this.source.invite?.();
    this.#invited = true;
  }

  async #next(): Promise<Uint8Array | undefined> {
    this.#takeBack();
    while (this.#chunks.length === 0 && !this.#ended && !this.#failure) {
      await this.#arrival();
      if (!this.#ended) await nextTurn();
    }
    if (this.#failure) throw this.#failure;
    const chunk = this.#chunks.shift();
    if (!chunk) return undefined;
    this.#heldBytes -= chunk.byteLength;
    this.#lent = chunk;
    return chunk instanceof LandedChunk ? chunk.bytes : chunk;
  }

  /** The reader is done with the chunk that it has. */
  #takeBack(): void {
    const chunk = this.#lent;
    this.#lent = undefined;
    if (chunk) this.#let(chunk);
  }

  /** False if there is no memory for it. */
  #hold(chunk: Uint8Array | LandedChunk): boolean {
    if (!this.#share.charge(chunk.byteLength)) {
      left(chunk);
      return false;
    }
    this.#heldBytes += chunk.byteLength;
    this.#chunks.push(chunk);
    return true;
  }

  #let(chunk: Uint8Array | LandedChunk): void {
    this.#share.release(chunk.byteLength);
    left(chunk);
  }

  /** Resolves when something has changed; reads from the connection until then. */
  #arrival(): Promise<void> {
    this.#readOn();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #readOn(): void {
    if (!this.#paused || this.#waitsForTurn) return;
    this.#waitsForTurn = true;
    this.#goOn(() => {
      this.#waitsForTurn = false;
      if (this.#paused) this.#setPaused(false);
    });
  }

  #drop(): number {
    const bytes = this.#heldBytes;
    for (const chunk of this.#chunks.splice(0)) this.#let(chunk);
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

  /** Fails the body if too little arrived in a window in which the connection was never paused. */
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
