/**
 * The host of one agent's socket (docs/contract/agent-realtime.md): its client sets the session up, and talks with the agent. The call
 * begins when it has said how, wants something of the agent, or has said nothing for a second.
 *
 * Invariants: events are taken in order; a faulty one gets one `error`, and the socket stays open; audio that comes before the call has
 * begun is kept for it; whatever ends the socket ends the call.
 */
import { endingFor } from '../../../contracts/close-codes.js';
import { ServiceError, toServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { TokenBucket } from '../../../contracts/limits/token-bucket.js';
import { memoryExhausted } from '../../../contracts/ports/accounts/memory.js';
import type { AgentChanges } from '../../../contracts/ports/calls/agent-changes.js';
import type {
  CallNews,
  SocketCall,
  SocketCalls,
  SocketLink,
} from '../../../contracts/ports/calls/socket-calls.js';
import type { OfferedLine } from '../../../contracts/ports/calls/offered-calls.js';
import type { SessionPlan } from '../../../contracts/ports/sessions/sessions.js';
import { speaksFirst } from '../../../contracts/schemas/agent-config.js';
import type { SocketSession } from '../../../contracts/ports/sessions/socket-sessions.js';
import type { PlainObject } from '../../../contracts/schemas/plain-object.js';
import { type AudioRefusals, CallAudio } from '../../server/frames/call-audio.js';
import { FrameQueue, LongText, type SocketFrame } from '../../server/frames/frame-queue.js';
import type { Socket, SocketEvents } from '../../server/port.js';
import {
  APPEND,
  appendedAudio,
  clientEvent,
  eventIdOf,
  readFields,
} from '../protocol-a/realtime/client-events.js';
import { Fault, FAULTS, toldOf } from '../protocol-a/realtime/faults.js';
import { ServerEvents } from '../protocol-a/realtime/server-events.js';
import { Answers } from './answers.js';
import { bringTyped, HANDLERS } from './client-events.js';
import { lineOf, showSocketFormat } from './formats.js';
import { Items } from './items.js';
import type { AgentRealtimeParts } from './parts.js';
import {
  type AgentSettings,
  changed,
  ownersOptions,
  sessionFields,
  showAgentSession,
  turnsOf,
  voiceOf,
  wantedOf,
} from './settings.js';
import type { SessionState } from './state.js';
import { UserTurns } from './user-turns.js';

/** Codes of a normal close, or of one without a reason (RFC 6455, 7.4.1). */
const CLOSED = new Set([1000, 1001, 1005]);

const TOO_MANY_FRAMES = 'Too much came before an earlier event was read or answered; this one was dropped';

const BY_RTP = 'The audio of a call by WebRTC comes on its track';

const AUDIO_REFUSALS: AudioRefusals = {
  tooMuch: (message) => new Fault('conversation_too_large', message, 'audio'),
  noBase64: () => new Fault('invalid_event', 'audio is no base64', 'audio'),
};
const LOST = new ServiceError('engine_lost', { message: 'The call was lost: begin another one' });

/** What a call is closed with, as its client reads it. */
const LONGEST = 'conversation_timeout';

export interface AgentClient {
  readonly session: SocketSession;
  readonly settings: AgentSettings;
  readonly suffix: string;
  /** The connection that carries its audio, if that is not the socket. */
  readonly line?: OfferedLine;
}

type Read = PlainObject | undefined;

type NewsHandlers = {
  readonly [On in CallNews['on']]: (news: Extract<CallNews, { readonly on: On }>) => void;
};

export class AgentSession implements SocketEvents, SessionState {
  readonly events: ServerEvents;
  readonly items: Items;
  readonly answers: Answers;
  readonly turns: UserTurns;
  readonly typed: string[] = [];
  brought = 0;
  readonly calls = new Set<string>();
  readonly past = new Map<string, string>();
  readonly rate: TokenBucket;
  settings: AgentSettings;
  readonly audio: CallAudio;
  commits = 0;
  call: SocketCall | undefined;
  #state = 'listening';
  #beginning: Promise<void> | undefined;
  #stopWaiting: () => void;
  readonly #frames: FrameQueue<Read>;
  readonly #expiresAt: number;
  /** Whether it was logged that something belongs to the agent's owner. */
  #hasNoted = false;
  #isGone = false;
  #closedWith: number | undefined;
  /** Why the call has ended, if it was told. */
  #endedFor: string | undefined;

  constructor(
    private readonly socket: Socket,
    readonly client: AgentClient,
    private readonly parts: AgentRealtimeParts & { readonly calls: SocketCalls },
    private readonly ended: () => void,
  ) {
    const { clock } = parts;
    const { session, suffix } = client;
    this.settings = client.settings;
    this.events = new ServerEvents(socket, suffix);
    socket.chargeTo(session.workspaceId);
    this.audio = new CallAudio(socket.memory('audio'), AUDIO_REFUSALS, clock);
    this.items = new Items(this.events, socket.memory('text'));
    this.turns = new UserTurns(this.events, this.items, clock);
    this.rate = new TokenBucket(LIMITS.session.clientMessages, () => clock.monotonic());
    const look = {
      conversationId: `conv_${suffix}`,
      audio: () => ({
        format: showSocketFormat(this.settings.output),
        voice: voiceOf(this.settings, session),
      }),
      byRtp: this.byRtp,
    };
    this.answers = new Answers(this.events, this.items, look, clock);
    this.#frames = new FrameQueue(socket, {
      read: (frame) => this.#read(frame),
      take: (fields) => (fields ? this.#take(fields) : undefined),
      failed: (error) => this.refuse(error),
      full: () => this.refuse(new Fault('conversation_too_large', TOO_MANY_FRAMES)),
      exhausted: () => this.refuse(memoryExhausted()),
    });
    this.#expiresAt = Math.floor(clock.now() / 1000) + session.config.conversation.max_duration_seconds;
    this.#tellSession('session.created');
    this.#stopWaiting = clock.after(LIMITS.agentRealtime.setUpMs.first, () => void this.begin());
  }

  get byRtp(): boolean {
    return this.client.line !== undefined;
  }

  get rests(): boolean {
    return this.#state === 'listening' && !this.answers.isActive && this.calls.size === 0;
  }

  message(frame: string | Uint8Array): void {
    this.#frames.push(frame);
  }

  longText(bytes: Buffer): void {
    this.#frames.push(new LongText(bytes));
  }

  mustEnd(error: ServiceError): void {
    this.refuse(error);
    this.call?.broken();
    this.socket.close(endingFor(error.code));
  }

  refuse(error: unknown, eventId: string | null = null): void {
    const known = error instanceof Fault ? error : toServiceError(error);
    if (known instanceof ServiceError && known.status >= 500) {
      const { id: sessionId, agentId } = this.client.session;
      this.parts.log.warn(
        { sessionId, agentId, code: known.code, err: known.cause },
        'an event of a realtime client failed',
      );
    }
    this.events.error(toldOf(known), eventId);
  }

  #tellSession(type: 'session.created' | 'session.updated'): void {
    const { session } = this.client;
    const model = `${this.parts.vocabulary.vendor}/transcribe-1`;
    this.events.send(type, { session: showAgentSession(this.settings, session, this.#expiresAt, model) });
  }

  #read(frame: SocketFrame): Read | Promise<Read> {
    const audio = typeof frame === 'string' ? appendedAudio(frame) : undefined;
    if (audio === undefined) return readFields(frame);
    this.#append(audio);
    return undefined;
  }

  /** Errors: `unsupported_option`, those of the audio. */
  #append(audio: unknown): void {
    if (this.byRtp) throw new ServiceError('unsupported_option', { message: BY_RTP, param: 'type' });
    this.audio.append(audio);
  }

  #take(fields: PlainObject): Promise<void> | undefined {
    const eventId = eventIdOf(fields);
    try {
      const { type } = clientEvent(fields);
      if (type === APPEND) return void this.#append(fields['audio']);
      if (type === 'session.update') return this.#guarded(this.#update(fields['session']), eventId);
      const handle = HANDLERS.get(type);
      if (!handle)
        throw new Fault('unknown_event_type', `${FAULTS.unknown_event_type}: ${type.slice(0, 64)}`, 'type');
      if (this.call) return void handle(this, this.call, fields);
      return this.#guarded(
        this.begin().then(() => this.call && handle(this, this.call, fields)),
        eventId,
      );
    } catch (error) {
      this.refuse(error, eventId);
      return undefined;
    }
  }

  async #guarded(work: Promise<unknown>, eventId: string | null): Promise<void> {
    await work.catch((error: unknown) => this.refuse(error, eventId));
  }

  /** Takes what the client may set, and keeps what it may not. Errors: `Fault`, `unsupported_option`, `overloaded`. */
  async #update(value: unknown): Promise<void> {
    // The settings may not change while the call begins with them.
    this.#stopWaiting();
    await this.#beginning;
    try {
      await this.#set(value);
    } finally {
      if (!this.call) this.#waitOn();
    }
    this.#tellSession('session.updated');
  }

  async #set(value: unknown): Promise<void> {
    const fields = sessionFields(value);
    const [before, wanted] = [this.settings, wantedOf(fields)];
    const next = changed(before, fields);
    if (this.call && (next.input !== before.input || next.output !== before.output))
      throw new Fault(
        'unsupported_audio_format',
        'The audio formats are set before the call begins',
        'session.audio',
      );
    const { overrides, kept } = await this.#settled(wanted, before);
    this.settings = { ...next, overrides };
    this.#note([...kept, ...ownersOptions(fields)]);
    if (this.call) this.#amend(this.call, before);
  }

  /** Once the call has begun, only the instructions can still change. */
  async #settled(wanted: AgentSettings['overrides'], { overrides: present }: AgentSettings) {
    const { system_prompt: prompt, ...fixed } = wanted;
    if (!this.call) return this.client.session.settle({ ...present, ...wanted });
    const asked = { ...present, ...(prompt !== undefined && { system_prompt: prompt }) };
    const settled = await this.client.session.settle(asked);
    const late = (['voice_id', 'language'] as const).filter(
      (name) => fixed[name] !== undefined && fixed[name] !== present[name],
    );
    return { ...settled, kept: [...settled.kept, ...late] };
  }

  /** Says once in the log what the client asked for and does not get: names only. */
  #note(kept: readonly string[]): void {
    if (kept.length === 0 || this.#hasNoted) return;
    this.#hasNoted = true;
    const { id: sessionId, agentId } = this.client.session;
    this.parts.log.info(
      { sessionId, agentId, kept },
      'a realtime client asked for what its agent does not allow',
    );
  }

  #amend(call: SocketCall, before: AgentSettings): void {
    const { tools, turns, overrides } = this.settings;
    const { system_prompt: instructions } = overrides;
    const { conversation } = this.client.session.config;
    const [was, is] = [turnsOf(before, conversation), turnsOf(this.settings, conversation)];
    const changes: AgentChanges = {
      ...(tools !== before.tools && { tools }),
      ...(instructions !== undefined && instructions !== before.overrides.system_prompt && { instructions }),
      ...((is.eagerness !== was.eagerness || is.interruptible !== was.interruptible) && is),
    };
    if (Object.keys(changes).length > 0) call.wish({ kind: 'amended', changes });
    call.manual(turns === null);
  }

  #waitOn(): void {
    this.#stopWaiting();
    this.#stopWaiting = this.parts.clock.after(LIMITS.agentRealtime.setUpMs.next, () => void this.begin());
  }

  /** Begins the call, once. Never rejects: a call that cannot begin closes the socket. */
  begin(): Promise<void> {
    this.#stopWaiting();
    return (this.#beginning ??= this.#begin().catch((error: unknown) => {
      this.refuse(error);
      this.socket.close({ code: 1008, reason: toldOf(toServiceError(error)).message });
    }));
  }

  async #begin(): Promise<void> {
    const { session } = this.client;
    const { calls, log } = this.parts;
    if (this.#isGone) return;
    calls.checkRoom();
    await session.begin(this.settings.overrides);
    const { input, output, turns } = this.settings;
    const { line } = this.client;
    const options = { format: lineOf(output), heard: lineOf(input), revised: this.#revised, line };
    // It speaks first: what asks for an answer meanwhile asks for that.
    if (speaksFirst(session.config)) this.#state = 'greeting';
    try {
      this.call = await calls.begin(session.id, options, this.#link());
    } catch (error) {
      await session.failed().catch((err: unknown) => log.warn({ err }, 'a session was not ended'));
      throw error;
    }
    this.call.manual(turns === null);
    this.audio.begin(this.call);
    if (this.#closedWith !== undefined) this.#end(this.#closedWith);
  }

  readonly #revised = (plan: SessionPlan): SessionPlan => {
    const { tools } = this.settings;
    const { conversation } = plan.config;
    return {
      ...plan,
      config: { ...plan.config, conversation: { ...conversation, ...turnsOf(this.settings, conversation) } },
      clientTools: tools,
    };
  };

  #link(): SocketLink {
    return {
      memory: this.socket.memory('audio'),
      speak: (audio, utterance) => this.answers.audio(audio, utterance),
      told: (news) => (this.#news[news.on] as (news: CallNews) => void)(news),
      close: () => {
        this.answers.cleared();
        this.#close(this.#endedFor);
      },
    };
  }

  /** A call that ends and says nothing of it was lost here. */
  #close(reason: string | undefined): void {
    if (reason !== undefined) return this.socket.close({ code: 1000, reason });
    if (!this.#isGone && this.#closedWith === undefined) this.events.error(toldOf(LOST), null);
    this.socket.close('internal');
  }

  readonly #news: NewsHandlers = {
    voice: ({ active, at }) => {
      if (active && this.call) bringTyped(this, this.call);
      this.turns.voice(active, this.answers.isActive, at);
    },
    made: (news) => this.answers.made(news),
    // This client gets the words as they are heard.
    written: () => undefined,
    playing: (news) => this.answers.hears(news),
    heard: (news) => this.answers.heard(news),
    cleared: () => {
      if (this.answers.isActive && !this.answers.isCancelled) this.turns.interrupted();
      this.answers.cleared();
    },
    resumed: () => this.turns.resumed(),
    state: ({ state }) => {
      this.#state = state;
      if (state === 'listening') this.answers.rests();
      else this.answers.begin();
    },
    text: ({ text: { speaker, text, final } }) => {
      if (speaker === 'agent') this.answers.words(text);
      else if (final) this.turns.words(text);
    },
    message: ({ message }) => this.#meet(message),
  };

  #meet(message: PlainObject): void {
    const { type, callId, toolName, params, reason, code } = message;
    if (type === 'client_tool.call') {
      this.calls.add(String(callId));
      this.answers.call(String(callId), String(toolName), params as PlainObject);
    }
    if (type === 'error')
      this.refuse(
        new ServiceError('engine_failed', { message: `The agent could not answer: ${String(code)}` }),
      );
    if (type === 'message.dropped')
      this.refuse(new ServiceError('rate_limited', { message: `An event had no effect: ${String(reason)}` }));
    if (type === 'session.ended') this.#endedFor = String(reason);
    if (type === 'session.ended' && reason === LONGEST) this.refuse(new Fault('session_expired'));
  }

  gone(): void {
    this.#isGone = true;
    this.#stopWaiting();
    this.#frames.clear();
  }

  closed(code: number): void {
    this.#closedWith = code;
    this.#end(code);
    this.ended();
  }

  #end(code: number): void {
    if (CLOSED.has(code)) this.call?.hungUp();
    else this.call?.broken();
  }
}
