/**
 * The host of one conversation (docs/contract/agent-elevenlabs.md): its client says who it is and what it wants otherwise, and talks with
 * the agent. The call begins with its first message that is no audio, or after a second.
 *
 * Invariants: messages are taken in order; a faulty one gets one `error`, and the socket stays open; audio that comes before the call has
 * begun is kept for it; whatever ends the socket ends the call.
 */
import { endingFor } from '../../../../contracts/close-codes.js';
import { ServiceError } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { memoryExhausted } from '../../../../contracts/ports/accounts/memory.js';
import type { LineFormat } from '../../../../contracts/ports/calls/calls.js';
import type {
  CallNews,
  SocketCall,
  SocketCalls,
  SocketLink,
} from '../../../../contracts/ports/calls/socket-calls.js';
import type { SessionPlan } from '../../../../contracts/ports/sessions/sessions.js';
import type { SocketSession } from '../../../../contracts/ports/sessions/socket-sessions.js';
import type { PlainObject } from '../../../../contracts/schemas/plain-object.js';
import { type AudioRefusals, CallAudio } from '../../../server/frames/call-audio.js';
import { FrameQueue, LongText, type SocketFrame } from '../../../server/frames/frame-queue.js';
import { IgnoredOnce } from '../../../server/ignored-fields.js';
import type { Socket, SocketEvents } from '../../../server/port.js';
import type { ProtocolBParts } from '../parts.js';
import { Answers } from './answers.js';
import {
  AUDIO,
  audioIn,
  type ConversationState,
  HANDLERS,
  INITIATION,
  readMessage,
} from './client-events.js';
import { type ConversationFault, faultOf, invalidMessage } from './faults.js';
import {
  DEFAULT_INITIATION,
  type Initiation,
  readInitiation,
  unknownIn,
  withoutEffect,
} from './initiation.js';
import { Pings } from './pings.js';
import { errorFrame, metadataFrame, toolCallFrame, userTranscriptFrame } from './server-frames.js';

/** PCM of 16 bits at 16 kHz. `ahead`: what a client needs so that a late packet is not heard. */
const LINE: LineFormat = { codec: 'linear', rate: 16_000, ahead: 9, silent: true };

/** Codes of a normal close, or of one without a reason (RFC 6455, 7.4.1). */
const CLOSED = new Set([1000, 1001, 1005]);

/** What a call of the longest duration is closed with. */
const LONGEST = 'conversation_timeout';
const TOO_LONG: ConversationFault = {
  code: 1000,
  type: 'max_duration_exceeded',
  message: 'The conversation has reached its longest duration',
  details: { code: 'session_time_limit_exceeded' },
};

const AUDIO_REFUSALS: AudioRefusals = {
  tooMuch: (message) => invalidMessage(message, AUDIO),
  noBase64: () => invalidMessage(`${AUDIO} is no base64`, AUDIO),
};

type NewsHandlers = {
  readonly [On in CallNews['on']]: (news: Extract<CallNews, { readonly on: On }>) => void;
};

/** Undefined for audio, which is taken as it is read. */
type Read = PlainObject | undefined;

export type ConversationParts = Pick<ProtocolBParts, 'clock' | 'log'> & { readonly calls: SocketCalls };

export class Conversation implements SocketEvents, ConversationState {
  readonly calls = new Map<string, boolean>();
  brought = 0;
  readonly #audio: CallAudio;
  readonly #answers: Answers;
  readonly #pings: Pings;
  readonly #frames: FrameQueue<Read>;
  #call: SocketCall | undefined;
  #initiation: Initiation = DEFAULT_INITIATION;
  #beginning: Promise<void> | undefined;
  readonly #stopWaiting: () => void;
  readonly #ignored = new IgnoredOnce();
  #lastId = 0;
  #isGone = false;
  #closedWith: number | undefined;
  #endedFor = 'done';

