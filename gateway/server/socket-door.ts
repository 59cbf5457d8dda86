/**
 * Which WebSockets may be opened: those that have not authenticated yet wait in bounded pools, and who has sent more than can be read waits
 * before the next one (frames/flood-brake.ts).
 */
import type { Clock } from '../../contracts/clock.js';
import { toServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import { FloodBrake } from './frames/flood-brake.js';
import type { SocketAccept } from './port.js';
import { WaitingPool } from './waiting-pool.js';

export class SocketDoor {
  readonly brake: FloodBrake;
  readonly #unauthenticated: WaitingPool;
  /** Of those whose handshake was proven, by number or call. */
  readonly #proven: WaitingPool;

  constructor(clock: Clock) {
    this.brake = new FloodBrake(clock);
    this.#unauthenticated = new WaitingPool(LIMITS.unauthenticated.sockets, clock);
    this.#proven = new WaitingPool(LIMITS.unauthenticated.provenSockets, clock);
  }

  /** Number of sockets that are not authenticated yet. */
  get waiting(): number {
    return this.#unauthenticated.size + this.#proven.size;
  }

  /** Whether there is room for a socket of that client. */
  admits(accept: SocketAccept, clientAddress: string): boolean {
    return accept.unauthenticated !== true || this.#poolOf(accept).hasRoom(accept.provenAs ?? clientAddress);
  }

  /** Waits if a socket of that holder has flooded; not for a call, whose token is good for one. Errors: `rate_limited`. */
  async pass({ connectionMs, provenAs, refused }: SocketAccept, holder: string): Promise<void> {
    if (connectionMs === null || provenAs !== undefined) return;
    try {
      await this.brake.pass(holder);
    } catch (error) {
      refused?.(toServiceError(error));
      throw error;
    }
  }

  /** Begins the wait of a socket that is not authenticated; the result ends it. `evict` is called if it must go for others. */
  enter(accept: SocketAccept, clientAddress: string, evict: () => void): () => void {
    return this.#poolOf(accept).enter(accept.provenAs ?? clientAddress, evict);
  }

  #poolOf({ provenAs }: SocketAccept): WaitingPool {
    return provenAs === undefined ? this.#unauthenticated : this.#proven;
  }
}
