/** Messages of a simulated caller across the socket of its worker: one job per caller, commands in, reports out. */
import type { CallerOptions } from '../../../contracts/ports/agents/test-callers.js';

/** The job of a media worker: the caller's end of a call. */
export const CALLER_JOB = 'caller';

export type CallerArgs = Pick<CallerOptions, 'noise'>;

export type CallerCommand =
  | { readonly op: 'signal'; readonly frame: Uint8Array | string }
  /** The connection for signalling has gone. */
  | { readonly op: 'closed' }
  | {
      readonly op: 'say';
      readonly utterance: number;
      /** Earliest time; 0 is at once. */
      readonly at: number;
      readonly pcm: Uint8Array;
      /** Whether the utterance ends with it. */
      readonly last: boolean;
    }
  | { readonly op: 'hangUp' };

export type CallerReport =
  /** The query with which it joins. The first report. */
  | { readonly on: 'join'; readonly query: string }
  | { readonly on: 'signal'; readonly frame: Uint8Array }
  | { readonly on: 'connected' }
  | { readonly on: 'heard'; readonly at: number; readonly pcm: Uint8Array }
  | { readonly on: 'said'; readonly utterance: number; readonly from: number; readonly to: number }
  | { readonly on: 'agent'; readonly state: string }
  | { readonly on: 'ended'; readonly reason: string };