  constructor(
    private readonly socket: Socket,
    private readonly session: SocketSession,
    private readonly parts: ConversationParts,
    private readonly ended: () => void,
  ) {
    const send = (frame: string): void => socket.send(frame);
    socket.chargeTo(session.workspaceId);
    this.#audio = new CallAudio(socket.memory('audio'), AUDIO_REFUSALS, parts.clock);
    this.#answers = new Answers(send, this.#nextId, () => this.#initiation.textOnly);
    this.#pings = new Pings(send, this.#nextId, parts.clock);
    this.#frames = new FrameQueue(socket, {
      read: (frame) => this.#read(frame),
      take: (fields) => (fields ? this.#take(fields) : undefined),
      failed: (error) => this.#refuse(error),
      full: () =>
        this.#refuse(invalidMessage('Too much came before an earlier message was read; it was dropped')),
      exhausted: () => this.#refuse(memoryExhausted()),
    });
    this.#stopWaiting = parts.clock.after(LIMITS.agentRealtime.setUpMs.first, () => void this.#begin());
  }

  readonly #nextId = (): number => (this.#lastId += 1);

  message(frame: string | Uint8Array): void {
    this.#frames.push(frame);
  }

  longText(bytes: Buffer): void {
    this.#frames.push(new LongText(bytes));
  }

  mustEnd(error: ServiceError): void {
    this.#refuse(error);
    this.#call?.broken();
    this.socket.close(endingFor(error.code));
  }

  pong(eventId: unknown): void {
    this.#pings.answered(eventId);
  }

  #refuse(error: unknown): ConversationFault {
    const fault = faultOf(error);
    if (fault.code === 1011) {
      const { id: sessionId, agentId } = this.session;
      const { code } = fault.details;
      this.parts.log.warn({ sessionId, agentId, code, err: error }, 'a message of a conversation failed');
    }
    this.socket.send(errorFrame(fault));
    return fault;
  }

  #read(frame: SocketFrame): Read | Promise<Read> {
    const audio = audioIn(frame);
    if (audio === undefined) return readMessage(frame);
    this.#audio.append(audio);
    return undefined;
  }

  #take(fields: PlainObject): Promise<void> | undefined {
    try {
      if (AUDIO in fields) return void this.#audio.append(fields[AUDIO]);
      return this.#obey(fields);
    } catch (error) {
      this.#refuse(error);
      return undefined;
    }
  }

  /** Errors: `invalid_request`, `unsupported_option`. */
  #obey(fields: PlainObject): Promise<void> | undefined {
    const { type } = fields;
    const handle = HANDLERS.get(type);
    if (!handle && type !== INITIATION)
      throw invalidMessage(`Unknown type of message: ${String(type).slice(0, 64)}`, 'type');
    this.#note(withoutEffect(fields));
    if (!handle) return this.#initiate(fields);
    if (this.#call) return void handle(this, this.#call, fields);
    return this.#begin().then(() => this.#handled(handle, fields));
  }

  #handled(handle: NonNullable<ReturnType<typeof HANDLERS.get>>, fields: PlainObject): void {
    try {
      if (this.#call) handle(this, this.#call, fields);
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** Errors: `invalid_request`. */
  #initiate(fields: PlainObject): Promise<void> {
    if (this.#beginning) throw invalidMessage('The conversation has begun already', 'type');
    this.#initiation = readInitiation(fields);
    this.#note(unknownIn(fields));
    return this.#begin();
  }

  /** Says in the log what the client asked for and does not get, each once: names only. */
  #note(names: readonly string[]): void {
    const kept = this.#ignored.fresh(names);
    if (kept.length === 0) return;
    const { id: sessionId, agentId } = this.session;
    this.parts.log.info({ sessionId, agentId, kept }, 'a conversation asked for what has no effect');
  }

  /** Begins the call, once. Never rejects: a call that cannot begin closes the socket. */
  #begin(): Promise<void> {
    this.#stopWaiting();
    return (this.#beginning ??= this.#start().catch((error: unknown) => {
      this.socket.close({ code: 1008, reason: this.#refuse(error).message });
    }));
  }

  async #start(): Promise<void> {
    const { session } = this;
    const { calls, log } = this.parts;
    if (this.#isGone) return;
    calls.checkRoom();
    await session.begin(this.#initiation.overrides, this.#initiation.details);
    const options = { format: LINE, heard: LINE, revised: (plan: SessionPlan) => plan };
    try {
      this.#call = await calls.begin(session.id, options, this.#link());
    } catch (error) {
      await session.failed().catch((err: unknown) => log.warn({ err }, 'a session was not ended'));
      throw error;
    }
    // The first frame of every conversation; nothing of the agent can come before it.
    this.socket.send(metadataFrame(session.id));
    this.#pings.start();
    this.#audio.begin(this.#call);
    if (this.#closedWith !== undefined) this.#end(this.#closedWith);
  }

  #link(): SocketLink {
    return {
      memory: this.socket.memory('audio'),
      speak: (audio, utterance) => this.#answers.audio(audio, utterance),
      told: (news) => (this.#news[news.on] as (news: CallNews) => void)(news),
      close: () => {
        this.#answers.end();
        this.socket.close({ code: 1000, reason: this.#endedFor });
      },
    };
  }

  readonly #news: NewsHandlers = {
    voice: () => undefined,
    made: () => undefined,
    playing: () => undefined,
    resumed: () => undefined,
    state: () => undefined,
    written: ({ utterance, text }) => this.#answers.written(utterance, text),
    heard: ({ utterance, ended }) => (ended ? this.#answers.heard(utterance) : undefined),
    cleared: () => this.#answers.cleared(),
    text: ({ text: { speaker, text, final } }) => {
      if (speaker === 'agent' && final) this.#answers.end();
      else if (speaker === 'agent') this.#answers.words(text);
      else if (final && text !== '') this.socket.send(userTranscriptFrame(text, this.#nextId()));
    },
    message: ({ message }) => this.#meet(message),
  };

  #meet(message: PlainObject): void {
    const { type, callId, reason, code } = message;
    if (type === 'client_tool.call') this.#callTool(message);
    // A result that comes later is too late.
    if (type === 'tool.failed') this.calls.delete(String(callId));
    if (type === 'error')
      this.#refuse(
        new ServiceError('engine_failed', { message: `The agent could not answer: ${String(code)}` }),
      );
    if (type === 'message.dropped')
      this.#refuse(
        new ServiceError('rate_limited', { message: `A message had no effect: ${String(reason)}` }),
      );
    if (type === 'session.ended') this.#endedFor = String(reason);
    if (type === 'session.ended' && reason === LONGEST) this.socket.send(errorFrame(TOO_LONG));
  }

  #callTool({ callId, toolName, params, expectsResponse }: PlainObject): void {
    const id = String(callId);
    this.calls.set(id, expectsResponse !== false);
    this.socket.send(toolCallFrame(id, String(toolName), params as PlainObject, this.#nextId()));
  }

  gone(): void {
    this.#isGone = true;
    this.#stopWaiting();
    this.#pings.stop();
    this.#frames.clear();
  }

  closed(code: number): void {
    this.#closedWith = code;
    this.#end(code);
    this.ended();
  }

  #end(code: number): void {
    if (CLOSED.has(code)) this.#call?.hungUp();
    else this.#call?.broken();
  }
}
