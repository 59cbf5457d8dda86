/**
 * The media of one conversation between a user and an agent, over any transport (docs/contract/transport.md). The
 * gateway sees speech, playout and messages; 20 ms frames, codecs and connections stay behind this port. PCM is
 * 16-bit mono.
 */
import type { MemoryShare } from '../accounts/memory.js';
import type { RecordingBegan } from '../sessions/recordings.js';
import type { AgentChanges } from './agent-changes.js';
import type { NodeFigures } from './nodes.js';

/** A client's signalling connection, for sending. */
export interface SignalLink {
  /** Charged for the client's frames that wait. */
  readonly memory: MemoryShare;
  /** A frame for the client; dropped once the connection is closed. */
  send(frame: Uint8Array | string): void;
  close(): void;
}

/** A client's signalling connection, for receiving. */
export interface SignalEnd {
  receive(frame: Uint8Array | string): void;
  /** The client's connection has gone. Called once. */
  closed(): void;
}

export interface SignalConnect {
  /** `/rtc/v1` (one peer connection) or `/rtc` (two). */
  readonly version: 1 | 0;
  /** The query of the upgrade request, which carries parameters of the version. */
  readonly query: URLSearchParams;
  /** The client's address if it is certain and private; otherwise empty. */
  readonly from: string;
}

/** Identities of the participants of a session. */
export const IDENTITIES = { user: 'user', agent: 'agent' } as const;

export interface CallOptions extends CarriedCall {
  readonly workspaceId: string;
  /** Nobody hears it: it is batch work. */
  readonly isTest?: true;
}

/** What a worker is told of a call. */
export interface CarriedCall {
  readonly sessionId: string;
  readonly user: { readonly identity: string; readonly name: string };
  readonly agent: { readonly identity: string; readonly name: string };
  /** Whether both sides are recorded. */
  readonly record: boolean;
  /** Part of the session's recording; absent: the first. */
  readonly part?: number | undefined;
}

/** Audio format of a phone line; mono. `linear`: 16-bit, little-endian. */
export interface LineFormat {
  readonly codec: 'mulaw' | 'alaw' | 'linear';
  /** Hz */
  readonly rate: number;
  /** Frames of 20 ms per message we send; default 1. */
  readonly frames?: number;
  /** Frames of an utterance that are sent before they are due; default 2. */
  readonly ahead?: number;
  /** The provider does not report playback (it has no marks). */
  readonly silent?: true;
}

export interface PhoneOptions extends CallOptions {
  readonly format: LineFormat;
  /** Format of the caller's audio, if it is another one. */
  readonly heard?: LineFormat;
  /** The caller's audio comes no faster than it may be heard: all of it is heard. */
  readonly isPaced?: true;
}

export interface JoinableOptions extends CallOptions {
  /** A token for later connections of the same user, sent right after each join. */
  rotatedToken(): Promise<string>;
}

