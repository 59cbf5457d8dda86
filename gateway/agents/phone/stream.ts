/**
 * A provider's media stream: one WebSocket per call. Its first relevant message is `start`, which says whose call it is;
 * messages that arrive while the session is joined wait.
 *
 * Invariants: nothing counts before `start`, and a stream starts once; any end of the stream ends its call, and a normal
 * close by the provider means that the caller has hung up; a provider that sends faster than anybody speaks is cut off;
 * what waits is charged.
 */
import type { Clock } from '../../../contracts/clock.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Log } from '../../../contracts/log.js';
import type { PhoneLink } from '../../../contracts/ports/calls/calls.js';
import { type MemoryShare, mustCharge } from '../../../contracts/ports/accounts/memory.js';
import { TokenBucket } from '../../../contracts/limits/token-bucket.js';
import { encodeEvent, TOPICS } from '../conversations/client/events.js';
import { Keypad } from '../conversations/client/keypad.js';
import type { HttpRequest, Socket, SocketEvents } from '../../server/port.js';
import type { PhoneCalls } from './phone-calls.js';
import { isBusy } from './answering.js';
import {
  type IncomingCall,
  incomingOf,
  type Provider,
  type Speaking,
  type StreamEvent,
  StreamFault,
  type StreamProvider,
  type StreamWriter,
} from './provider.js';
import type { StreamTokens } from './stream-tokens.js';
import type { Streamed } from './streamed-call.js';

export interface StreamParts {
  readonly calls: Pick<PhoneCalls, 'begin'>;
  readonly tokens: Pick<StreamTokens, 'verify'>;
  /** The session of a call without a webhook before; undefined if the stream has a token. Errors: those of `answering.admit`. */
  readonly admit: ((call: IncomingCall) => Promise<string>) | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

type Start = Extract<StreamEvent, { readonly type: 'start' }>;
type Later = Exclude<StreamEvent, Start>;

type Handlers = {
  readonly [Type in Later['type']]: (event: Extract<Later, { readonly type: Type }>, call: Streamed) => void;
};

const NOT_ALLOWED = 1008;
const AGAIN_LATER = 1013;
/** Codes of a normal close, or of one without a reason (RFC 6455, 7.4.1). */
const CLOSED = new Set([1000, 1001, 1005]);

function faultOf(error: unknown): StreamFault | undefined {
  if (error instanceof StreamFault) return error;
  if (!(error instanceof ServiceError)) return undefined;
  return new StreamFault(isBusy(error) ? AGAIN_LATER : NOT_ALLOWED, error.message);
}

export class PhoneStream implements SocketEvents {
  readonly #rate: TokenBucket;
  readonly #keypad: Keypad;
  readonly #speaking: Speaking;
  #started = false;
  #call: Streamed | undefined;
  #waiting: { readonly event: Later; readonly bytes: number }[] = [];
  /** Of the messages that wait for the session. */
  readonly #memory: MemoryShare;
  /** The close code, once the stream has ended. */
  #code: number | undefined;
  #hungUp = false;
  #stop = (): void => undefined;

  constructor(
    private readonly socket: Socket,
    private readonly provider: Provider | StreamProvider,
    private readonly handshake: Pick<HttpRequest, 'query' | 'headers' | 'baseUrl'>,
    private readonly parts: StreamParts,
  ) {
    const { clock } = parts;
    this.#memory = socket.memory('frame');
    this.#speaking =
      'converse' in provider
        ? provider.converse((message) => socket.send(message), handshake.headers)
        : provider;
    this.#rate = new TokenBucket(LIMITS.phone.messages, () => clock.monotonic());
    const tell = (event: object): void => this.#call?.media.told(TOPICS.fromClient, encodeEvent(event));
    this.#keypad = new Keypad(
      clock,
      (digits) => tell({ type: 'user.dtmf', digits }),
      () => tell({ type: 'user.activity' }),
    );
  }

