/**
 * Short audio that is all there takes turns in a child: its engine works on one piece at a time anyway, and every
 * stream that it listens to at once costs a detector (50 ms and 12 MB to make, where none is idle). Longer audio
 * has no turn, so that nobody waits behind an hour of it.
 */
import { Slots } from '../processes/slots.js';

/** One is listened to while another is transcribed. */
const AT_ONCE = 2;
const LONGEST_SECONDS = 30;

const nothing = (): void => undefined;

export class Lane {
  readonly #slots = new Slots(AT_ONCE, Infinity, nothing);

  /** The result ends the turn. `seconds` is the length of the audio where it is known. Rejects where `signal` aborts first. */
  async enter(seconds: number | undefined, signal: AbortSignal): Promise<() => void> {
    if (seconds === undefined || seconds > LONGEST_SECONDS) return nothing;
    await this.#slots.turn(signal);
    return () => this.#slots.leave();
  }
}
