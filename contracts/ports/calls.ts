/**
 * The media side of one conversation: a user and the agent, whatever carries them (docs/contract/transport.md). The
 * gateway sees speech, playout and messages; frames of 20 ms, codecs and connections stay behind this port. PCM is
 * 16-bit mono.
 */
import type { RecordingBegan } from './recordings.js';

/** The connection to one client that signalling frames are sent over. */
export interface SignalLink {
  /** A frame for the client; dropped once the connection is closed. */
  send(frame: Uint8Array | string): void;
  close(): void;
}

/** The other end of a link. */
export interface SignalEnd {
  receive(frame: Uint8Array | string): void;
  /** The client's connection has gone. Called once. */
  closed(): void;
}

export interface SignalConnect {
  /** `/rtc/v1` (one peer connection) or `/rtc` (two). */
  readonly version: 1 | 0;
  /** The query of the upgrade request, for what the version carries there. */
  readonly query: URLSearchParams;
  /** The client's address where it is certain and private; empty for any other. */
  readonly from: string;
}

/** Identities of the participants of a session. */
export const IDENTITIES = { user: 'user', agent: 'agent' } as const;

export interface CallOptions {
  readonly sessionId: string;
  readonly user: { readonly identity: string; readonly name: string };
  readonly agent: { readonly identity: string; readonly name: string };
  /** Whether each side's audio is kept. */
  readonly record: boolean;
  /** As which part of the session's recording; absent: the first. */
  readonly part?: number | undefined;
}

/** How sound is written on a phone line; mono. `linear`: 16-bit, little-endian. */
export interface LineFormat {
  readonly codec: 'mulaw' | 'alaw' | 'linear';
  /** Hz */
  readonly rate: number;
  /** Frames of 20 ms in a message of ours; one unless told. */
  readonly frames?: number;
  /** The provider tells nothing of what it has played. */
  readonly silent?: true;
}

export interface PhoneOptions extends CallOptions {
  readonly format: LineFormat;
}

export interface JoinableOptions extends CallOptions {
  /** A token for later connections of the same user, sent right after each join. */
  rotatedToken(): Promise<string>;
}

export type CallEvent =
  /** The user's media is connected; the first time, and after each drop. */
  | { readonly kind: 'connected' }
  /** The user's media is not connected any more; the call goes on until somebody ends it. */
  | { readonly kind: 'disconnected' }
  /** The client said that it leaves. */
  | { readonly kind: 'left' }
  /**
   * Voice activity. A muted or lost microphone counts as silence. `background`: of somebody far quieter than the user; one
   * that is told to be active again, without it, was the user's from its beginning. `silentMs`: how long it has been silent
   * when its end is told.
   */
  | {
      readonly kind: 'speech';
      readonly active: boolean;
      readonly background?: boolean;
      readonly silentMs?: number;
    }
  /** A tenth of a second of silence in the user's voice, which may be its end; or the voice goes on. An end ends the lull too. */
  | { readonly kind: 'lull'; readonly active: boolean }
  /**
   * The speech, at 16 kHz, in windows of 100 to 300 ms while voice activity lasts: from shortly before it
   * began until it ended.
   */
  | { readonly kind: 'audio'; readonly samples: Int16Array }
  /** How much of an utterance has left for the user; at least each 200 ms, and when it ends or is cleared. */
  | { readonly kind: 'played'; readonly utterance: number; readonly ms: number; readonly ended: boolean }
  | { readonly kind: 'data'; readonly topic: string; readonly payload: Uint8Array };

/** Text of one side, shown while it is said (docs/contract/platform.md 6.9, `lk.transcription`). */
export interface TranscriptText {
  readonly speaker: 'user' | 'agent';
  readonly segment: string;
  /** Agent: what is new. User: all of the segment so far, replacing what was shown. */
  readonly text: string;
  readonly final: boolean;
}

/** The agent's frames of one call, as they left for the user. */
export interface FrameCounts {
  readonly sent: number;
  /** Frames among those sent that left a whole frame late or more. */
  readonly late: number;
  /** Frames of time that were let go while it spoke. */
  readonly lost: number;
}

/** Hears of what happens to calls beside their events. */
export interface CallObserver {
  /** A call is being kept. */
  readonly recorded: RecordingBegan;
  /** A call has ended. */
  counted?(frames: FrameCounts): void;
}

