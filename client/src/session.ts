/**
 * One conversation with an agent, from the user's side (docs/contract/platform.md 6.6, 6.9). A session is started once and
 * ends once, whoever ends it; later events change nothing.
 *
 * `end()`, the gateway, a lost connection and a failed start all lead to `#finish`, which releases the room and the sound.
 */
import { AgentPresence } from './agent.js';
import { type Handled, RELAYED } from './agent-events.js';
import { asSessionError, SessionError, type SessionErrorCode } from './errors.js';
import { Emitter, type EndReason, type Mode, type SessionEvents, type Status } from './events.js';
import {
  type Place,
  placeOf,
  type PublicAgent,
  requestSession,
  type SessionRequest,
  type SessionResponse,
} from './place.js';
import { type AgentEvents, type ClientEvent, encodeEvent, readAgentEvent, TOPICS } from './protocol.js';
import { type Endpoint, listen, type Room, type Sound, type SoundOptions } from './room.js';
import { type ClientTools, runTool } from './tools.js';
import { Transcripts } from './transcripts.js';

export type SessionOptions = SoundOptions & {
  /** Client tools by the names that the agent's configuration gives them. */
  readonly tools?: ClientTools;
  /** Outside of browsers: a room of `@livekit/rtc-node`; the application speaks and listens through its tracks. */
  readonly room?: Room;
} & Source;

/** A server's answer; a function that asks for it, called once the microphone is open; or the public agent to ask for. */
type Source = { readonly session: SessionResponse | SessionRequest } | { readonly agent: PublicAgent };

/** How long the gateway may take to hang up by itself. */
const HANG_UP_MS = 1000;

/** LiveKit's reasons (`DisconnectReason`) for a user who was removed and a room that was deleted. */
const CLOSED: readonly (number | undefined)[] = [4, 5];

const END_REASONS: readonly string[] = [
  'user_hangup',
  'agent_hangup',
  'conversation_timeout',
  'escalated',
] satisfies EndReason[];

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

type Handlers = { readonly [Type in Handled]: (event: AgentEvents[Type]) => void };

export class AgentSession {
  readonly #events = new Emitter<SessionEvents>();
  readonly #transcripts = new Transcripts(this.#events);
  readonly #over = new AbortController();
  #endpoint: Endpoint | undefined;
  #presence: AgentPresence | undefined;
  #place: Place | undefined;
  #begun = false;
  #joined = false;
  #ending: EndReason | undefined;
  #unwatch = (): void => undefined;
  #status: Status = 'disconnected';
  #mode: Mode = 'listening';
  #muted: boolean;

  constructor(private readonly options: SessionOptions) {
    this.#muted = options.microphone === false;
  }

  get status(): Status {
    return this.#status;
  }

  /** Whether the agent listens, thinks or speaks. */
  get mode(): Mode {
    return this.#mode;
  }

  get muted(): boolean {
    return this.#muted;
  }

  /** The session's id, once the session is made; undefined if the response did not contain it. */
  get sessionId(): string | undefined {
    return this.#place?.sessionId;
  }

  /** LiveKit's own room, for everything that this class does not do. */
  get room(): Room | undefined {
    return this.#endpoint?.room;
  }

  /** How loud the user is now, from 0 to 1; 0 if the application passed a room. */
  get inputVolume(): number {
    return this.#endpoint?.sound?.inputVolume ?? 0;
  }

  /** How loud the agent is now, from 0 to 1. */
  get outputVolume(): number {
    return this.#endpoint?.sound?.outputVolume ?? 0;
  }

  /** Returns a function that removes the listener. */
  on<Name extends keyof SessionEvents>(
    name: Name,
    listener: (event: SessionEvents[Name]) => void,
  ): () => void {
    return this.#events.on(name, listener);
  }

