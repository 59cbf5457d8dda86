/**
 * The audio that a client appends: kept until its call has begun, and then passed to it. What waits is charged, and bounded.
 */
import type { Clock } from '../../../contracts/clock.js';
import { LIMITS } from '../../../contracts/limits.js';
import {
  memoryExhausted,
  type MemoryShare,
  mustCharge,
  pieceOf,
} from '../../../contracts/ports/accounts/memory.js';
import type { SocketCall } from '../../../contracts/ports/calls/socket-calls.js';
import { decodeBase64 } from '../../../contracts/text/base64.js';
import { DecodedBase64 } from './long-json.js';

const MOST = LIMITS.agentRealtime.audioBytes;

/** How a dialect says that audio was refused. */
export interface AudioRefusals {
  tooMuch(message: string): Error;
  noBase64(): Error;
}

const TOO_MUCH = 'More audio waits than an agent may have to hear';

export class CallAudio {
  #early: Uint8Array[] = [];
  /** When the first of that came, by the clock. */
  #since = 0;
  #call: SocketCall | undefined;
  /** Bytes since the last commit. */
  #uncommitted = 0;

  constructor(
    private readonly share: MemoryShare,
    private readonly refusals: AudioRefusals,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {}

  /** Takes base64, decoded already if it is long. Errors: `AudioRefusals`, `memory_exhausted`; nothing of it is kept then. */
  append(audio: unknown): void {
    const bytes = this.#decoded(audio);
    if (this.#call) this.#pass(this.#call, bytes);
    else this.#keep(bytes);
    this.#uncommitted += bytes.length;
  }

  #decoded(audio: unknown): Uint8Array {
    const bytes =
      audio instanceof DecodedBase64 ? audio.bytes : typeof audio === 'string' && decodeBase64(audio);
    if (bytes) return bytes;
    throw this.refusals.noBase64();
  }

  #pass(call: SocketCall, bytes: Uint8Array): void {
    const heard = call.hear(bytes, MOST);
    if (heard === 'full') throw this.refusals.tooMuch(TOO_MUCH);
    if (heard === 'exhausted') throw memoryExhausted();
  }

  #keep(bytes: Uint8Array): void {
    if (this.share.bytes + bytes.length > MOST) throw this.refusals.tooMuch(TOO_MUCH);
    mustCharge(this.share, pieceOf(bytes.length));
    if (this.#early.length === 0) this.#since = this.clock.monotonic();
    this.#early.push(bytes);
  }

  /** The call has begun. */
  begin(call: SocketCall): void {
    this.#call = call;
    const early = this.#drain();
    const length = early.reduce((sum, { length: bytes }) => sum + bytes, 0);
    if (length > 0) call.kept(length, this.#since);
    for (const bytes of early) call.hear(bytes, MOST);
  }

  /** Whether audio has come since the last commit; none has from now on. */
  commit(): boolean {
    const hasAudio = this.#uncommitted > 0;
    this.#uncommitted = 0;
    return hasAudio;
  }

  /** Drops what was not heard yet. */
  clear(): void {
    this.#uncommitted = 0;
    this.#call?.forget();
    this.#drain();
  }

  #drain(): Uint8Array[] {
    const early = this.#early.splice(0);
    for (const bytes of early) this.share.release(pieceOf(bytes.length));
    return early;
  }
}
