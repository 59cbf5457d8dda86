/**
 * The caller's end of a call in tests of agents by voice: it joins like any client, speaks into its microphone and hears
 * the incoming audio. Times are milliseconds since its media was connected; audio is 16-bit mono.
 */
import type { SignalConnect, SignalEnd, SignalLink } from '../calls/calls.js';

export type CallerEvent =
  | { readonly kind: 'connected' }
  /** The next 100 ms of incoming audio, at 16 kHz, without gaps; these drive the time. `at`: their end. */
  | { readonly kind: 'heard'; readonly at: number; readonly samples: Int16Array }
  /** The whole utterance was sent: its first sound at `from`, its last at `to`. */
  | { readonly kind: 'said'; readonly utterance: number; readonly from: number; readonly to: number }
  /** The agent's published state: `listening`, `thinking`, `speaking`. */
  | { readonly kind: 'agent'; readonly state: string }
  /** The call has ended; `reason` as reported to clients, empty if none was given. The last event. */
  | { readonly kind: 'ended'; readonly reason: string };

export interface CallerLine {
  /** Errors: `engine_lost` if the media worker died, `transport_failed` if it could not connect. */
  readonly events: AsyncIterable<CallerEvent>;
  /** Speaks at 24 kHz, not before `at`, after all queued speech. Returns the number of the utterance. */
  say(samples: Int16Array, at?: number): number;
  /** Hangs up like a client. Idempotent. */
  hangUp(): void;
}

export interface CallerOptions {
  /** RMS of the noise around the caller, in 16-bit samples; 0 is silence. */
  readonly noise: number;
  readonly workspaceId: string;
}

export interface CallerLines {
  /** `connect` opens signalling to the call; undefined if the call no longer exists. */
  openLine(
    options: CallerOptions,
    connect: (how: SignalConnect, link: SignalLink) => SignalEnd | undefined,
  ): CallerLine;
}
