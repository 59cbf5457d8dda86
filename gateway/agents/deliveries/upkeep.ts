/**
 * What the outbox needs beside sending: deliveries that are to be sent again are made to wait, those that have waited too long are given
 * up, and what waits is counted.
 */
import type { Clock } from '../../../contracts/clock.js';
import type { Log } from '../../../contracts/log.js';
import type { DeliveryQueue } from '../../../contracts/ports/sessions/deliveries.js';
import { Poller } from '../../../contracts/time/poller.js';
import { type DeliveryWatch, toldOf } from './watch.js';

export interface OutboxUpkeepParts {
  readonly queue: Pick<DeliveryQueue, 'redeliver' | 'giveUp' | 'backlog'>;
  readonly watch: DeliveryWatch;
  readonly clock: Clock;
  readonly log: Log;
}

const RESEND_MS = 2000;
const COUNT_MS = 15_000;

export class OutboxUpkeep {
  readonly #resending: Poller;
  readonly #counting: Poller;

  constructor(private readonly parts: OutboxUpkeepParts) {
    const { clock, log } = parts;
    const failed = (error: unknown): void => log.warn({ err: error }, 'the outbox could not be read');
    this.#resending = new Poller({ clock, ms: RESEND_MS, poll: () => this.#resend(), failed });
    this.#counting = new Poller({ clock, ms: COUNT_MS, poll: () => this.#count(), failed });
    this.#resending.poll();
    this.#counting.poll();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#resending.stop(), this.#counting.stop()]);
  }

  async #resend(): Promise<void> {
    while (await this.parts.queue.redeliver());
  }

  async #count(): Promise<void> {
    const { queue, watch, log } = this.parts;
    const givenUp = await queue.giveUp();
    for (const delivery of givenUp)
      log.warn({ ...toldOf(delivery), attempts: delivery.attempts }, 'a post-call event is given up');
    watch.gaveUp(givenUp);
    watch.backlog(await queue.backlog());
  }
}
