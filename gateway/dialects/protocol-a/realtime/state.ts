/** What the parts of one realtime session share. */
import type { RealtimeEvent } from '../../../../actors/realtime.js';
import type { InputAudio } from '../../../../actors/realtime-audio.js';
import type { Conversation } from '../../../../actors/realtime-conversation.js';
import type { ServiceError } from '../../../../contracts/errors.js';
import type { Caller } from '../../../../contracts/ports/identity.js';
import type { RequestTrace } from '../../../../contracts/ports/trace.js';
import type { NativeOptions } from '../../../../contracts/schemas/native-options.js';
import type { Socket } from '../../../server/port.js';
import type { ProtocolAParts } from '../routes.js';
import type { AudioShelf } from './audio-shelf.js';
import type { ClientEvent } from './client-events.js';
import type { Hearing } from './hearing.js';
import type { ServerEvents } from './server-events.js';
import type { Settings } from './settings.js';

/** What makes the ids of a session its own: `sess_<suffix>`, `conv_<suffix>`. */
export const suffixOf = (generationId: string): string => generationId.replace(/^gen-/, '');

/** What the handshake settled. */
export interface RealtimeClient {
  readonly caller: Caller;
  readonly generationId: string;
  readonly trace: RequestTrace;
  /** Out of the handshake's native option headers. */
  readonly options: NativeOptions;
  /** Whether there were such headers: they are for synthesis only (spec rule 6). */
  readonly hasOptionHeaders: boolean;
  readonly settings: Settings;
}

export interface SessionState {
  /** `sess_…`; what is behind the prefix makes all ids of the session its own. */
  readonly id: string;
  readonly conversationId: string;
  readonly client: RealtimeClient;
  readonly socket: Socket;
  readonly parts: ProtocolAParts;
  readonly shelf: AudioShelf;
  readonly events: ServerEvents;
  readonly conversation: Conversation;
  readonly input: InputAudio;
  readonly hearing: Hearing;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
  settings: Settings;
  /** Puts it before the actor. */
  decide(event: RealtimeEvent): void;
}

/** Answers one type of client event. Errors: `Fault`, `ServiceError`; nothing has changed then. */
export type Handler = (session: SessionState, event: ClientEvent) => void;

const FAILED = 500;

/** What operators should know of a job that failed: ids and codes only. */
export function logFailure({ client, parts }: SessionState, error: ServiceError, message: string): void {
  if (error.status < FAILED) return;
  parts.log.warn({ generationId: client.generationId, code: error.code, err: error.cause }, message);
}
