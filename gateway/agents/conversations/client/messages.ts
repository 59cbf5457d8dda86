/**
 * Reads a client's messages in a call, limits their rate, and passes each to its handler. One that is dropped although it
 * was understood is told to the client, at most as often as messages are taken.
 */
import type { Clock } from '../../../../contracts/clock.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { Call, CallEvent } from '../../../../contracts/ports/calls/calls.js';
import { TokenBucket } from '../../../../contracts/limits/token-bucket.js';
import {
  AGENT_EVENTS,
  type SessionClientEvent,
  type ClientEventHandlers,
  type DropReason,
  encodeEvent,
  RATIONED,
  readClientEvent,
  TOPICS,
  type TooLong,
  typedLine,
} from './events.js';
import { isTypedTopic, typedText } from './typed.js';

type Data = Extract<CallEvent, { readonly kind: 'data' }>;
type Read = SessionClientEvent | TooLong;

function typed(topic: string, payload: Uint8Array): Read | undefined {
  const text = typedText(topic, payload);
  return text === undefined ? undefined : typedLine(text, true);
}

function read({ topic, payload, tooLong }: Data): Read | undefined {
  const isOurs = topic === TOPICS.fromClient;
  if (!isOurs && !isTypedTopic(topic)) return undefined;
  if (tooLong) return { type: 'user.message', dropped: 'too_long' };
  return isOurs ? readClientEvent(payload) : typed(topic, payload);
}

export class ClientMessages {
  /** Rate limit of events that cost something. */
  readonly #rate: TokenBucket;
  /** Rate limit of what the client is told about dropped ones. */
  readonly #notices: TokenBucket;

  constructor(
    clock: Pick<Clock, 'monotonic'>,
    private readonly handlers: ClientEventHandlers,
    /** While the caller is on hold, events that cost something are dropped. */
    private readonly caller: { readonly onHold: boolean },
    private readonly call: Pick<Call, 'sendData'>,
  ) {
    const bucket = () => new TokenBucket(LIMITS.session.clientMessages, () => clock.monotonic());
    [this.#rate, this.#notices] = [bucket(), bucket()];
  }

  take(data: Data): void {
    const event = read(data);
    if (!event) return;
    const reason = 'dropped' in event ? event.dropped : this.#refusal(event);
    if (reason !== undefined) return this.#drop(event.type, reason);
    (this.handlers[event.type] as (event: SessionClientEvent) => void)(event as SessionClientEvent);
  }

  #refusal({ type }: SessionClientEvent): DropReason | undefined {
    if (!RATIONED.has(type)) return undefined;
    if (this.caller.onHold) return 'on_hold';
    return this.#rate.take() ? undefined : 'rate_limited';
  }

  #drop(type: SessionClientEvent['type'], reason: DropReason): void {
    if (!this.#notices.take()) return;
    this.call.sendData(TOPICS.toClient, encodeEvent(AGENT_EVENTS.messageDropped(type, reason)));
  }
}
