/**
 * Transcripts of both sides as text streams: one stream per segment of the agent, which grows as it is spoken; one
 * stream per update of the user, which replaces the previous one (docs/contract/platform.md 6.9, `lk.transcription`).
 */
import type { TranscriptText } from '../contracts/ports/calls/calls.js';

export const TRANSCRIPTION_TOPIC = 'lk.transcription';

/** An open text stream. */
export interface TextOut {
  add(text: string): void;
  /** Ends it, with attributes that were not known before, if the carrier can still send them. */
  end(attributes?: Readonly<Record<string, string>>): void;
}

export type OpenText = (speaker: TranscriptText['speaker'], attributes: Record<string, string>) => TextOut;

export class Transcripts {
  /** The segment that the agent is saying. */
  #open: { readonly segment: string; stream: TextOut; text: string } | undefined;
  /** What was last shown of the user. */
  #heard = { segment: '', text: '' };

  constructor(
    private readonly open: OpenText,
    private readonly agentTrack: () => string,
    /** The user's microphone, if known. */
    private readonly userTrack: () => string | undefined = () => undefined,
  ) {}

  show({ speaker, segment, text, final }: TranscriptText): void {
    if (speaker === 'agent') this.#showAgent(segment, text, final);
    else this.#showUser(segment, text, final);
  }

  #showAgent(segment: string, text: string, final: boolean): void {
    if (this.#open?.segment !== segment) {
      this.#open?.stream.end();
      this.#open = { segment, stream: this.#stream('agent', segment, false), text: '' };
    }
    this.#open.text += text;
    if (text !== '') this.#open.stream.add(text);
    if (!final) return;
    this.#open.stream.end({ 'lk.transcription_final': 'true' });
    this.#open = undefined;
  }

  /** An empty final text withdraws what was shown: clients that pass over empty streams would wait for its end. */
  #showUser(segment: string, text: string, final: boolean): void {
    const shown = this.#heard.segment === segment ? this.#heard.text : '';
    const withdrawn = final && text === '' && shown !== '';
    this.#heard = { segment, text };
    const stream = this.#stream('user', segment, final, withdrawn);
    if (text !== '' || withdrawn) stream.add(withdrawn ? shown : text);
    stream.end();
  }

  #stream(speaker: TranscriptText['speaker'], segment: string, final: boolean, withdrawn = false): TextOut {
    const track = speaker === 'agent' ? this.agentTrack() : this.userTrack();
    return this.open(speaker, {
      'lk.segment_id': segment,
      'lk.transcription_final': String(final),
      ...(withdrawn && { withdrawn: 'true' }),
      ...(track !== undefined && { 'lk.transcribed_track_id': track }),
    });
  }

  /** The client has rejoined and knows no stream: resends the whole of the agent's open segment. */
  renew(): void {
    const open = this.#open;
    if (!open) return;
    open.stream = this.#stream('agent', open.segment, false);
    if (open.text !== '') open.stream.add(open.text);
  }
}
