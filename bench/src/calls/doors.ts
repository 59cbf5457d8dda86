/** The ways by which a caller whose sound is frames on a socket gets to an agent. */
import {
  type Addressed,
  ELEVENLABS_AUDIO,
  openElevenlabs,
  openRealtime,
  REALTIME_AUDIO,
} from './client-lines.js';
import { type LineAudio, MULAW } from '../audio/line-audio.js';
import type { Line } from './line.js';
import { type Dialled, PhoneLine } from './phone-line.js';

/** By the name of the way: what a caller needs to know. */
interface Destinations {
  readonly phone: Dialled;
  readonly realtime: Addressed;
  readonly elevenlabs: Addressed;
}

export type DoorName = keyof Destinations;

interface Door<D> {
  readonly audio: LineAudio;
  /** Resolves once the caller may speak. Rejects where nobody answers. */
  call(destination: D): Promise<Line>;
}

export const DOORS: { readonly [Name in DoorName]: Door<Destinations[Name]> } = {
  phone: { audio: MULAW, call: (dialled) => PhoneLine.dial(dialled) },
  realtime: { audio: REALTIME_AUDIO, call: openRealtime },
  elevenlabs: { audio: ELEVENLABS_AUDIO, call: openElevenlabs },
};

/** A door, and who is behind it. */
export type Destination = {
  readonly [Name in DoorName]: { readonly door: Name; readonly who: Destinations[Name] };
}[DoorName];

/** Errors: those of the door. */
export function callAt({ door, who }: Destination): Promise<Line> {
  const { call } = DOORS[door] as Door<Destinations[DoorName]>;
  return call(who);
}
