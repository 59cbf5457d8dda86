/**
 * The clock of a container: where its audio begins, and where a recorder paused, there is silence in what is decoded, so that
 * times counted in samples are the file's own.
 *
 * Rules: a gap is filled once it has grown to `leastSeconds`, as time stamps are rounded. A longer jump than `mostSeconds`, in
 * either direction, is a clock that was set (a live stream that began at noon, files that were joined), and fills nothing. Sound that
 * comes earlier than it should is never dropped.
 */
export interface GapLimits {
  /** Seconds. */
  readonly least: number;
  readonly most: number;
}

export class ContainerClock {
  readonly #limits: GapLimits;
  /** What the clock was set by, in seconds. */
  #shift = 0;

  constructor(limits: GapLimits) {
    this.#limits = limits;
  }

  /** Seconds of silence before a frame of the time stamp `at`, if sound and silence so far reach to `end`; both in seconds. */
  silenceBefore(at: number, end: number): number {
    const late = at - this.#shift - end;
    if (Math.abs(late) > this.#limits.most) this.#shift += late;
    else if (late >= this.#limits.least) return late;
    return 0;
  }
}
