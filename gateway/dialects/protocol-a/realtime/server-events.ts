/**
 * The events that a realtime session sends (docs/contract/protocol-a.md 5.4): JSON text frames, each with a `type` and a unique
 * `event_id`. Most of them are deltas, which are built without JSON.stringify.
 */
import type { ToldError } from '../../../../actors/realtime.js';
import type { Socket } from '../../../server/port.js';

type Listener = Pick<Socket, 'send'>;

export class ServerEvents {
  #count = 0;

  /** `suffix` makes the ids of this session unique; it has only letters, digits, `_` and `-`. `audio`: who gets deltas of audio. */
  constructor(
    private readonly socket: Listener,
    private readonly suffix: string,
    private readonly audio: Listener = socket,
  ) {}

  /** A new id of this kind, for instance `item_…`. */
  id(kind: string): string {
    return `${kind}_${this.suffix}_${++this.#count}`;
  }

  /** `to`: one of several listeners, if not all. */
  send(type: string, fields: object = {}, to: Listener = this.socket): void {
    to.send(JSON.stringify({ type, event_id: this.id('event'), ...fields }));
  }

  /** As `send`: `fields` are the members as JSON text, without braces. */
  sendText(type: string, fields: string): void {
    this.socket.send(`{"type":"${type}","event_id":"${this.id('event')}",${fields}}`);
  }

  /** `eventId` names the client's event that caused the error. */
  error(error: ToldError, eventId: string | null, to: Listener = this.socket): void {
    this.send('error', { error: { param: null, ...error, event_id: eventId } }, to);
  }

  /** Returns a function that sends deltas of audio, which differ only in id and base64; `fields` hold only ids and numbers. */
  deltas(type: string, fields: object): (audio: Uint8Array) => void {
    const head = `${JSON.stringify({ type, ...fields }).slice(0, -1)},"event_id":"`;
    return (audio) => {
      const base64 = Buffer.from(audio.buffer, audio.byteOffset, audio.byteLength).toString('base64');
      this.audio.send(`${head}${this.id('event')}","delta":"${base64}"}`);
    };
  }
}
