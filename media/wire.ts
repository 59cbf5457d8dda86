/**
 * Messages of a call across the socket of its worker: one job a call, commands in, reports out. Plain values that
 * MessagePack carries; audio as PCM bytes. `Command` and `Report` are every call's; what carries the call adds its own.
 */
import type { CallOptions, FrameCounts, LineFormat, TranscriptText } from '../contracts/ports/calls.js';

/** The job of a media worker: a call whose signalling comes with the commands. */
export const CALL_JOB = 'call';
/** The job of a room worker: a call in a room of somebody else's server. */
export const ROOM_JOB = 'room';
/** The job of a media worker: a phone call, whose sound comes with the commands. */
export const PHONE_JOB = 'phone';

export type CallArgs = CallOptions;

export interface RoomArgs extends CallArgs {
  /** The server's socket address, and what the agent joins the session's room with. */
  readonly url: string;
  readonly token: string;
  /** Whether its user comes by telephone. */
  readonly phone: boolean;
}

export interface PhoneArgs extends CallArgs {
  /** Of both directions. */
  readonly format: LineFormat;
}

export type Command =
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
      /** The client's address where it is certain and private; empty for any other. */
      readonly from: string;
      /** A token to return with. */
      readonly token: string;
    }
  | { readonly op: 'signal'; readonly link: number; readonly frame: Uint8Array | string }
  | { readonly op: 'gone'; readonly link: number };

/** Of calls whose user has a telephone. */
export type TelephoneCommand =
  /** Keys to be heard by the other side. */
  | { readonly op: 'press'; readonly keys: string }
  /** A message of the caller, as a client would send it. */
  | { readonly op: 'told'; readonly topic: string; readonly payload: Uint8Array };

/** What the provider of a phone line tells. */
export type LineCommand =
  | TelephoneCommand
  /** Sound of the caller. `order`: its place, where the provider counts. */
  | { readonly op: 'hear'; readonly audio: Uint8Array; readonly order?: number }
  /** All sound before that mark was heard. */
  | { readonly op: 'marked'; readonly mark: number }
  /** Whether the other side waits, and hears that it does. */
  | { readonly op: 'hold'; readonly on: boolean }
  | { readonly op: 'hungUp' };

export interface PlayedReport {
  readonly on: 'played';
  readonly utterance: number;
  readonly ms: number;
  readonly ended: boolean;
}

export type Report =
  | { readonly on: 'connected' | 'disconnected' | 'left' }
  /** The call is kept from that moment on, in milliseconds since 1970. */
  | { readonly on: 'recording'; readonly at: number }
  | {
      readonly on: 'speech';
      readonly active: boolean;
      /** Somebody far quieter than the user. */
      readonly background?: boolean;
      /** Of its end: how long it had been silent. */
      readonly silentMs?: number;
      readonly at: number;
    }
  | { readonly on: 'lull'; readonly active: boolean }
  | { readonly on: 'audio'; readonly pcm: Uint8Array; readonly at: number }
  | PlayedReport
  /** All keys of a `press` have left. */
  | { readonly on: 'pressed' }
  | { readonly on: 'data'; readonly topic: string; readonly payload: Uint8Array }
  /** The last one. */
  | ({ readonly on: 'frames' } & FrameCounts);

/** For a client whose signalling passes through the gateway. */
export type SignalReport =
  | { readonly on: 'signal'; readonly link: number; readonly frame: Uint8Array | string }
  | { readonly on: 'close'; readonly link: number };

export type RoomReport =
  | {
      /**
       * `joined`, the first one: the agent is in its room, with its track. `met`: the user is there by the token that its session was
       * answered with. `usurped`: somebody came with that token while the user was there. `cut`: the user's telephone line broke.
       */
      readonly on: 'joined' | 'met' | 'usurped' | 'cut';
    }
  /** The user has pressed a key of the telephone. */
  | { readonly on: 'key'; readonly key: string };

/** For the provider of a phone line. */
export type LineReport =
  | { readonly on: 'speak'; readonly audio: Uint8Array }
  /** To be sent back once everything before it was heard. */
  | { readonly on: 'mark'; readonly mark: number }
  /** What was sent and not heard is to be dropped. */
  | { readonly on: 'hush' };