export type CallEvent =
  /** The user's media is connected; the first time, and after each drop. */
  | { readonly kind: 'connected' }
  /** The user's media has dropped; the call continues until somebody ends it. */
  | { readonly kind: 'disconnected' }
  /** The client announced that it leaves. */
  | { readonly kind: 'left' }
  /**
   * Voice activity. A muted or lost microphone counts as silence. `background`: a speaker much quieter than the user; if the
   * same voice is reported active again without it, it was the user's from its beginning. `silentMs`: length of the silence
   * when the end is reported. `at`: milliseconds of the user's audio up to there, by its samples.
   */
  | {
      readonly kind: 'speech';
      readonly active: boolean;
      readonly background?: boolean;
      readonly silentMs?: number;
      readonly at?: number;
      /** At its end: the client says that the user's turn is over, however it sounds. */
      readonly over?: true;
    }
  /** A short pause has begun (`active`): 0.1 s of silence, which may be the end of the user's voice; or the voice continues. An end of speech ends the short pause too. */
  | { readonly kind: 'shortPause'; readonly active: boolean }
  /**
   * Speech at 16 kHz in windows of 100 to 300 ms, from shortly before voice activity began until it ended.
   */
  | { readonly kind: 'audio'; readonly samples: Int16Array }
  /** How much of an utterance has been sent to the user; at least every 200 ms, and when it ends or is cleared. */
  | { readonly kind: 'played'; readonly utterance: number; readonly ms: number; readonly ended: boolean }
  /** A message of the client. `tooLong`: it was longer than a message may be, and its payload is left out. */
  | {
      readonly kind: 'data';
      readonly topic: string;
      readonly payload: Uint8Array;
      readonly tooLong?: boolean;
    }
  /** A text that the client brings into the conversation. It asks for no answer by itself. */
  | { readonly kind: 'item'; readonly role: 'user' | 'assistant' | 'system'; readonly text: string }
  /** The client wants an answer, to what it has typed or to all that was said. */
  | { readonly kind: 'answer'; readonly text: string }
  /** The client's instructions for the next answer alone. */
  | { readonly kind: 'instructions'; readonly text: string }
  /** The client changes what the agent does in this call. */
  | { readonly kind: 'amended'; readonly changes: AgentChanges }
  /** The client says how much was heard of an utterance that was cleared; only in calls that are `correctable`. */
  | { readonly kind: 'heard'; readonly utterance: number; readonly ms: number };

/** A caption of one side, shown as it is spoken (docs/contract/platform.md 6.9, `lk.transcription`). */
export interface TranscriptText {
  readonly speaker: 'user' | 'agent';
  readonly segment: string;
  /** Agent: the new text. User: the whole segment so far, replacing the previous caption. */
  readonly text: string;
  readonly final: boolean;
}

/** Counts of the agent's audio frames in one call. */
export interface FrameCounts {
  readonly sent: number;
  /** Frames sent at least one frame late. */
  readonly late: number;
  /** Frames skipped while it spoke. */
  readonly lost: number;
}

/** Observes calls, beside their events. */
export interface CallObserver {
  /** A recording has begun. */
  readonly recorded: RecordingBegan;
  /** A call has ended. */
  counted?(frames: FrameCounts): void;
}

export interface Call {
  /** Whether its client may say, shortly after speech was cleared, how much of it was heard (`heard`). */
  readonly correctable?: boolean;
  /** In order; ends when the call has ended. Errors: `engine_lost` when the media worker died. */
  readonly events: AsyncIterable<CallEvent>;
  /** Queues speech of an utterance at 24 kHz. Resolves when more is wanted. */
  playSpeech(utterance: number, samples: Int16Array): Promise<void>;
  /** Ends the utterance; `played` with `ended` follows once it has been heard. */
  finishUtterance(utterance: number): void;
  /** Stops playing within a frame or two and keeps the queue; `resume` continues at the same frame. */
  pauseSpeech(): void;
  resumeSpeech(): void;
  /** Drops the queue, with `played` and `ended` for each utterance. */
  clearSpeech(): void;
  sendData(topic: string, payload: Uint8Array): void;
  showTranscript(text: TranscriptText): void;
  /** For calls whose client is told it: more of what an utterance says, before or while it is heard; a part is whole once it comes. */
  wrote?(utterance: number, text: string): void;
  /** Sets attributes of the agent's participant. */
  setAttributes(values: Readonly<Record<string, string>>): void;
  /** Tells the client and closes everything. Idempotent. */
  end(): void;
}

/** A call whose signalling passes through the gateway. */
export interface JoinableCall extends Call {
  /** One connection of the client; a later one replaces it. */
  connect(how: SignalConnect, link: SignalLink): SignalEnd;
}

/** Embedded mode: the gateway is the server that clients join. */
export interface JoinableCalls {
  /** Never blocks; nothing is sent before a client connects. */
  openCall(options: JoinableOptions): JoinableCall;
}

