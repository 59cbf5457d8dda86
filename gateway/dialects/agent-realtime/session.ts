/**
 * The host of one agent's session (docs/contract/agent-realtime.md): its client sets it up, and talks with the agent; others may watch and
 * steer. The call begins when its client is there and something was wanted of the agent, or nothing was said for a second.
 *
 * Invariants: audio that comes before the call has begun is kept for it; a call outlasts a socket that breaks off for a while, in which its
 * client may come back by another one, and no other end of its connection; all connections end with the call.
 */
import { type CloseReason, endingFor } from '../../../contracts/close-codes.js';
import { ServiceError, toServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { CALL_TIMES } from '../../../contracts/limits/call-times.js';
import { TokenBucket } from '../../../contracts/limits/token-bucket.js';
import type { SocketCall, SocketCalls, SocketLink } from '../../../contracts/ports/calls/socket-calls.js';
import type { OfferedLine } from '../../../contracts/ports/calls/offered-calls.js';
import type { RunningSession, SessionPlan } from '../../../contracts/ports/sessions/sessions.js';
import { speaksFirst } from '../../../contracts/schemas/agent-config.js';
import type { SocketSession } from '../../../contracts/ports/sessions/socket-sessions.js';
import type { PlainObject } from '../../../contracts/schemas/plain-object.js';
import { type AudioRefusals, CallAudio } from '../../server/frames/call-audio.js';
import { SocketMemory } from '../../server/memory/socket-memory.js';
import type { SocketEvents } from '../../server/port.js';
import { APPEND, clientEvent, eventIdOf } from '../protocol-a/realtime/client-events.js';
import { Fault, FAULTS, toldOf } from '../protocol-a/realtime/faults.js';
import { ServerEvents } from '../protocol-a/realtime/server-events.js';
import { Answers } from './answers.js';
import { HANDLERS, OF_AUDIO } from './client-events.js';
import { lineOf, showSocketFormat } from './formats.js';
import { Items } from './items.js';
import { type NewsHost, newsOf } from './news.js';
import type { AgentRealtimeParts } from './parts.js';
import type { Seat, SeatSocket } from './seat.js';
import { Seats, type SeatsHost } from './seats.js';
import { type AgentSettings, showAgentSession, turnsOf, voiceOf } from './settings.js';
import type { SessionState } from './state.js';
import { Updates } from './updates.js';
import { UserTurns } from './user-turns.js';

/** Codes of a normal close, or of one without a reason (RFC 6455, 7.4.1). */
const CLOSED = new Set([1000, 1001, 1005]);

const BY_RTP = 'The audio of a call by WebRTC comes on its track';
const WATCHES = 'Who watches a call sends no audio';

const AUDIO_REFUSALS: AudioRefusals = {
  tooMuch: (message) => new Fault('conversation_too_large', message, 'audio'),
  noBase64: () => new Fault('invalid_event', 'audio is no base64', 'audio'),
};
const LOST = new ServiceError('engine_lost', { message: 'The call was lost: begin another one' });
const NO_RETURN = new ServiceError('unsupported_option', {
  message: 'A call by WebRTC ends with its connection: nobody comes back to it',
  param: 'session_id',
});

export interface AgentClient {
  readonly session: SocketSession;
  readonly settings: AgentSettings;
  readonly suffix: string;
  /** Whether another connection than that of the events carries its audio. */
  readonly byRtp: boolean;
  /** Taken over from a process that has died. */
  readonly resumed?: RunningSession;
}

type Ending = CloseReason | { readonly code: number; readonly reason: string };

export class AgentSession implements SeatsHost, SessionState, NewsHost {
  readonly events: ServerEvents;
  readonly items: Items;
  readonly answers: Answers;
  readonly turns: UserTurns;
  readonly typed: string[] = [];
  brought = 0;
  readonly calls = new Set<string>();
  readonly past = new Map<string, string>();
  readonly rate: TokenBucket;
  readonly audio: CallAudio;
  commits = 0;
  call: SocketCall | undefined;
  /** `greeting` until the agent has begun, where it speaks first. */
  state = 'listening';
  endedFor: string | undefined;
  /** The connection that carries its audio, if that is not the client's socket; set before the client comes. */
  line: OfferedLine | undefined;
  readonly #seats: Seats;
  readonly #updates: Updates;
  readonly #memory: SocketMemory;
  readonly #news = newsOf(this);
  #beginning: Promise<void> | undefined;
  #stopWaiting = (): void => undefined;
  #stopWaitingForReturn = (): void => undefined;
  /** Resolves once the client is there: nothing begins without it. */
  readonly #entered: Promise<void>;
  #enter: (() => void) | undefined;
  readonly #expiresAt: number;
  #isGone = false;
  #closedWith: number | undefined;
  #isOver = false;
  /** Others come in as long as this was not called. */
  readonly #shut: () => void;

  constructor(
    readonly client: AgentClient,
    private readonly parts: AgentRealtimeParts & { readonly calls: SocketCalls },
  ) {
    const { clock, calls, log, memory } = parts;
    const { session, suffix, settings } = client;
    const goesOn = client.resumed !== undefined;
    this.#updates = new Updates(settings, session, () => this.call, log, goesOn);
    this.#memory = new SocketMemory(
      memory,
      () => session.workspaceId,
      (error) => this.#exhausted(error),
    );
    this.#seats = new Seats(this, session.workspaceId, parts);
    this.events = new ServerEvents(this.#seats.all, suffix, this.#seats.hearing);
    this.audio = new CallAudio(this.#memory.share('audio'), AUDIO_REFUSALS, clock);
    this.items = new Items(this.events, this.#memory.share('text'));
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
    const begun = clock.now() - (client.resumed?.lastedMs ?? 0);
    this.#expiresAt = Math.floor(begun / 1000) + session.config.conversation.max_duration_seconds;
    this.#entered = new Promise((resolve) => (this.#enter = resolve));
    this.#shut = calls.admit(session, (as, link) => {
      if (as === 'watch') return this.#seats.watch(link);
      return this.#seats.replace(link, this.byRtp ? NO_RETURN : undefined, () => this.#back());
    });
  }

  get settings(): AgentSettings {
    return this.#updates.settings;
  }

  get byRtp(): boolean {
    return this.client.byRtp;
  }

  get rests(): boolean {
    return this.state === 'listening' && !this.answers.isActive && this.calls.size === 0;
  }

  /** Its client is there. `ended`: called once its connection is closed. Called once. */
  enter(socket: SeatSocket, ended: () => void): SocketEvents {
    const seat = this.#seats.enter(socket, ended);
    this.#enter?.();
    this.#enter = undefined;
    if (!this.#beginning)
      this.#stopWaiting = this.parts.clock.after(LIMITS.agentRealtime.setUpMs.first, () => void this.begin());
    return seat;
  }

  /** Its client never came. Does nothing once it was there. */
  abandoned(): void {
    if (this.#enter) this.#over({ code: 1000, reason: 'its client has not connected' });
  }

  note(names: readonly string[]): void {
    this.#updates.note(names);
  }

  #back(): void {
    this.#stopWaitingForReturn();
    this.call?.back();
  }

  /** Its socket broke off: the client may come back for a while. */
  #away(call: SocketCall): void {
    this.#seats.client = undefined;
    call.away();
    this.#stopWaitingForReturn = this.parts.clock.after(CALL_TIMES.reconnectWindowMs, () => call.broken());
  }

  refuse(error: unknown, eventId: string | null = null, seat?: Seat): void {
    const known = error instanceof Fault ? error : toServiceError(error);
    if (known instanceof ServiceError && known.status >= 500) {
      const { id: sessionId, agentId } = this.client.session;
      this.parts.log.warn(
        { sessionId, agentId, code: known.code, err: known.cause },
        'an event of a realtime client failed',
      );
    }
    this.events.error(toldOf(known), eventId, seat?.socket);
  }

  /** The session's own memory has to go. */
  #exhausted(error: ServiceError): void {
    this.refuse(error);
    this.call?.broken();
    this.#over(endingFor(error.code));
  }

  mustEnd(seat: Seat): void {
    if (seat === this.#seats.client) this.call?.broken();
  }

  greet(seat: Seat): void {
    this.#tellSession('session.created', seat);
  }

  #tellSession(type: 'session.created' | 'session.updated', seat?: Seat): void {
    const { session } = this.client;
    const model = `${this.parts.vocabulary.vendor}/transcribe-1`;
    const shown = showAgentSession(this.settings, session, this.#expiresAt, model);
    this.events.send(type, { session: shown }, seat?.socket);
  }

  append(audio: unknown, seat: Seat): void {
    const message = this.byRtp ? BY_RTP : this.#seats.watches(seat) ? WATCHES : undefined;
    if (message !== undefined) throw new ServiceError('unsupported_option', { message, param: 'type' });
    this.audio.append(audio);
  }

  take(fields: PlainObject, seat: Seat): Promise<void> | undefined {
    const eventId = eventIdOf(fields);
    try {
      const { type } = clientEvent(fields);
      if (type === APPEND) return void this.append(fields['audio'], seat);
      if (type === 'session.update') return this.#guarded(this.#update(fields['session']), eventId, seat);
      const handle = HANDLERS.get(type);
      if (!handle)
        throw new Fault('unknown_event_type', `${FAULTS.unknown_event_type}: ${type.slice(0, 64)}`, 'type');
      if (OF_AUDIO.has(type) && !this.byRtp && this.#seats.watches(seat))
        throw new ServiceError('unsupported_option', { message: WATCHES, param: 'type' });
      if (this.call) return void handle(this, this.call, fields);
      return this.#guarded(
        this.begin().then(() => this.call && handle(this, this.call, fields)),
        eventId,
        seat,
      );
    } catch (error) {
      this.refuse(error, eventId, seat);
      return undefined;
    }
  }

  async #guarded(work: Promise<unknown>, eventId: string | null, seat: Seat): Promise<void> {
    await work.catch((error: unknown) => this.refuse(error, eventId, seat));
  }

  /** Errors: those of `Updates`. */
  async #update(value: unknown): Promise<void> {
    // The settings may not change while the call begins with them.
    this.#stopWaiting();
    await this.#beginning;
    try {
      await this.#updates.take(value);
    } finally {
      if (!this.call) this.#waitOn();
    }
    this.#tellSession('session.updated');
  }

  #waitOn(): void {
    this.#stopWaiting();
    if (!this.#seats.client || this.#isOver) return;
    this.#stopWaiting = this.parts.clock.after(LIMITS.agentRealtime.setUpMs.next, () => void this.begin());
  }

  /** Begins the call, once, and not before its client is there. Never rejects: a call that cannot begin ends the session. */
  begin(): Promise<void> {
    this.#stopWaiting();
    return (this.#beginning ??= this.#entered
      .then(() => this.#begin())
      .catch((error: unknown) => {
        this.refuse(error);
        this.#over({ code: 1008, reason: toldOf(toServiceError(error)).message });
      }));
  }

  async #begin(): Promise<void> {
    const { session } = this.client;
    const { calls, log } = this.parts;
    if (this.#isGone) return this.#over('normal');
    calls.checkRoom();
    const { resumed } = this.client;
    if (!resumed) await session.begin(this.settings.overrides);
    const { input, output, turns } = this.settings;
    const { line } = this;
    const options = { format: lineOf(output), heard: lineOf(input), revised: this.#revised, line, resumed };
    // It speaks first: what asks for an answer meanwhile asks for that.
    if (!resumed && speaksFirst(session.config)) this.state = 'greeting';
    try {
      this.call = await calls.begin(session.id, options, this.#link());
    } catch (error) {
      await session.failed().catch((err: unknown) => log.warn({ err }, 'a session was not ended'));
      throw error;
    }
    if (resumed) this.#updates.amend(this.call, this.client.settings);
    else this.call.manual(turns === null);
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
      memory: this.#memory.share('audio'),
      speak: (audio, utterance) => this.answers.audio(audio, utterance),
      told: this.#news,
      close: () => {
        this.answers.cleared();
        this.#close(this.endedFor);
      },
    };
  }

  /** A call that ends and says nothing of it was lost here. */
  #close(reason: string | undefined): void {
    if (reason !== undefined) return this.#over({ code: 1000, reason });
    if (this.#closedWith !== undefined) return this.#over('normal');
    this.events.error(toldOf(LOST), null);
    this.#over('internal');
  }

  /** Another process, or this one again, may take it over. */
  #giveUp(): void {
    const { calls, log } = this.parts;
    const { id } = this.client.session;
    calls.giveUp(id).catch((err: unknown) => log.warn({ err, sessionId: id }, 'a session was not given up'));
  }

  #over(ending: Ending): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.client.resumed && !this.#beginning) this.#giveUp();
    this.#stopWaiting();
    this.#stopWaitingForReturn();
    this.#shut();
    this.#seats.close(ending);
    this.#memory.close();
  }

  gone(seat: Seat): void {
    if (seat !== this.#seats.client) return;
    this.#isGone = true;
    this.#stopWaiting();
  }

  closed(seat: Seat, code: number): void {
    this.#seats.left(seat);
    if (seat !== this.#seats.client) return;
    if (this.call && !CLOSED.has(code) && !this.byRtp && !this.#isOver) return this.#away(this.call);
    this.#closedWith = code;
    this.#end(code);
    if (!this.#beginning) this.#over('normal');
  }

  #end(code: number): void {
    if (CLOSED.has(code)) this.call?.hungUp();
    else this.call?.broken();
  }
}
