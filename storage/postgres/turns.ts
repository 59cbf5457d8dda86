/**
 * ConnectionTurns at the connections for what clients ask, by the rules of fair admission (contracts/admission/fair-places.ts): workspaces take turns,
 * none takes all connections, and work that may last (transactions that write) never takes the last one. Whoever waits too long, or
 * makes too many wait, is refused.
 */
import { FairPlaces } from '../../contracts/admission/fair-places.js';
import type { Clock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';

export interface TurnLimits {
  /** Most that wait, of statements and of transactions. */
  readonly waiting: number;
  /** How long one waits. */
  readonly waitMs: number;
}

export interface TurnRequest {
  /** Whose turn it is; empty: nobody's in particular. */
  readonly tag: string;
  /** May last: a transaction that writes. */
  readonly long: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Shortens `waitMs`. */
  readonly withinMs?: number | undefined;
}

export interface ConnectionTurn<Place> {
  readonly place: Place;
  /** Gives the place back. Idempotent. */
  end(): void;
}

const RETRY_SECONDS = 1;

/** For whom the database has no time now: 503. */
export const busy = (cause?: unknown): ServiceError =>
  new ServiceError('storage_busy', { retryAfter: RETRY_SECONDS, cause });

const isCrowdedOut = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === 'engine_busy';

export class ConnectionTurns<Place> {
  /** The place that was used last is used next. */
  readonly #free: Place[];
  readonly #fair: FairPlaces;

  constructor(
    places: readonly Place[],
    private readonly limits: TurnLimits,
    private readonly clock: Clock,
  ) {
    this.#free = [...places];
    const keptForLive = Math.min(1, places.length - 1);
    this.#fair = new FairPlaces({ slots: places.length, keptForLive, queue: limits.waiting });
  }

  get waiting(): number {
    return this.#fair.queued;
  }

  /** Errors: `storage_busy` if too many wait, or it has waited too long; the signal's reason. */
  async take({ tag, long, signal, withinMs = Infinity }: TurnRequest): Promise<ConnectionTurn<Place>> {
    signal?.throwIfAborted();
    let stop = (): void => undefined;
    const over = (): AbortSignal => {
      const late = new AbortController();
      stop = this.clock.after(Math.min(this.limits.waitMs, withinMs), () => late.abort(busy()));
      return signal ? AbortSignal.any([signal, late.signal]) : late.signal;
    };
    try {
      return this.#turn(await this.#fair.turn({ workspaceTag: tag, isLive: !long }, over));
    } catch (error) {
      throw isCrowdedOut(error) ? busy(error) : error;
    } finally {
      stop();
    }
  }

  #turn(leave: () => void): ConnectionTurn<Place> {
    const place = this.#free.pop()!;
    let ended = false;
    const end = (): void => {
      if (ended) return;
      ended = true;
      this.#free.push(place);
      leave();
    };
    return { place, end };
  }
}
