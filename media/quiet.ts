/** A microphone that sends nothing (muted, lost, or silent and saving) is silence: how much of it, beat by beat. */

/** Beats of 20 ms without a sound until they count as silence: a network that stutters breaks no word in two. */
const PATIENCE = 8;

export class Quiet {
  #beats = 0;

  constructor(private readonly patience = PATIENCE) {}

  /** Something came. */
  broken(): void {
    this.#beats = 0;
  }

  /** Whether nothing has come for so long. */
  get lasts(): boolean {
    return this.#beats >= this.patience;
  }

  /** Every 20 ms: frames of silence that are now known to have been, those that were waited for among them. */
  beat(): number {
    this.#beats += 1;
    if (this.#beats < this.patience) return 0;
    return this.#beats === this.patience ? this.patience : 1;
  }
}
