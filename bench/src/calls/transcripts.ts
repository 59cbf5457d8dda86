/** What a caller is shown of a call, by its channel for data: LiveKit's streams of text, or Pipecat's messages (RTVI). */
import { DataPacket } from '@livekit/protocol';

interface Shown {
  readonly isUser: boolean;
  text: string;
  isFinal: boolean;
}

const FINAL = 'lk.transcription_final';

/** RTVI's messages that tell something (https://docs.pipecat.ai/client/rtvi-standard). */
interface Told {
  readonly type: string;
  readonly data?: { readonly text?: string; readonly final?: boolean };
}

export class Transcripts {
  readonly #streams = new Map<string, Shown>();
  #said: string[] = [];
  #answersOver = 0;

  /** Binary messages are LiveKit's, texts Pipecat's. */
  take(message: Buffer | string): void {
    if (typeof message === 'string') this.#told(JSON.parse(message) as Told);
    else this.#stream(DataPacket.fromBinary(new Uint8Array(message)));
  }

  /** Whether something of the user is shown that was not taken. */
  get hasSaid(): boolean {
    return this.#said.length > 0;
  }

  /** What was shown of the user since the last call of this method. */
  takeSaid(): string {
    return this.#said.splice(0).join(' ');
  }

  /** How many answers of the agent have ended, or were broken off: what it only pauses in is not over. */
  get answersOver(): number {
    return this.#answersOver;
  }

  #told({ type, data }: Told): void {
    if (type === 'user-transcription' && data?.final === true) this.#said.push(data.text ?? '');
    if (type === 'bot-interrupted') this.#answersOver += 1;
  }

  #stream({ value, participantIdentity }: DataPacket): void {
    if (value.case === 'streamHeader') {
      const isFinal = value.value.attributes[FINAL] === 'true';
      this.#streams.set(value.value.streamId, { isUser: participantIdentity === 'user', text: '', isFinal });
    }
    if (value.case === 'streamChunk') {
      const shown = this.#streams.get(value.value.streamId);
      if (shown) shown.text += Buffer.from(value.value.content).toString();
    }
    if (value.case === 'streamTrailer')
      this.#end(value.value.streamId, value.value.attributes[FINAL] === 'true');
  }

  #end(stream: string, isFinalNow: boolean): void {
    const shown = this.#streams.get(stream);
    this.#streams.delete(stream);
    if (!shown || !(shown.isFinal || isFinalNow)) return;
    if (shown.isUser) this.#said.push(shown.text);
    else this.#answersOver += 1;
  }
}
