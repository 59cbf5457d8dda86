/**
 * Sends the deliveries in the outbox (docs/contract/decisions.md "Platform"). Looks when a row was added and once a
 * second, sends a bounded number at once, and takes no more than it can send: what waits is in the database alone. A row that
 * cannot be settled is given out again when its lease ends.
 */
import { LIMITS } from '../../../contracts/limits.js';
import type { Log } from '../../../contracts/log.js';
import type { Delivery, DeliveryQueue } from '../../../contracts/ports/sessions/deliveries.js';
import { Poller } from '../../../contracts/time/poller.js';
import { type Attempt, deliver, type DeliverParts } from './deliver.js';
import { type DeliveryWatch, toldOf, unwatched } from './watch.js';
import { OutboxUpkeep } from './upkeep.js';

export interface DeliveryParts extends DeliverParts {
  readonly queue: DeliveryQueue;
  readonly log: Log;
  /** Default: nobody. */
  readonly watch?: DeliveryWatch;
}

const AT_ONCE = 32;
/** The last places are for endpoints to which nothing is under way, so that slow ones of several workspaces do not hold up everybody. */
const SPARE = 8;
/** Most rows per statement, so that no workspace takes all places before its rows are counted. */
const AT_A_TIME = 8;
const LOOK_MS = 1000;
const LEASE_MS = LIMITS.postCallWebhook.timeoutMs + 20_000;

export class Deliveries {
  readonly #running = new Set<Promise<void>>();
  readonly #poller: Poller;
  readonly #upkeep: OutboxUpkeep;
  readonly #watch: DeliveryWatch;
  #stopped = false;
  #unlisten = (): void => undefined;

  constructor(private readonly parts: DeliveryParts) {
    const { clock, log, watch = unwatched } = parts;
    this.#watch = watch;
    this.#poller = new Poller({
      clock,
      ms: LOOK_MS,
      poll: () => this.#takeDue(),
      failed: (error) => log.warn({ err: error }, 'the outbox could not be read'),
    });
    this.#upkeep = new OutboxUpkeep({ ...parts, watch });
  }

  async start(): Promise<void> {
    this.#unlisten = await this.parts.queue.onDue(() => this.#poller.poll());
    this.#poller.poll();
  }

  /** Takes no more rows, and waits for running deliveries. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unlisten();
    await Promise.all([this.#poller.stop(), this.#upkeep.stop()]);
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async #takeDue(): Promise<void> {
    while (this.#running.size < AT_ONCE && !this.#stopped) {
      const free = AT_ONCE - this.#running.size;
      const idleOnly = free <= SPARE;
      const most = Math.min(AT_A_TIME, idleOnly ? free : free - SPARE);
      const taken = await this.parts.queue.take(most, LEASE_MS, idleOnly);
      for (const delivery of taken) this.#begin(delivery);
      if (taken.length === 0) return;
    }
  }

  #begin(delivery: Delivery): void {
    const sending = this.#send(delivery)
      .catch((error: unknown) =>
        this.parts.log.error({ err: error, delivery: delivery.id }, 'a delivery could not be settled'),
      )
      .finally(() => {
        this.#running.delete(sending);
        this.#poller.poll();
      });
    this.#running.add(sending);
  }

  async #send(delivery: Delivery): Promise<void> {
    const attempt = await deliver(delivery, this.parts);
    await this.parts.queue.settle(delivery, attempt.outcome, attempt.answer);
    this.#watch.attempted(delivery, attempt);
    if (attempt.outcome.kind !== 'delivered') this.#report(delivery, attempt);
  }

  #report(delivery: Delivery, { outcome, answer, cause }: Attempt): void {
    const { clock, log } = this.parts;
    const told = { ...toldOf(delivery), attempt: delivery.attempts + 1, ...answer, err: cause };
    if (outcome.kind === 'failed') return log.warn(told, 'a post-call event is given up');
    const next = outcome.kind === 'again' && {
      nextAttemptAt: new Date(clock.now() + outcome.afterMs).toISOString(),
    };
    log.warn({ ...told, ...next }, 'a post-call event was not taken');
  }
}

export async function startDeliveries(parts: DeliveryParts): Promise<Deliveries> {
  const deliveries = new Deliveries(parts);
  await deliveries.start();
  return deliveries;
}
