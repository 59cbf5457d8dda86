/**
 * Messages of a call across the socket of its worker: one job per call, commands in, reports out. Plain values for
 * MessagePack; audio as PCM bytes. `CallCommand` and `Report` are common to all calls; each carrier adds its own.
 */
import type { CarriedCall, FrameCounts, LineFormat, TranscriptText } from '../contracts/ports/calls/calls.js';
import type { ConnectionOffer } from '../contracts/ports/calls/offered-calls.js';

/** The job of a media worker: a call whose signalling arrives as commands. */
export const CALL_JOB = 'call';
/** The job of a room worker: a call in a room of a LiveKit server. */
export const ROOM_JOB = 'room';
/** The job of a media worker: a phone call whose audio arrives as commands. */
export const PHONE_JOB = 'phone';

/** The job of a media worker: a call whose client has offered a WebRTC connection, and gets its answer. */
export const OFFERED_JOB = 'offered';

export type CallArgs = CarriedCall;

export interface OfferedArgs extends CallArgs {
  readonly offer: ConnectionOffer;
}

export interface RoomArgs extends CallArgs {
  /** The server's WebSocket address, and the token with which the agent joins the session's room. */
  readonly url: string;
  readonly token: string;
  /** Whether the user comes by telephone. */
  readonly phone: boolean;
}

export interface PhoneArgs extends CallArgs {
  /** Format of both directions, unless the caller's is `heard`. */
  readonly format: LineFormat;
  readonly heard?: LineFormat;
  /** The caller's audio comes no faster than it may be heard. */
  readonly isPaced?: true;
}

export type CallCommand =
  | { readonly op: 'play'; readonly utterance: number; readonly pcm: Uint8Array }
  | { readonly op: 'finish'; readonly utterance: number }
  | { readonly op: 'pause' | 'resume' | 'clear' | 'end' }
  | { readonly op: 'data'; readonly topic: string; readonly payload: Uint8Array }
  | ({ readonly op: 'show' } & TranscriptText)
  | { readonly op: 'attributes'; readonly values: Readonly<Record<string, string>> };

/** Commands about a client whose signalling passes through the gateway. */
export type SignalCommand =
  | {
      readonly op: 'connect';
      readonly link: number;
      readonly version: 1 | 0;
      readonly query: string;
      /** The client's address if it is certain and private; otherwise empty. */
      readonly from: string;
      /** A token to return with. */
      readonly token: string;
    }
  | { readonly op: 'signal'; readonly link: number; readonly frame: Uint8Array | string }
  | { readonly op: 'gone'; readonly link: number };

/** Commands of calls whose user has a telephone. */
export type TelephoneCommand =
  /** Send keys to the other side. */
  | { readonly op: 'press'; readonly keys: string }
  /** A message of the caller, as a client would send it. */
  | { readonly op: 'told'; readonly topic: string; readonly payload: Uint8Array };

/** Commands from the provider of a phone line. */
export type LineCommand =
  | TelephoneCommand
  /** Audio of the caller. `order`: its sequence number, if the provider counts. */
  | { readonly op: 'hear'; readonly audio: Uint8Array; readonly order?: number }
  /** All audio before that mark was heard. */
  | { readonly op: 'marked'; readonly mark: number }
  /** Whether the other side is on hold, with a sound that says so. */
  | { readonly op: 'hold'; readonly on: boolean }
  | { readonly op: 'hungUp' };

/** Commands for a client that has offered its connection. */
export type OfferedCommand =
  /** The call begins: the user is heard from now on. */
  | { readonly op: 'begin' }
  /** An event for the client's data channel. */
  | { readonly op: 'event'; readonly text: string }
  | Extract<LineCommand, { readonly op: 'told' | 'hungUp' }>;

export interface PlayedReport {
  readonly on: 'played';
  readonly utterance: number;
  readonly ms: number;
  readonly ended: boolean;
}

/** A message of the user. */
export interface DataReport {
  readonly on: 'data';
  readonly topic: string;
  readonly payload: Uint8Array;
  /** It was longer than a message may be; the payload is left out. */
  readonly tooLong?: boolean;
}

export type Report =
  | { readonly on: 'connected' | 'disconnected' | 'left' }
  /** Recording began at that time, in milliseconds since 1970. */
  | { readonly on: 'recording'; readonly at: number }
  | {
      readonly on: 'speech';
      readonly active: boolean;
      /** Whether the voice is far quieter than the user's. */
      readonly background?: boolean;
      /** At its end: the silence so far. */
      readonly silentMs?: number;
      readonly at: number;
    }
  | { readonly on: 'shortPause'; readonly active: boolean }
  | { readonly on: 'audio'; readonly pcm: Uint8Array; readonly at: number }
  | PlayedReport
  /** All keys of a `press` have been sent. */
  | { readonly on: 'pressed' }
  | DataReport
  /** The last report. */
  | ({ readonly on: 'frames' } & FrameCounts);

/** Reports for a client whose signalling passes through the gateway. */
export type SignalReport =
  | { readonly on: 'signal'; readonly link: number; readonly frame: Uint8Array | string }
  | { readonly on: 'close'; readonly link: number };

export type RoomReport =
  | {
      /**
       * `joined`, the first one: the agent is in its room, with its track. `met`: the user joined with its session's first
       * token. `usurped`: somebody joined with that token while the user was there. `cut`: the user's telephone line broke.
       */
      readonly on: 'joined' | 'met' | 'usurped' | 'cut';
    }
  /**
   * The agent still does not see its user with media; report number `times` since the media was lost. `sid`: the participant that
   * the user was; empty if the agent is connected and sees them without media.
   */
  | { readonly on: 'missed'; readonly times: number; readonly sid: string }
  /** The user has pressed a key of the telephone. */
  | { readonly on: 'key'; readonly key: string };

/** Reports for the provider of a phone line. */
export type LineReport =
  | { readonly on: 'speak'; readonly audio: Uint8Array; readonly utterance?: number }
  /** The provider must send it back once everything before it was heard. */
  | { readonly on: 'mark'; readonly mark: number }
  /** The provider must drop audio that was sent but not heard. */
  | { readonly on: 'clearAudio' };

/** So many frames of the agent's voice were sent, all of one utterance, or of what follows it. */
export interface SentReport {
  readonly on: 'sent';
  readonly frames: number;
  readonly utterance?: number;
}

/** Reports of a client that has offered its connection. */
export type OfferedReport =
  /** The answer to its offer, whole; undefined if it cannot be answered. The first report. */
  | { readonly on: 'answer'; readonly sdp: string | undefined }
  /** Its data channel is open. */
  | { readonly on: 'opened' }
  /** An event of the client, in UTF-8. */
  | { readonly on: 'event'; readonly payload: Uint8Array }
  | SentReport;
