/** What is shown of both sides while it is said: segments, one a message of the user and one a job of the agent. */
import type { Call, TranscriptText } from '../../contracts/ports/calls.js';

export class Captions {
  readonly #segments: { user: number; agent: number };

  /** `first`: numbers that the client's screen has not had. */
  constructor(
    private readonly call: Pick<Call, 'show'>,
    first: { readonly user: number; readonly agent: number },
  ) {
    this.#segments = { ...first };
  }

  /** A `final` one ends its segment; of the agent's, by a text of its own. */
  show(speaker: TranscriptText['speaker'], text: string, final = false): void {
    this.call.show({ speaker, segment: `${speaker}_${this.#segments[speaker]}`, text, final });
    if (final) this.#segments[speaker] += 1;
  }
}