export interface Call {
  /** In order; ends when the call has ended. Errors: `engine_lost` when the media worker died. */
  readonly events: AsyncIterable<CallEvent>;
  /** Speech of an utterance at 24 kHz, played in the order in which it is given. Resolves when more is wanted. */
  play(utterance: number, samples: Int16Array): Promise<void>;
  /** No more of this utterance; `played` with `ended` follows when it has been heard. */
  finish(utterance: number): void;
  /** Stops playing within a frame or two and keeps what waits; `resume` goes on. */
  pause(): void;
  resume(): void;
  /** Drops what has not been played, with `played` and `ended` for each utterance. */
  clear(): void;
  send(topic: string, payload: Uint8Array): void;
  show(text: TranscriptText): void;
  /** Attributes of the agent's participant. */
  attributes(values: Readonly<Record<string, string>>): void;
  /** Tells the client, closes everything. Idempotent. */
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
  open(options: JoinableOptions): JoinableCall;
}

/** The way back to the provider of a phone line. Nothing is called once it was closed. */
export interface PhoneLink {
  /** Sound for the caller: 20 ms, or what the provider plays behind one another. */
  speak(audio: Uint8Array): void;
  /** To be told by `PhoneCall.marked` once everything before it was heard. */
  mark(mark: number): void;
  /** Drops what was sent and not heard. */
  hush(): void;
  /** The call is over. Called once. */
  close(): void;
}

/** A call over a telephone provider's media stream. */
export interface PhoneCall extends Call {
  /** Sound of the caller, in the line's format. `order`: its place, where the provider counts. */
  hear(audio: Uint8Array, order?: number): void;
  marked(mark: number): void;
  /** A message of the caller, as a client would send it. */
  told(topic: string, payload: Uint8Array): void;
  /** Keys (0-9, *, #, and w for a pause) as tones, between what is said. Resolves when they have left, or the call is over. */
  press(keys: string): Promise<void>;
  /** Whether the caller waits for somebody, and hears that between what is said. */
  hold(on: boolean): void;
  /** The caller has hung up. */
  hungUp(): void;
}

export interface PhoneMedia {
  /** Never blocks; the caller is connected from the beginning. */
  open(options: PhoneOptions, link: PhoneLink): PhoneCall;
}

export interface RoomOptions extends CallOptions {
  /** Absent: it is named by its session. */
  readonly room?: string;
  /** Whether its user comes by telephone, and nobody else counts as the user. */
  readonly phone?: boolean;
}

/** A call in a room of somebody else's server. */
export interface RoomCall extends Call {
  /**
   * The room is there and the agent is in it, with its track. Errors: `engine_busy` where no process has a place for
   * it, `engine_lost`, `transport_failed` where the cluster does not answer or refuses.
   */
  readonly ready: Promise<void>;
  /** As of a `PhoneCall`. */
  told(topic: string, payload: Uint8Array): void;
  press(keys: string): Promise<void>;
}

/** What an agent comes into a room with. */
export interface RoomEntry {
  readonly url: string;
  readonly token: string;
}

export interface RoomOpening {
  /** As the cluster has given it; absent: the room is made where it is not there. */
  readonly entry?: RoomEntry;
  /** Whether the room stays without this agent, as its call goes on elsewhere. `broke`: nobody has ended the call. */
  stays?(broke: boolean): boolean;
  /** The user has pressed a key of the telephone. */
  key?(key: string): void;
  /** The user's line was cut off, without a word that anybody has hung up. */
  cut?(): void;
}

/** A job as a cluster offers it: an agent is wanted in that room. */
export interface OfferedJob {
  readonly id: string;
  readonly room: string;
  /** As it was dispatched. */
  readonly metadata: string;
}

/** Who does the jobs that a cluster gives to this process. */
export interface AgentWork {
  /** The participant that comes; undefined where the job is refused. */
  offered(job: OfferedJob): CallOptions['agent'] | undefined;
  /** A job that was taken. Resolves when it is done. */
  assigned(job: OfferedJob, entry: RoomEntry): Promise<void>;
  figures(): { readonly calls: number; readonly places: number; readonly draining: boolean };
}

/** Livekit mode: agents join rooms on an existing cluster. */
export interface RoomCalls {
  /** Makes the room, open for its first user until `joinBy`, and asks the cluster for an agent. Errors: `transport_failed`. */
  dispatch(sessionId: string, metadata: string, joinBy: Date): Promise<void>;
  /**
   * Sends the agent in. The room goes when the call ends, unless it stays.
   */
  open(options: RoomOptions, joinBy: Date, how?: RoomOpening): RoomCall;
  /** Ends a room that nobody holds any more; none is fine. Errors: `transport_failed`. */
  remove(room: string): Promise<void>;
}
