/**
 * The events that a realtime session sends (docs/contract/protocol-a.md 5.4): JSON text frames, each with a `type` and an `event_id`
 * of its own. Deltas, which are most of them, are put together without JSON.stringify.
 */
import type { ToldError } from '../../../../actors/realtime.js';
import type { Socket } from '../../../server/port.js';

export class ServerEvents {
  #count = 0;

  /** `suffix` makes this session's ids its own: letters, digits, `_` and `-`. */
  constructor(
    private readonly socket: Pick<Socket, 'send'>,
    private readonly suffix: string,
  ) {}

  /** A new id of that kind, `item_…` for instance. */
  id(kind: string): string {
    return `${kind}_${this.suffix}_${++this.#count}`;
  }

  send(type: string, fields: object = {}): void {
    this.socket.send(JSON.stringify({ type, event_id: this.id('event'), ...fields }));
  }

  /** `eventId` is that of the client's event that caused it. */
  error(error: ToldError, eventId: string | null): void {
    this.send('error', { error: { param: null, ...error, event_id: eventId } });
  }

  /** Sends deltas that differ in nothing but their base64; the fields hold ids and numbers only. */
  deltas(type: string, fields: object): (audio: Uint8Array) => void {
    const head = `${JSON.stringify({ type, ...fields }).slice(0, -1)},"event_id":"`;
    return (audio) => {
      const base64 = Buffer.from(audio.buffer, audio.byteOffset, audio.byteLength).toString('base64');
      this.socket.send(`${head}${this.id('event')}","delta":"${base64}"}`);
    };
  }
}
