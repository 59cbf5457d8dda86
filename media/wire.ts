/**
 * What a call says across the socket of a media worker: one job a call, commands in, events out. Plain values that
 * MessagePack carries; audio as PCM bytes.
 */
import type { TranscriptText } from '../contracts/ports/calls.js';

export const CALL_JOB = 'call';

export interface CallArgs {
  readonly sessionId: string;
  readonly user: { readonly identity: string; readonly name: string };
  readonly agent: { readonly identity: string; readonly name: string };
  /** Whether each side's audio is kept. */
  readonly record: boolean;
}

export type Command =
  | {
      readonly op: 'connect';
      readonly link: number;
      readonly version: 1 | 0;
      readonly query: string;
      /** A token to return with. */
      readonly token: string;
    }
  | { readonly op: 'signal'; readonly link: number; readonly frame: Uint8Array | string }
  | { readonly op: 'gone'; readonly link: number }
  | { readonly op: 'play'; readonly utterance: number; readonly pcm: Uint8Array }
  | { readonly op: 'finish'; readonly utterance: number }
  | { readonly op: 'pause' | 'resume' | 'clear' | 'end' }
  | { readonly op: 'data'; readonly topic: string; readonly payload: Uint8Array }
  | ({ readonly op: 'show' } & TranscriptText)
  | { readonly op: 'attributes'; readonly values: Readonly<Record<string, string>> };

export type Report =
  | { readonly on: 'signal'; readonly link: number; readonly frame: Uint8Array | string }
  | { readonly on: 'close'; readonly link: number }
  | { readonly on: 'connected' | 'disconnected' | 'left' }
  /** The call is kept from that moment on, in milliseconds since 1970. */
  | { readonly on: 'recording'; readonly at: number }
  | { readonly on: 'speech'; readonly active: boolean; readonly at: number }
  | { readonly on: 'audio'; readonly pcm: Uint8Array; readonly at: number }
  | { readonly on: 'played'; readonly utterance: number; readonly ms: number; readonly ended: boolean }
  | { readonly on: 'data'; readonly topic: string; readonly payload: Uint8Array };
