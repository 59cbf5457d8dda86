/** Live captions of both sides: one segment for each message of the user and for each job of the agent. */
import type { Call, TranscriptText } from '../../../../contracts/ports/calls/calls.js';

export class Captions {
  readonly #segments: { user: number; agent: number };

  /** `first`: segment numbers that the client has not been shown yet. */
  constructor(
    private readonly call: Pick<Call, 'showTranscript'>,
    first: { readonly user: number; readonly agent: number },
  ) {
    this.#segments = { ...first };
  }

  /** A `final` text ends its segment; the agent's segments end with a separate, empty one. */
  show(speaker: TranscriptText['speaker'], text: string, final = false): void {
    this.call.showTranscript({ speaker, segment: `${speaker}_${this.#segments[speaker]}`, text, final });
    if (final) this.#segments[speaker] += 1;
  }
}