  /**
   * Joins, and resolves when the agent is there. In a browser, call it out of a click: sound needs one.
   * Errors: a SessionError, which listeners of `error` get as well. A start that `end()` or the agent cuts short is no
   * failure: it only rejects, with `connection_failed`.
   */
  async start(): Promise<void> {
    if (this.#begun)
      throw this.#tell(new SessionError('connection_failed', { message: 'A session starts only once' }));
    this.#begun = true;
    this.#setStatus('connecting');
    try {
      await this.#join();
      // Joining emits `modeChange`, and a listener may have ended the session.
      this.#over.signal.throwIfAborted();
    } catch (cause) {
      throw this.#failed(cause);
    }
    this.#joined = true;
    if (this.#events.hears('userTranscript')) this.#post({ type: 'captions.live' });
    this.#setStatus('connected');
    this.#events.emit('connect', { sessionId: this.sessionId });
  }

  async #join(): Promise<void> {
    const { signal } = this.#over;
    const { room, sound } = await this.#open();
    this.#endpoint = { room, ...(sound && { sound }) };
    // An `end()` in the meantime found nothing to close.
    if (signal.aborted) sound?.close();
    signal.throwIfAborted();
    // Asks for the microphone first, so that no session is spent on a user who refuses it.
    await Promise.race([sound?.open(), aborted(signal)]);
    signal.throwIfAborted();
    this.#place = await Promise.race([this.#find(), aborted(signal)]);
    signal.throwIfAborted();
    this.#watch(room);
    await this.#enter(room, this.#place);
    signal.throwIfAborted();
    await sound?.start();
    await this.#presence?.arrival(signal);
  }

  /** Only a session that cannot be joined counts as expired: clocks of users are often minutes ahead. */
  async #enter(room: Room, place: Place): Promise<void> {
    try {
      await room.connect(place.url, place.token);
    } catch (cause) {
      throw place.isExpired() ? new SessionError('session_expired', { cause }) : cause;
    }
  }

