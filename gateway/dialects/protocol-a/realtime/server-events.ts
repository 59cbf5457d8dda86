/**
 * The events that a realtime session sends (docs/contract/protocol-a.md 5.4): JSON text frames, each with a `type` and a unique
 * `event_id`. Most of them are deltas, which are built without JSON.stringify.
 */
import type { ToldError } from '../../../../actors/realtime.js';
import type { Socket } from '../../../server/port.js';

export class ServerEvents {
  #count = 0;

  /** `suffix` makes the ids of this session unique; it has only letters, digits, `_` and `-`. */
  constructor(
    private readonly socket: Pick<Socket, 'send'>,
    private readonly suffix: string,
  ) {}

  /** A new id of this kind, for instance `item_…`. */
  id(kind: string): string {
    return `${kind}_${this.suffix}_${++this.#count}`;
  }

  send(type: string, fields: object = {}): void {
    this.socket.send(JSON.stringify({ type, event_id: this.id('event'), ...fields }));
  }

  /** `eventId` names the client's event that caused the error. */
  error(error: ToldError, eventId: string | null): void {
    this.send('error', { error: { param: null, ...error, event_id: eventId } });
  }

  /** Returns a function that sends deltas of one kind, which differ only in id and base64; `fields` hold only ids and numbers. */
  deltas(type: string, fields: object): (audio: Uint8Array) => void {
    const head = `${JSON.stringify({ type, ...fields }).slice(0, -1)},"event_id":"`;
    return (audio) => {
      const base64 = Buffer.from(audio.buffer, audio.byteOffset, audio.byteLength).toString('base64');
      this.socket.send(`${head}${this.id('event')}","delta":"${base64}"}`);
    };
  }
}