/** The provider's side of a phone line. Nothing is called after `close`. */
export interface PhoneLink {
  /** Charged for the caller's audio that waits. */
  readonly memory: MemoryShare;
  /**
   * Audio for the caller: 20 ms, or a longer piece that the provider queues. `utterance`: what it is of; undefined for tones, and for
   * what follows speech: silence, or a soft end.
   */
  speak(audio: Uint8Array, utterance?: number): void;
  /** Asks for `PhoneCall.marked` once everything before it has been heard. */
  mark(mark: number): void;
  /** Drops audio that was sent but not heard yet. */
  clearAudio(): void;
  /** Called once, when the call has ended. */
  close(): void;
}

/** A call over a telephone provider's media stream. */
export interface PhoneCall extends Call {
  /**
   * Audio of the caller in the line's format. `order`: its sequence number, if the provider sends one. False if the worker has enough to
   * read, or there is no memory for it: nothing of it is kept then.
   */
  hear(audio: Uint8Array, order?: number): boolean;
  marked(mark: number): void;
  /** A client message on behalf of the caller. */
  told(topic: string, payload: Uint8Array): void;
  /** Sends keys (0-9, *, #, and w for a pause) as tones between utterances. Resolves when they were sent, or the call has ended. */
  press(keys: string): Promise<void>;
  /** Whether the caller is on hold, and hears hold sound between utterances. */
  hold(on: boolean): void;
  /** The caller has hung up. */
  hungUp(): void;
}

export interface PhoneMedia {
  /** Never blocks; the caller is connected from the beginning. */
  openPhoneCall(options: PhoneOptions, link: PhoneLink): PhoneCall;
}

export interface RoomOptions extends CallOptions {
  /** Default: named after the session. */
  readonly room?: string;
  /** Whether its user is the telephone participant, and nobody else. */
  readonly phone?: boolean;
}

/** A call in a room of an external LiveKit server. */
export interface RoomCall extends Call {
  /**
   * Resolves once the room exists and the agent is in it, with its track. Errors: `engine_busy` if no process has a place
   * for it, `engine_lost`, `transport_failed` if the cluster does not answer or refuses.
   */
  readonly ready: Promise<void>;
  /** As of a `PhoneCall`. */
  told(topic: string, payload: Uint8Array): void;
  press(keys: string): Promise<void>;
}

/** Address and token with which an agent joins a room. */
export interface RoomEntry {
  readonly url: string;
  readonly token: string;
}

export interface RoomOpening {
  /** The cluster's own; absent: we make a token, and the room if it does not exist. */
  readonly entry?: RoomEntry;
  /** Whether the room outlives this agent because its call continues elsewhere. `broke`: the call was not ended by anybody. */
  stays?(broke: boolean): boolean;
  /** The user has pressed a key of the telephone. */
  key?(key: string): void;
  /** The user's line broke without a hang-up. */
  cut?(): void;
  /** While the user's media is lost: whether the server answers. True again once the user is back. */
  reachable?(is: boolean): void;
}

/** A job offered by a cluster: a room wants an agent. */
export interface OfferedJob {
  readonly id: string;
  readonly room: string;
  /** The metadata of its dispatch. */
  readonly metadata: string;
}

/** Handles the jobs that a cluster gives to this process. */
export interface AgentWork {
  /** The participant that will join; undefined refuses the job. */
  offered(job: OfferedJob): CallOptions['agent'] | undefined;
  /** Carries out an accepted job. Resolves when it is done. */
  assigned(job: OfferedJob, entry: RoomEntry): Promise<void>;
  figures(): Pick<NodeFigures, 'calls' | 'draining' | 'load'> & { readonly places: number };
}

/** Livekit mode: agents join rooms on an existing cluster. */
export interface RoomCalls {
  /** Makes the room, open for its first user until `joinBy`, and asks the cluster for an agent. Errors: `transport_failed`. */
  dispatchAgent(sessionId: string, metadata: string, joinBy: Date): Promise<void>;
  /**
   * Sends the agent in. The room goes when the call ends, unless it stays.
   */
  openRoomCall(options: RoomOptions, joinBy: Date, how?: RoomOpening): RoomCall;
  /** Ends a room that nobody holds any more; none is fine. Errors: `transport_failed`. */
  removeRoom(room: string): Promise<void>;
}