  async #open(): Promise<Endpoint> {
    const { options } = this;
    if (options.room) return { room: options.room };
    if (typeof AudioContext === 'undefined')
      throw new SessionError('connection_failed', {
        message: 'There is no sound outside of browsers: pass a room',
      });
    return (await import('./browser.js')).openBrowser(options, {
      error: (error) => this.#tell(error),
      lost: (error) => this.#lost(error),
    });
  }

  async #find(): Promise<Place> {
    const { options } = this;
    const { signal } = this.#over;
    if (!('session' in options)) return placeOf(await requestSession(options.agent, signal));
    const { session } = options;
    if (typeof session !== 'function') return placeOf(session);
    try {
      return placeOf(await session(signal));
    } catch (cause) {
      throw asSessionError('session_request_failed', cause);
    }
  }

  #failed(cause: unknown): SessionError {
    const ended = this.#over.signal.aborted && this.#ending !== undefined;
    if (ended) {
      // Leaves again: rooms of rtc-node cannot be left before they are joined.
      this.#leave();
      return new SessionError('connection_failed', { message: 'The session was ended', cause });
    }
    const error = asSessionError('connection_failed', cause);
    this.#finish('connection_lost');
    this.#events.emit('error', error);
    return error;
  }

  #watch(room: Room): void {
    this.#presence = new AgentPresence(room, {
      mode: (mode) => this.#setMode(mode),
      left: () => this.#status === 'connected' && this.#finish(this.#ending ?? 'agent_hangup'),
    });
    room.registerTextStreamHandler(TOPICS.transcription, (reader, { identity }) => {
      void this.#transcripts.read(reader, identity === room.localParticipant?.identity);
    });
    this.#unwatch = () => room.unregisterTextStreamHandler(TOPICS.transcription);
    listen(room, 'dataReceived', (payload, _from, _kind, topic) => {
      if (topic === TOPICS.fromAgent) this.#receive(payload);
    });
    for (const name of ['signalReconnecting', 'reconnecting'] as const)
      listen(room, name, () => this.#joined && this.#setStatus('reconnecting'));
    listen(room, 'reconnected', () => this.#joined && this.#setStatus('connected'));
    listen(room, 'disconnected', (reason) =>
      this.#finish(this.#ending ?? (CLOSED.includes(reason) ? 'agent_hangup' : 'connection_lost')),
    );
  }

  #receive(payload: Uint8Array): void {
    const event = this.#over.signal.aborted ? undefined : readAgentEvent(payload);
    if (!event) return;
    const { type } = event;
    if (Object.hasOwn(this.#handlers, type))
      (this.#handlers[type as Handled] as (event: object) => void)(event);
    else if (Object.hasOwn(RELAYED, type)) {
      const [name, told] = (RELAYED[type as keyof typeof RELAYED] as (event: object) => [never, never])(
        event,
      );
      this.#events.emit(name, told);
    }
  }

  readonly #handlers: Handlers = {
    'client_tool.call': (call) => void this.#run(call),
    error: ({ code }) => this.#tell(new SessionError(code === 'provider_error' ? code : 'internal_error')),
    'session.ended': ({ reason }) =>
      void (this.#ending ??= END_REASONS.includes(reason) ? (reason as EndReason) : 'agent_hangup'),
  };

  async #run(call: AgentEvents['client_tool.call']): Promise<void> {
    const answer = await runTool(this.options.tools ?? {}, call, (error) => this.#tell(error));
    // Agents may call before `start` has resolved: while the microphone is being asked for.
    if (answer) this.#post(answer);
  }

  /**
   * Sends a typed message; with `audio: false` the answer is text only. Resolves when it is sent.
   * Errors: `connection_failed`.
   */
  async sendText(text: string, { audio = true }: { readonly audio?: boolean } = {}): Promise<void> {
    await this.#send({ type: 'user.message', text, ...(!audio && { audio }) });
    this.#events.emit('message', { role: 'user', text });
  }

  /** Reports that the user does something (types, scrolls), so that the agent does not ask whether anybody is there. */
  activity(): void {
    this.#post({ type: 'user.activity' });
  }

  /** Makes the agent fall silent, as if the user had interrupted it. */
  interrupt(): void {
    this.#post({ type: 'user.interrupt' });
  }

  async #send(event: ClientEvent): Promise<void> {
    const user = this.#endpoint?.room.localParticipant;
    const mayBeEarly = event.type === 'client_tool.result';
    if (!(this.#joined || mayBeEarly) || this.#over.signal.aborted || !user)
      throw new SessionError('connection_failed', { message: 'The session is not connected' });
    try {
      await user.publishData(encodeEvent(event), { reliable: true, topic: TOPICS.toAgent });
    } catch (cause) {
      throw asSessionError('connection_failed', cause);
    }
  }

  /** Sends an event without waiting: dropped once the session has ended; a failure is emitted as an error. */
  #post(event: ClientEvent): void {
    if (this.#over.signal.aborted) return;
    this.#send(event).catch((error: unknown) => this.#tell(asSessionError('connection_failed', error)));
  }

  /** The browser has muted the user: the permission was taken back, or the device was unplugged. */
  #lost(error: SessionError): void {
    this.#muted = true;
    this.#tell(error);
  }

  /** Errors: `device_change_failed`; `mic_permission_denied` if the microphone has to be asked for. */
  async setMuted(muted: boolean): Promise<void> {
    await this.#onSound('device_change_failed', (sound) => sound.setMuted(muted));
    this.#muted = muted;
  }

  /** Changes the microphone, or chooses it before the first `setMuted(false)`. Errors: `device_change_failed`. */
  useMicrophone(deviceId: string): Promise<void> {
    return this.#onSound('device_change_failed', (sound) => sound.useMicrophone(deviceId));
  }

  /** Errors: `device_change_failed`. */
  useSpeaker(deviceId: string): Promise<void> {
    return this.#onSound('device_change_failed', (sound) => sound.useSpeaker(deviceId));
  }

  async #onSound(code: SessionErrorCode, change: (sound: Sound) => Promise<void>): Promise<void> {
    try {
      const isOn = this.#joined && !this.#over.signal.aborted;
      if (!isOn) throw new SessionError(code, { message: 'The session is not connected' });
      const sound = this.#endpoint?.sound;
      if (!sound) throw new SessionError(code, { message: 'This session has no sound of its own' });
      await change(sound);
    } catch (cause) {
      throw this.#tell(asSessionError(code, cause));
    }
  }

  /** Hangs up. Resolves when the session has ended. Idempotent. */
  async end(): Promise<void> {
    if (!this.#begun || this.#over.signal.aborted) return;
    this.#ending ??= 'user_hangup';
    if (this.#joined) {
      await this.#send({ type: 'user.hangup' }).catch(() => undefined);
      await this.#overWithin(HANG_UP_MS);
    }
    this.#finish(this.#ending);
  }

  #overWithin(ms: number): Promise<void> {
    const { signal } = this.#over;
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const timer = setTimeout(resolve, ms);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Idempotent. */
  #finish(reason: EndReason): void {
    if (this.#over.signal.aborted) return;
    this.#over.abort(new SessionError('connection_failed', { message: 'The connection was lost' }));
    this.#presence?.close();
    this.#endpoint?.sound?.close();
    // The application may use its own room again, for another session.
    this.#unwatch();
    this.#leave();
    this.#transcripts.close();
    this.#setStatus('disconnected');
    if (this.#joined) this.#events.emit('disconnect', { reason });
  }

  #leave(): void {
    // A room that cannot be left has gone already.
    this.#endpoint?.room.disconnect().catch(() => undefined);
  }

  #tell(error: SessionError): SessionError {
    this.#events.emit('error', error);
    return error;
  }

  #setStatus(status: Status): void {
    if (status === this.#status || (status !== 'disconnected' && this.#over.signal.aborted)) return;
    this.#status = status;
    this.#events.emit('statusChange', { status });
  }

  #setMode(mode: Mode): void {
    if (mode === this.#mode) return;
    this.#mode = mode;
    this.#events.emit('modeChange', { mode });
  }
}
