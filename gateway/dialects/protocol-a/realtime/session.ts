/**
 * The host of one realtime socket: performs the effects of its machine (actors/realtime.ts).
 *
 * Invariants: appends go straight into the input buffer and audio straight to the socket; a commit takes the audio
 * before its event reaches the machine; a faulty frame gets one error event, and the socket stays open; nothing runs
 * or is held once the socket is closed.
 */
import { realtime, type RealtimeEvent, type ToldError } from '../../../../actors/realtime.js';
import { IncomingAudio } from '../../../../actors/incoming-audio.js';
import { ConversationItems } from '../../../../actors/realtime-items.js';
import { performing, runOnDemand, type RunningMachine } from '../../../../actors/run.js';
import { endingFor } from '../../../../contracts/close-codes.js';
import { ServiceError, toServiceError } from '../../../../contracts/errors.js';
import { memoryExhausted } from '../../../../contracts/ports/accounts/memory.js';
import { type SocketFrame, FrameQueue, LongText } from '../../../server/frames/frame-queue.js';
import type { Socket, SocketEvents } from '../../../server/port.js';
import type { PlainObject } from '../../../../contracts/schemas/plain-object.js';
import type { ProtocolAParts } from '../parts.js';
import type { ItemAudioCache } from './item-audio-cache.js';
import {
  APPEND,
  appendedAudio,
  type RealtimeClientEvent,
  clientEvent,
  eventIdOf,
  readFields,
} from './client-events.js';
import { EFFECTS, Performers } from './effects.js';
import { Fault, FAULTS, toldOf } from './faults.js';
import { append, clear, commit } from './input-events.js';
import { create, remove, retrieve, truncate } from './item-events.js';
import { ServerEvents } from './server-events.js';
import { cancel, createdFields, expiryFrom, respond, sessionFields, update } from './session-events.js';
import type { Settings } from './settings.js';
import {
  type ClientEventHandler,
  logFailure,
  type RealtimeClient,
  type SessionState,
  suffixOf,
} from './state.js';
import { checkVoice } from './voice-check.js';

const HANDLERS: ReadonlyMap<string, ClientEventHandler> = new Map([
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

const TOO_MANY_FRAMES = 'Too much came before an earlier event was read or answered; this one was dropped';

/** What a frame was: fields, or undefined for an append whose audio is in the buffer already. */
type Read = PlainObject | undefined;

interface Work {
  readonly frames: FrameQueue<Read>;
  readonly input: IncomingAudio;
  readonly conversation: ConversationItems;
  readonly machine: RunningMachine<RealtimeEvent>;
}

export class RealtimeSession implements SocketEvents, SessionState {
  readonly id: string;
  readonly expiresAt: number;
  readonly events: ServerEvents;
  settings: Settings;
  /** What only a client that sends something needs: many sockets stay silent for long. */
  #work: Work | undefined;
  /** Set while new settings wait for their voice; frames wait meanwhile. Never rejects. */
  #voiceSearch: Promise<void> | undefined;

  constructor(
    readonly socket: Socket,
    readonly client: RealtimeClient,
    readonly parts: ProtocolAParts,
    readonly audioCache: ItemAudioCache,
    private readonly ended: () => void,
  ) {
    const suffix = suffixOf(client.generationId);
    this.id = `sess_${suffix}`;
    this.expiresAt = expiryFrom(parts.clock.now());
    this.settings = client.settings;
    this.events = new ServerEvents(socket, suffix);
    socket.chargeTo(client.caller.workspaceId);
    this.events.sendText('session.created', createdFields(this));
  }

  get conversationId(): string {
    return `conv_${suffixOf(this.client.generationId)}`;
  }

  get conversation(): ConversationItems {
    return this.#begun.conversation;
  }

  get input(): IncomingAudio {
    return this.#begun.input;
  }

  get #begun(): Work {
    return (this.#work ??= this.#begin());
  }

  #begin(): Work {
    const { socket, audioCache, id, parts } = this;
    const frames = new FrameQueue<Read>(socket, {
      read: (frame) => this.#read(frame),
      take: (fields) => {
        if (fields) this.#take(fields);
        return this.#voiceSearch;
      },
      failed: (error) => this.#refuse(error),
      full: () => this.#refuse(new Fault('conversation_too_large', TOO_MANY_FRAMES)),
      exhausted: () => this.#refuse(memoryExhausted()),
    });
    audioCache.open(
      id,
      socket.memory('audio', () => audioCache.forget(id)),
    );
    const effects = () => performing(EFFECTS, new Performers(this));
    return {
      frames,
      input: new IncomingAudio(socket.memory('audio')),
      conversation: new ConversationItems((item) => audioCache.drop(id, item), socket.memory('text')),
      machine: runOnDemand(realtime, undefined, parts.clock, effects, 'gone'),
    };
  }

  readonly decide = (event: RealtimeEvent): void => this.#begun.machine.send(event);

  apply(settings: Settings): void {
    this.settings = settings;
    this.events.send('session.updated', sessionFields(this));
  }

  findVoice(settings: Settings, eventId: string | null): void {
    this.#voiceSearch = this.#searchVoice(settings, eventId);
  }

  message(frame: string | Uint8Array): void {
    this.#begun.frames.push(frame);
  }

  longText(bytes: Buffer): void {
    this.#begun.frames.push(new LongText(bytes));
  }

  mustEnd(error: ServiceError): void {
    this.#refuse(error);
    this.socket.close(endingFor(error.code));
  }

  gone(): void {
    if (!this.#work) return;
    const { machine, frames, input } = this.#work;
    machine.send({ type: 'gone' });
    frames.clear();
    input.drop();
    this.audioCache.close(this.id);
  }

  closed(): void {
    this.ended();
  }

  #refuse(error: unknown, eventId: string | null = null): void {
    this.events.error(toldOf(error), eventId);
  }

  #read(frame: SocketFrame): Read | Promise<Read> {
    if (typeof frame === 'string' && this.#takesAudio(frame)) return undefined;
    return readFields(frame);
  }

  #take(fields: PlainObject): void {
    try {
      this.#handle(clientEvent(fields));
    } catch (error) {
      this.#refuse(error, eventIdOf(fields));
    }
  }

  async #searchVoice(settings: Settings, eventId: string | null): Promise<void> {
    const found = await checkVoice(settings, this.client.caller, this.parts).then(
      (): RealtimeEvent => ({ type: 'voiceFound', settings, eventId }),
      (error: unknown): RealtimeEvent => ({ type: 'voiceRefused', error: this.#toldFailure(error), eventId }),
    );
    this.#voiceSearch = undefined;
    this.decide(found);
  }

  #toldFailure(error: unknown): ToldError {
    const known = error instanceof Fault ? error : toServiceError(error);
    if (known instanceof ServiceError) logFailure(this, known, 'a realtime event could not be answered');
    return toldOf(known);
  }

  /** Whether the frame was a valid append, whose audio is now in the buffer. */
  #takesAudio(frame: string): boolean {
    const audio = appendedAudio(frame);
    return audio !== undefined && this.input.append(audio, this.conversation.audioBudget) === 'taken';
  }

  #handle(event: RealtimeClientEvent): void {
    const handle = HANDLERS.get(event.type);
    if (!handle) {
      const message = `${FAULTS.unknown_event_type}: ${event.type.slice(0, 64)}`;
      throw new Fault('unknown_event_type', message, 'type');
    }
    handle(this, event);
  }
}
