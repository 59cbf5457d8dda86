/** Reads a client's messages in a call, limits their rate, and passes each to its handler. */
import type { Clock } from '../../../contracts/clock.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { CallEvent } from '../../../contracts/ports/calls/calls.js';
import { TokenBucket } from '../../../contracts/limits/token-bucket.js';
import { type ClientEvent, type ClientEventHandlers, RATIONED, readClientEvent, TOPICS } from './events.js';

export class ClientMessages {
  /** Rate limit of events that cost something. */
  readonly #rate: TokenBucket;

  constructor(
    clock: Pick<Clock, 'monotonic'>,
    private readonly handlers: ClientEventHandlers,
    /** Whether the caller is on hold: events that cost something are dropped then. */
    private readonly onHold: () => boolean,
  ) {
    this.#rate = new TokenBucket(LIMITS.session.clientMessages, () => clock.monotonic());
  }

  take({ topic, payload }: Extract<CallEvent, { readonly kind: 'data' }>): void {
    const event = topic === TOPICS.fromClient ? readClientEvent(payload) : undefined;
    if (!event || (RATIONED.has(event.type) && (this.onHold() || !this.#rate.take()))) return;
    (this.handlers[event.type] as (event: ClientEvent) => void)(event);
  }
}
