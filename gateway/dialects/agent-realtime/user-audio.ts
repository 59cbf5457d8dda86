/**
 * The audio that a client appends: kept until its call has begun, and then passed to it. What waits is charged, and bounded.
 */
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import {
  memoryExhausted,
  type MemoryShare,
  mustCharge,
  pieceOf,
} from '../../../contracts/ports/accounts/memory.js';
import type { SocketCall } from '../../../contracts/ports/calls/socket-calls.js';
import { decodeBase64 } from '../../../contracts/text/base64.js';
import { DecodedBase64 } from '../../server/frames/long-json.js';
import { Fault } from '../protocol-a/realtime/faults.js';

const MOST = LIMITS.agentRealtime.audioBytes;

const tooMuch = (): Fault =>
  new Fault('conversation_too_large', 'More audio waits than an agent may have to hear', 'audio');

const BY_RTP = 'The audio of a call by WebRTC comes on its track';

function decoded(audio: unknown): Uint8Array {
  const bytes =
    audio instanceof DecodedBase64 ? audio.bytes : typeof audio === 'string' && decodeBase64(audio);
  if (bytes) return bytes;
  throw new Fault('invalid_event', 'audio is no base64', 'audio');
}

export class UserAudio {
  #early: Uint8Array[] = [];
  #call: SocketCall | undefined;
  /** Bytes since the last commit. */
  #uncommitted = 0;

  /** `byRtp`: none comes in events. */
  constructor(
    private readonly share: MemoryShare,
    private readonly byRtp: boolean,
  ) {}

  /** Takes base64, decoded already if it is long. Errors: `Fault`, `memory_exhausted`; nothing of it is kept then. */
  append(audio: unknown): void {
    if (this.byRtp) throw new ServiceError('unsupported_option', { message: BY_RTP, param: 'type' });
    const bytes = decoded(audio);
    if (this.#call) this.#pass(this.#call, bytes);
    else this.#keep(bytes);
    this.#uncommitted += bytes.length;
  }

  #pass(call: SocketCall, bytes: Uint8Array): void {
    const heard = call.hear(bytes, MOST);
    if (heard === 'full') throw tooMuch();
    if (heard === 'exhausted') throw memoryExhausted();
  }

  #keep(bytes: Uint8Array): void {
    if (this.share.bytes + bytes.length > MOST) throw tooMuch();
    mustCharge(this.share, pieceOf(bytes.length));
    this.#early.push(bytes);
  }

  /** The call has begun. */
  begin(call: SocketCall): void {
    this.#call = call;
    for (const bytes of this.#drain()) call.hear(bytes, MOST);
  }

  /** Whether audio has come since the last commit; none has from now on. */
  commit(): boolean {
    const hasAudio = this.byRtp || this.#uncommitted > 0;
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
