/**
 * The host of one realtime socket: performs what its actor decides (actors/realtime.ts).
 *
 * Invariants: appends go straight into the input buffer and audio straight to the socket; a commit takes the audio
 * before its event reaches the actor; one event a frame that is at fault, and the socket stays open; nothing runs
 * or is held any more once the socket is closed.
 */
import { type Actor, createActor } from 'xstate';
import { actorClock } from '../../../../actors/clock.js';
import { realtime, type RealtimeEffect, type RealtimeEvent } from '../../../../actors/realtime.js';
import { InputAudio } from '../../../../actors/realtime-audio.js';
import { Conversation } from '../../../../actors/realtime-conversation.js';
import { ServiceError } from '../../../../contracts/errors.js';
import type { Socket, SocketEvents } from '../../../server/port.js';
import type { ProtocolAParts } from '../routes.js';
import type { AudioShelf } from './audio-shelf.js';
import { APPEND, appendedAudio, type ClientEvent, readClientEvent } from './client-events.js';
import { Fault, FAULTS, toldError, toldFault, type ToldError } from './faults.js';
import { Hearing } from './hearing.js';
import { append, clear, commit } from './input-events.js';
import { create, remove, retrieve, truncate } from './item-events.js';
import { ServerEvents } from './server-events.js';
import { cancel, expiryFrom, respond, sessionFields, update } from './session-events.js';
import type { Settings } from './settings.js';
import { Speaking } from './speaking.js';
import { type Handler, type RealtimeClient, type SessionState, suffixOf } from './state.js';

const HANDLERS: ReadonlyMap<string, Handler> = new Map([
  [APPEND, append],
  ['input_audio_buffer.commit', commit],
  ['input_audio_buffer.clear', clear],
  ['conversation.item.create', create],
  ['conversation.item.retrieve', retrieve],
  ['conversation.item.delete', remove],
  ['conversation.item.truncate', truncate],
  ['response.create', respond],
  ['response.cancel', cancel],
  ['session.update', update],
]);

type Effects = {
  readonly [Type in RealtimeEffect['type']]: (
    session: RealtimeSession,
    effect: Extract<RealtimeEffect, { readonly type: Type }>,
  ) => void;
};

const EFFECTS: Effects = {
  begin: ({ speaking }, { order }) => speaking.begin(order),
  stop: ({ speaking }) => speaking.stop(),
  finish: ({ speaking }, { ending }) => speaking.finish(ending),
  refuse: ({ events }, { code, eventId }) => events.error(toldFault(new Fault(code)), eventId),
  listen: ({ hearing }, { item }) => hearing.listen(item),
  leave: ({ hearing }, { item }) => hearing.leave(item),
  transcribed: ({ hearing }, { item, transcript }) => hearing.completed(item, transcript),
  untranscribed: ({ hearing }, { item, error }) => hearing.failed(item, error),
};

/** Errors: anything that is not for clients. */
export function toldOf(error: unknown): ToldError {
  if (error instanceof Fault) return toldFault(error);
  if (error instanceof ServiceError) return toldError(error);
  throw error;
}

export class RealtimeSession implements SocketEvents, SessionState {
  readonly id: string;
  readonly conversationId: string;
  readonly expiresAt: number;
  readonly events: ServerEvents;
  readonly conversation: Conversation;
  readonly input = new InputAudio();
  readonly hearing: Hearing = new Hearing(this);
  readonly speaking: Speaking = new Speaking(this);
  settings: Settings;
  readonly #actor: Actor<typeof realtime>;

  constructor(
    readonly socket: Socket,
    readonly client: RealtimeClient,
    readonly parts: ProtocolAParts,
    readonly shelf: AudioShelf,
    private readonly ended: () => void,
  ) {
    const suffix = suffixOf(client.generationId);
    this.id = `sess_${suffix}`;
    this.conversationId = `conv_${suffix}`;
    this.expiresAt = expiryFrom(parts.clock.now());
    this.settings = client.settings;
    this.events = new ServerEvents(socket, suffix);
    this.conversation = new Conversation((item) => shelf.drop(this.id, item));
    this.#actor = createActor(realtime, { clock: actorClock(parts.clock) });
    this.#actor.on('*', (effect) =>
      (EFFECTS[effect.type] as (session: this, effect: RealtimeEffect) => void)(this, effect),
    );
    this.#actor.start();
    socket.signal.addEventListener('abort', () => this.decide({ type: 'gone' }), { once: true });
    this.events.send('session.created', sessionFields(this));
  }

  readonly decide = (event: RealtimeEvent): void => this.#actor.send(event);

  message(frame: string | Uint8Array): void {
    if (typeof frame === 'string' && this.#takesAudio(frame)) return;
    let eventId: string | null = null;
    try {
      const event = readClientEvent(frame);
      eventId = event.eventId;
      this.#handle(event);
    } catch (error) {
      this.events.error(toldOf(error), eventId);
    }
  }

  closed(): void {
    this.decide({ type: 'gone' });
    for (const item of this.conversation.ids) this.shelf.drop(this.id, item);
    this.ended();
  }

  /** Whether the frame was an append without fault. */
  #takesAudio(frame: string): boolean {
    const audio = appendedAudio(frame);
    return audio !== undefined && this.input.append(audio, this.conversation.audioBudget) === 'taken';
  }

  #handle(event: ClientEvent): void {
    const handle = HANDLERS.get(event.type);
    if (!handle) {
      const message = `${FAULTS.unknown_event_type}: ${event.type.slice(0, 64)}`;
      throw new Fault('unknown_event_type', message, 'type');
    }
    handle(this, event);
  }
}
