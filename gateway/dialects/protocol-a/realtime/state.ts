/** The state of one realtime session, shared by its parts. */
import type { RealtimeEvent } from '../../../../actors/realtime.js';
import type { IncomingAudio } from '../../../../actors/incoming-audio.js';
import type { ConversationItems } from '../../../../actors/realtime-items.js';
import type { ServiceError } from '../../../../contracts/errors.js';
import type { Caller } from '../../../../contracts/ports/accounts/identity.js';
import type { RequestTrace } from '../../../../contracts/ports/trace.js';
import type { NativeOptions } from '../../../../contracts/schemas/native-options.js';
import type { Socket } from '../../../server/port.js';
import type { ProtocolAParts } from '../parts.js';
import type { ItemAudioCache } from './item-audio-cache.js';
import type { RealtimeClientEvent } from './client-events.js';
import type { ServerEvents } from './server-events.js';
import type { Settings } from './settings.js';

/** The unique part of a session's ids: `sess_<suffix>`, `conv_<suffix>`. */
export const suffixOf = (generationId: string): string => generationId.replace(/^gen-/, '');

/** The client of a session, as read from the handshake. */
export interface RealtimeClient {
  readonly caller: Caller;
  readonly generationId: string;
  readonly trace: RequestTrace;
  /** From the handshake's native option headers. */
  readonly options: NativeOptions;
  /** Whether there were such headers, which are for synthesis only (rule 6). */
  readonly hasOptionHeaders: boolean;
  readonly settings: Settings;
}

export interface SessionState {
  /** `sess_…`; all ids of the session share the part after the prefix. */
  readonly id: string;
  readonly conversationId: string;
  readonly client: RealtimeClient;
  readonly socket: Socket;
  readonly parts: ProtocolAParts;
  readonly audioCache: ItemAudioCache;
  readonly events: ServerEvents;
  readonly conversation: ConversationItems;
  readonly input: IncomingAudio;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
  readonly settings: Settings;
  /** Sends the event to the machine, which decides at once. */
  decide(event: RealtimeEvent): void;
}

/** Reads and checks one type of client event, and lets the machine decide. Errors: `Fault`, with nothing changed. */
export type ClientEventHandler = (session: SessionState, event: RealtimeClientEvent) => void;

const FAILED = 500;

/** Logs a job that failed because of the service (500 and above): ids and codes only. */
export function logFailure({ client, parts }: SessionState, error: ServiceError, message: string): void {
  if (error.status < FAILED) return;
  parts.log.warn({ generationId: client.generationId, code: error.code, err: error.cause }, message);
}
