/**
 * A provider's media stream: one WebSocket a call. Its first message that counts is `start`, which says whose call it is;
 * what comes while the session is joined waits.
 *
 * Invariants: nothing is believed before `start`, and a stream starts once; whatever ends the stream ends its call, and a
 * provider that closes it in good order says that the caller has hung up; a provider that sends faster than anybody speaks
 * is cut off.
 */
import type { Clock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Log } from '../../contracts/log.js';
import type { PhoneLink } from '../../contracts/ports/calls.js';
import { TokenBucket } from '../../contracts/token-bucket.js';
import { encodeEvent, TOPICS } from '../conversations/client-events.js';
import type { Socket, SocketEvents } from '../server/port.js';
import { Keypad } from './keypad.js';
import type { PhoneCalls, StreamedCall } from './phone-calls.js';
import { type Provider, type StreamEvent, StreamFault, type StreamWriter } from './provider.js';
import type { StreamTokens } from './stream-tokens.js';

export interface StreamParts {
  readonly calls: Pick<PhoneCalls, 'begin'>;
  readonly tokens: Pick<StreamTokens, 'verify'>;
  readonly clock: Clock;
  readonly log: Log;
}

type Start = Extract<StreamEvent, { readonly type: 'start' }>;
type Later = Exclude<StreamEvent, Start>;

type Handlers = {
  readonly [Type in Later['type']]: (
    event: Extract<Later, { readonly type: Type }>,
    call: StreamedCall,
  ) => void;
};

const NOT_ALLOWED = 1008;
const AGAIN_LATER = 1013;
/** Closed in good order, or without a word about why (RFC 6455, 7.4.1). */
const CLOSED = new Set([1000, 1001, 1005]);

function faultOf(error: unknown): StreamFault | undefined {
  if (error instanceof StreamFault) return error;
  if (!(error instanceof ServiceError)) return undefined;
  return new StreamFault(error.status === 503 ? AGAIN_LATER : NOT_ALLOWED, error.message);
}

export class PhoneStream implements SocketEvents {
  readonly #rate: TokenBucket;
  readonly #keypad: Keypad;
  #started = false;
  #call: StreamedCall | undefined;
  #waiting: Later[] = [];
  /** The close code, once the stream is over. */
  #code: number | undefined;
  #hungUp = false;

  constructor(
    private readonly socket: Socket,
    private readonly provider: Provider,
    private readonly address: URLSearchParams,
    private readonly parts: StreamParts,
  ) {
    const { clock } = parts;
    this.#rate = new TokenBucket(LIMITS.phone.messages, () => clock.monotonic());
    this.#keypad = new Keypad(clock, (digits) => {
      const event = encodeEvent({ type: 'user.dtmf', digits });
      this.#call?.media.told(TOPICS.fromClient, event);
    });
  }

  message(message: string | Uint8Array): void {
    try {
      if (!this.#rate.take()) throw new StreamFault(NOT_ALLOWED, 'too many messages');
      const event = this.provider.read(message);
      if (event) this.#meet(event);
    } catch (error) {
      this.#fail(error);
    }
  }

  #meet(event: StreamEvent): void {
    if (event.type === 'start') this.#start(event);
    else if (!this.#started) throw new StreamFault(NOT_ALLOWED, 'the stream has not started');
    else if (this.#call) this.#take(event, this.#call);
    else if (this.#waiting.length < LIMITS.phone.waiting) this.#waiting.push(event);
  }

  #start(start: Start): void {
    if (this.#started) throw new StreamFault(NOT_ALLOWED, 'the stream has started already');
    this.#started = true;
    void this.#join(start).catch((error: unknown) => this.#fail(error));
  }

  async #join({ stream, callId, token = this.address.get('token') ?? '', format }: Start): Promise<void> {
    const { provider, parts, socket } = this;
    const sessionId = parts.tokens.verify(token, { provider: provider.name, callId });
    if (sessionId === undefined) throw new StreamFault(NOT_ALLOWED, 'no session waits for this stream');
    if (!format) throw new StreamFault(1003, 'the audio format is not supported');
    socket.authenticated();
    const call = await parts.calls.begin(sessionId, format, this.#linkOf(provider.writer(stream)), {
      provider: provider.name,
      callId,
    });
    this.#call = call;
    for (const event of this.#waiting.splice(0)) this.#take(event, call);
    if (this.#code !== undefined) this.#end(this.#code);
  }

  #linkOf(writer: StreamWriter): PhoneLink {
    const { socket } = this;
    return {
      speak: (audio) => socket.send(writer.speak(audio)),
      mark: (mark) => socket.send(writer.mark(mark)),
      hush: () => socket.send(writer.hush()),
      close: () => socket.close('normal'),
    };
  }

  #take(event: Later, call: StreamedCall): void {
    (this.#handlers[event.type] as (event: Later, call: StreamedCall) => void)(event, call);
  }

  readonly #handlers: Handlers = {
    media: ({ audio, order }, { media }) => media.hear(audio, order),
    mark: ({ mark }, { media }) => media.marked(mark),
    key: ({ key }) => this.#keypad.press(key),
    stop: (_event, call) => this.#hangUp(call),
  };

  #hangUp({ media }: StreamedCall): void {
    this.#hungUp = true;
    media.hungUp();
  }

  #fail(error: unknown): void {
    const fault = faultOf(error);
    const { log } = this.parts;
    const { name: provider } = this.provider;
    if (fault) log.warn({ provider, reason: fault.message }, 'a phone stream was refused');
    else log.error({ provider, err: error }, 'a phone stream failed');
    this.socket.close(fault ? { code: fault.code, reason: fault.message } : 'internal');
    this.#call?.owned.closedBy('line');
  }

  /** A call whose stream is cut off has no way back to its caller. */
  #end(code: number): void {
    const call = this.#call;
    if (!call || this.#hungUp) return;
    if (CLOSED.has(code)) this.#hangUp(call);
    else call.owned.closedBy('line');
  }

  gone(): void {
    this.#keypad.close();
  }

  closed(code: number): void {
    this.#code = code;
    this.#end(code);
  }
}
