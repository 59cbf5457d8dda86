/** Counts the silence, beat by beat, of a microphone that sends nothing (muted, lost, or silent with DTX). */

/** Beats of 20 ms without a packet before they count as silence, so that a stuttering network does not split words. */
const PATIENCE = 8;

export class PacketSilence {
  #beats = 0;

  constructor(private readonly patience = PATIENCE) {}

  /** Something has arrived. */
  broken(): void {
    this.#beats = 0;
  }

  /** Whether nothing has arrived for that many beats. */
  get lasts(): boolean {
    return this.#beats >= this.patience;
  }

  /** Called every 20 ms; returns the frames of silence now known, including those of the wait. */
  beat(): number {
    this.#beats += 1;
    if (this.#beats < this.patience) return 0;
    return this.#beats === this.patience ? this.patience : 1;
  }
}
