/**
 * Frames of the agent's voice that have left by RTP, as the gateway is told of them: several at once, since it only counts them. The
 * first frame of an utterance is told with the report that it is played, and so at once.
 */
import type { SentReport } from '../wire.js';

export class SentFrames {
  #frames = 0;
  #utterance: number | undefined;

  constructor(private readonly report: (report: SentReport) => void) {}

  /** A frame was sent. `utterance`: what it is of; undefined for what follows speech. */
  add(utterance: number | undefined): void {
    if (utterance !== this.#utterance) this.tell();
    this.#utterance = utterance;
    this.#frames += 1;
  }

  /** Tells of the frames since the last report, if there are any. */
  tell(): void {
    const [frames, utterance] = [this.#frames, this.#utterance];
    this.#frames = 0;
    if (frames > 0) this.report({ on: 'sent', frames, ...(utterance !== undefined && { utterance }) });
  }
}
