/**
 * The events of one transcription (docs/contract/protocol-a.md 5.5): one delta per segment while it runs, then `completed`
 * or `failed`. Invariant: the deltas add up to the transcript.
 */
import type { ServiceError } from '../../../../contracts/errors.js';
import type { Transcript, TranscriptSegment } from '../../../../contracts/ports/speech/speech.js';
import { gapBetween } from '../../../../contracts/text/joined-texts.js';
import { toldError } from './faults.js';
import type { ServerEvents } from './server-events.js';

const EVENT = 'conversation.item.input_audio_transcription';
const MILLISECONDS = 1000;

export class TranscriptEvents {
  #told = '';

  constructor(
    private readonly events: ServerEvents,
    /** The item and its audio's place in it. */
    private readonly place: { readonly item_id: string; readonly content_index: number },
  ) {}

  segment({ text }: Pick<TranscriptSegment, 'text'>): void {
    this.#tell(gapBetween(this.#told, text) + text);
  }

  completed({ text, duration }: Transcript): void {
    if (text.startsWith(this.#told)) this.#tell(text.slice(this.#told.length));
    const seconds = Math.round(duration * MILLISECONDS) / MILLISECONDS;
    this.#send('completed', { transcript: text, usage: { type: 'duration', seconds } });
  }

  failed(error: ServiceError): void {
    this.#send('failed', { error: toldError(error) });
  }

  #tell(delta: string): void {
    if (delta === '') return;
    this.#told += delta;
    this.#send('delta', { delta });
  }

  #send(name: string, fields: object): void {
    this.events.send(`${EVENT}.${name}`, { ...this.place, ...fields });
  }
}
