/**
 * A slot lease: the slots of one workspace that this process holds, and the jobs on them (decision 6). A job takes a
 * free slot at once; if there is none, it asks the store for more, or joins a running request, and waits for a
 * limited time.
 *
 * Invariants: admitted jobs never exceed the held slots, and the number of held slots is lowered before the store is told.
 * A workspace has one running request at a time. Without the store, a lease stays valid for a grace past its end.
 */
import type { Clock } from '../../contracts/clock.js';
import { databaseIsLate, ServiceError, toServiceError, whyOf } from '../../contracts/errors.js';
import type { Log } from '../../contracts/log.js';
import type { SlotLeases } from '../../contracts/ports/accounts/identity.js';
import { waitUpTo, withTimeout } from '../../contracts/time/timeouts.js';

export interface SlotLeaseParts {
  readonly leases: SlotLeases;
  readonly clock: Clock;
  readonly log: Log;
  /** A workspace's slots until the store has reported them. */
  readonly defaultLimit: number;
}

/** A store that does not answer for this long counts as unreachable, and jobs are refused. Not sooner: in a call nobody tries again. */
export const ANSWER_MS = 5000;
const ASK_AGAIN_MS = 200;
/** While the store is unreachable, held slots stay valid for this long after the lease has ended. */
const GRACE_MS = 60_000;
const SPARE = 4;
/** More slots are requested once this share of the lease is used. */
const NEARLY_ALL = 0.75;
/** Renewals without a job before the last slots are returned (15 s). */
const IDLE_RENEWALS = 3;
const RETRY_AFTER_SECONDS = 1;

export class SlotLease {
  #used = 0;
  /** Jobs waiting for an answer of the store. */
  #waiting = 0;
  /** Most used or waited for since the last renewal. */
  #peak = 0;
  #idleRenewals = 0;
  #held = 0;
  #limit: number;
  /** When the lease ends, on the monotonic clock. */
  #until = -Infinity;
  /** Earliest time of the next request for more: the last answer was short, or there was none. */
  #askFrom = 0;
  /** Whether the store did not answer the last time. */
  #away = false;
  /** Whether it answered that its disk is full. */
  #full = false;
  #asking: Promise<void> | undefined;

  constructor(
    readonly workspaceId: string,
    private readonly parts: SlotLeaseParts,
  ) {
    this.#limit = parts.defaultLimit;
  }

  get used(): number {
    return this.#used;
  }

  get held(): number {
    return this.#held;
  }

  /** Whether the lease was not used for a while and all slots are returned: then it can be forgotten. */
  get isOver(): boolean {
    return this.#isIdle && this.#needed === 0 && this.#held === 0 && !this.#asking;
  }

  /** The result returns the slot, and may be called twice. Errors: as `LeasedSlots.take`. */
  async take(): Promise<() => void> {
    return this.#hasRoom ? this.#occupy() : this.#waitForSlot();
  }

  /** Extends the lease; its new size depends on the slots used since the last renewal. */
  async renew(): Promise<void> {
    const busy = this.#peak > 0 || this.#needed > 0;
    this.#idleRenewals = busy ? 0 : this.#idleRenewals + 1;
    await this.#hold(() => (this.#isIdle ? this.#needed : this.#comfortable));
    this.#peak = this.#needed;
  }

  /** Returns the slots that no job needs, because another process is short of them. */
  giveBack(): void {
    if (this.#held <= this.#needed) return;
    this.#peak = this.#needed;
    void this.#hold(() => this.#needed);
  }

  /** Returns all slots. */
  async end(): Promise<void> {
    await this.#asking;
    await this.#hold(() => 0);
  }

  get #needed(): number {
    return this.#used + this.#waiting;
  }

  /** Slots to hold: those needed, and half as many again as spare, at least four. */
  get #comfortable(): number {
    const need = Math.max(this.#needed, this.#peak);
    return Math.min(this.#limit, need + Math.max(SPARE, Math.ceil(need / 2)));
  }

  get #isIdle(): boolean {
    return this.#idleRenewals >= IDLE_RENEWALS;
  }

  get #isValid(): boolean {
    return this.parts.clock.monotonic() < this.#until + (this.#away ? GRACE_MS : 0);
  }

  get #hasRoom(): boolean {
    return this.#used < this.#held && this.#isValid;
  }

  get #mayAsk(): boolean {
    return this.parts.clock.monotonic() >= this.#askFrom && (this.#held < this.#limit || !this.#isValid);
  }

  #occupy(): () => void {
    this.#used++;
    this.#peak = Math.max(this.#peak, this.#used);
    if (this.#used >= this.#held * NEARLY_ALL && !this.#asking && this.#mayAsk) void this.#grow();
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#used--;
    };
  }

  /** Asks until there is room, the answer is short, or the time is up. Takes the slot in the same turn of the loop. */
  async #waitForSlot(): Promise<() => void> {
    const { clock } = this.parts;
    const deadline = clock.monotonic() + ANSWER_MS;
    this.#waiting++;
    try {
      while (!this.#hasRoom) {
        const left = deadline - clock.monotonic();
        if (left <= 0 || !(this.#asking || this.#mayAsk)) throw this.#refusal(left <= 0);
        await waitUpTo(clock, left, this.#grow());
      }
      return this.#occupy();
    } finally {
      this.#waiting--;
    }
  }

  /** `isLate`: the store took too long. Then nobody knows of a limit, unless all of it is in use here. */
  #refusal(isLate: boolean): ServiceError {
    const retryAfter = RETRY_AFTER_SECONDS;
    if (this.#full) return new ServiceError('storage_full', { retryAfter });
    const isUnknown = (isLate || this.#away) && this.#held < this.#limit;
    if (this.#isValid && !isUnknown) return new ServiceError('concurrency_exceeded', { retryAfter });
    const message = 'The server cannot reach its database, try again';
    return new ServiceError('overloaded', { message, retryAfter });
  }

  #grow(): Promise<void> {
    return this.#hold(() => Math.max(this.#comfortable, this.#held));
  }

  /** Asks the store, or joins a running request. Never rejects. */
  #hold(wanted: () => number): Promise<void> {
    this.#asking ??= this.#holdNow(wanted()).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #holdNow(wanted: number): Promise<void> {
    const { leases, clock, log } = this.parts;
    const { workspaceId } = this;
    const asked = clock.monotonic();
    this.#held = Math.min(this.#held, wanted);
    try {
      const { held, limit } = await withTimeout(
        clock,
        ANSWER_MS,
        leases.hold(workspaceId, wanted),
        undefined,
        databaseIsLate,
      );
      this.#held = held;
      this.#limit = limit;
      this.#until = asked + leases.leaseMs;
      this.#away = false;
      this.#full = false;
      const short = held < Math.min(wanted, limit);
      this.#askFrom = short ? clock.monotonic() + ASK_AGAIN_MS : 0;
    } catch (error) {
      this.#away = true;
      this.#full = toServiceError(error).code === 'storage_full';
      this.#askFrom = clock.monotonic() + ASK_AGAIN_MS;
      log.warn({ workspaceId, ...whyOf(error) }, 'slots could not be leased');
    }
  }
}