  message(message: string | Uint8Array): void {
    try {
      if (!this.#rate.take()) throw new StreamFault(NOT_ALLOWED, 'too many messages');
      const event = this.#speaking.read(message);
      if (event) this.#meet(event, message.length);
    } catch (error) {
      this.#fail(error);
    }
  }

  mustEnd(error: ServiceError): void {
    this.#fail(error);
  }

  #meet(event: StreamEvent, bytes: number): void {
    if (event.type === 'start') this.#start(event);
    else if (!this.#started) throw new StreamFault(NOT_ALLOWED, 'the stream has not started');
    else if (this.#call) this.#take(event, this.#call);
    else if (this.#waiting.length < LIMITS.phone.waiting) this.#wait(event, bytes);
  }

  /** `bytes`: of its message, all of which its audio may keep. */
  #wait(event: Later, bytes: number): void {
    mustCharge(this.#memory, bytes);
    this.#waiting.push({ event, bytes });
  }

  #start(start: Start): void {
    if (this.#started) throw new StreamFault(NOT_ALLOWED, 'the stream has started already');
    this.#started = true;
    void this.#join(start).catch((error: unknown) => this.#fail(error));
  }

  /** Errors: `StreamFault`, those of `StreamParts.admit`. */
  async #sessionOf({
    callId,
    token = this.handshake.query.get('token') ?? '',
    about,
  }: Start): Promise<string> {
    const { admit, tokens } = this.parts;
    const incoming = about && incomingOf(callId, about.from, about.to);
    const sessionId = admit
      ? incoming && (await admit(incoming))
      : tokens.verify(token, { provider: this.provider.name, callId });
    if (sessionId === undefined) throw new StreamFault(NOT_ALLOWED, 'no session waits for this stream');
    return sessionId;
  }

  async #join(start: Start): Promise<void> {
    const { provider, parts, socket } = this;
    const { stream, callId, format } = start;
    if (!format) throw new StreamFault(1003, 'the audio format is not supported');
    const sessionId = await this.#sessionOf(start);
    socket.authenticated();
    const writer = this.#speaking.writer(stream);
    const leg = { provider: provider.name, callId, baseUrl: this.handshake.baseUrl };
    const call = await parts.calls.begin(sessionId, format, this.#linkOf(writer), leg);
    this.#call = call;
    socket.chargeTo(call.workspaceId);
    const greeting = writer.begin?.();
    if (greeting !== undefined) socket.send(greeting);
    for (const { event, bytes } of this.#waiting.splice(0)) {
      this.#memory.release(bytes);
      this.#take(event, call);
    }
    if (this.#code !== undefined) this.#end(this.#code);
  }

  #linkOf(writer: StreamWriter): PhoneLink {
    const { socket } = this;
    return {
      memory: socket.memory('audio'),
      speak: (audio) => socket.send(writer.speak(audio)),
      mark: (mark) => {
        const message = writer.mark?.(mark);
        if (message !== undefined) socket.send(message);
      },
      clearAudio: () => socket.send(writer.clearAudio()),
      close: () => this.#leave(),
    };
  }

  /** Announces the end of the stream, if the provider then closes it; waits at most `LIMITS.phone.byeMs` for that. */
  #leave(): void {
    const bye = this.#hungUp ? undefined : this.#speaking.end?.('completed', 'The call is over');
    if (bye === undefined) return this.socket.close('normal');
    this.socket.send(bye);
    this.#stop = this.parts.clock.after(LIMITS.phone.byeMs, () => this.socket.close('normal'));
  }

  #take(event: Later, call: Streamed): void {
    (this.#handlers[event.type] as (event: Later, call: Streamed) => void)(event, call);
  }

  readonly #handlers: Handlers = {
    media: ({ audio, order }, { media }) => media.hear(audio, order),
    mark: ({ mark }, { media }) => media.marked(mark),
    key: ({ key }) => this.#keypad.press(key),
    stop: (_event, call) => this.#hangUp(call),
  };

  #hangUp(call: Streamed): void {
    this.#hungUp = true;
    call.hungUp();
  }

  #fail(error: unknown): void {
    const fault = faultOf(error);
    const { log } = this.parts;
    const { name: provider } = this.provider;
    if (fault) log.warn({ provider, reason: fault.message }, 'a phone stream was refused');
    else log.error({ provider, err: error }, 'a phone stream failed');
    const why = fault?.code === NOT_ALLOWED ? 'unauthorized' : 'error';
    const bye = this.#speaking.end?.(why, fault?.message ?? 'Internal error');
    if (bye !== undefined) this.socket.send(bye);
    this.socket.close(fault ? { code: fault.code, reason: fault.message } : 'internal');
    this.#call?.broken();
  }

  /** A call whose stream breaks off cannot reach its caller any more. */
  #end(code: number): void {
    const call = this.#call;
    if (!call || this.#hungUp) return;
    if (CLOSED.has(code)) this.#hangUp(call);
    else call.broken();
  }

  gone(): void {
    this.#stop();
    this.#waiting = [];
    this.#keypad.close();
  }

  closed(code: number): void {
    this.#code = code;
    this.#end(code);
  }
}
