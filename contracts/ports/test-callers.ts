/**
 * The caller's end of a call in tests of agents by voice: it joins as any client does, speaks into its microphone and hears
 * what arrives. Moments are milliseconds since its media was connected; audio is 16-bit mono.
 */
import type { SignalConnect, SignalEnd, SignalLink } from './calls.js';

export type CallerEvent =
  | { readonly kind: 'connected' }
  /** The next 100 ms of what is heard, at 16 kHz, without gaps; time goes on with these. `at`: where they end. */
  | { readonly kind: 'heard'; readonly at: number; readonly samples: Int16Array }
  /** All of it has left: its first sound at `from`, its last at `to`. */
  | { readonly kind: 'said'; readonly utterance: number; readonly from: number; readonly to: number }
  /** The agent's published state: `listening`, `thinking`, `speaking`. */
  | { readonly kind: 'agent'; readonly state: string }
  /** The call is over; `reason` as clients are told it, empty where nobody said. The last event. */
  | { readonly kind: 'ended'; readonly reason: string };

export interface CallerLine {
  /** Errors: `engine_lost` where the media worker died, `transport_failed` where it could not connect. */
  readonly events: AsyncIterable<CallerEvent>;
  /** Speaks at 24 kHz, not before `at`, behind what is still to be said. The number of the utterance. */
  say(samples: Int16Array, at?: number): number;
  /** As a client that hangs up. Idempotent. */
  hangUp(): void;
}

export interface CallerOptions {
  /** RMS of the noise around the caller, in 16-bit samples; 0 is silence. */
  readonly noise: number;
}

export interface CallerLines {
  /** `connect`: the way into the call; undefined where it is not there any more. */
  open(
    options: CallerOptions,
    connect: (how: SignalConnect, link: SignalLink) => SignalEnd | undefined,
  ): CallerLine;
}
