/**
 * Sends what the outbox holds (decisions.md "Platform"). Looks when a row was added and once a second, keeps a bounded
 * number under way, and takes no more than it can send. A row that cannot be settled is given out again when its lease
 * ends.
 */
import { LIMITS } from '../../contracts/limits.js';
import type { Log } from '../../contracts/log.js';
import type { Delivery, DeliveryQueue } from '../../contracts/ports/deliveries.js';
import { deliver, type DeliverParts } from './deliver.js';

export interface DeliveryParts extends DeliverParts {
  readonly queue: DeliveryQueue;
  readonly log: Log;
}

export interface Deliveries {
  /** Takes nothing more, and waits for what is under way. */
  stop(): Promise<void>;
}

const AT_ONCE = 32;
/** Taken with one statement, so that no workspace gets all places before they are counted. */
const AT_A_TIME = 8;
const LOOK_MS = 1000;
const LEASE_MS = LIMITS.postCallWebhook.timeoutMs + 20_000;

export async function startDeliveries(parts: DeliveryParts): Promise<Deliveries> {
  const { queue, clock, log } = parts;
  const running = new Set<Promise<void>>();
  let looking = false;
  let again = false;
  let stopped = false;
  let cancel = (): void => undefined;

  async function send(delivery: Delivery): Promise<void> {
    const { id, event, attempts } = delivery;
    const { outcome, note, cause } = await deliver(delivery, parts);
    await queue.settle(id, outcome, note);
    if (outcome.kind !== 'delivered')
      log.warn(
        { delivery: id, event, attempt: attempts + 1, note, err: cause },
        'a post-call event was not taken',
      );
  }

  function begin(delivery: Delivery): void {
    const sending = send(delivery)
      .catch((error: unknown) =>
        log.error({ err: error, delivery: delivery.id }, 'a delivery could not be settled'),
      )
      .finally(() => {
        running.delete(sending);
        look();
      });
    running.add(sending);
  }

  async function takeDue(): Promise<void> {
    while (running.size < AT_ONCE && !stopped) {
      const taken = await queue.take(Math.min(AT_A_TIME, AT_ONCE - running.size), LEASE_MS);
      for (const delivery of taken) begin(delivery);
      if (taken.length === 0) return;
    }
  }

  /** One look at a time; one that is asked for meanwhile follows it. */
  function look(): void {
    if (stopped) return;
    again = looking;
    if (looking) return;
    looking = true;
    cancel();
    takeDue()
      .catch((error: unknown) => log.warn({ err: error }, 'the outbox could not be read'))
      .finally(() => {
        looking = false;
        if (stopped) return;
        if (again) look();
        else cancel = clock.after(LOOK_MS, look);
      });
  }

  const unlisten = await queue.onDue(look);
  look();
  return {
    async stop() {
      stopped = true;
      cancel();
      unlisten();
      while (running.size > 0) await Promise.all(running);
    },
  };
}
