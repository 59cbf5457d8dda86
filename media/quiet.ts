/** Counts the silence, beat by beat, of a microphone that sends nothing (muted, lost, or silent with DTX). */

/** Beats of 20 ms without a packet before they count as silence, so that a stuttering network does not split words. */
const PATIENCE = 8;

export class PacketSilence {
  #beats = 0;
  /** Beats that were told as silence. */
  #told = 0;

  /** `inVoice`: the patience where a voice has broken off, and not ended. */
  constructor(
    private readonly patience = PATIENCE,
    private readonly inVoice = patience,
  ) {}

  /** Something has arrived. */
  broken(): void {
    this.#beats = 0;
    this.#told = 0;
  }

  /** Whether nothing has arrived for that many beats. */
  get lasts(): boolean {
    return this.#beats >= this.patience;
  }

  /** Called every 20 ms; returns the frames of silence now known, including those of the wait. `isVoiced`: the user was just speaking. */
  beat(isVoiced = false): number {
    this.#beats += 1;
    const patience = isVoiced ? this.inVoice : this.patience;
    if (this.#told === 0 && this.#beats < patience) return 0;
    const frames = this.#beats - this.#told;
    this.#told = this.#beats;
    return frames;
  }
}
