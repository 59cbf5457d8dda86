/** Who gets a session's events: its client, and those who watch it, who get no audio. */
import type { CloseReason } from '../../../contracts/close-codes.js';
import type { Socket } from '../../server/port.js';
import type { Seat } from './seat.js';

export class Seats {
  client: Seat | undefined;
  readonly watchers = new Set<Seat>();

  readonly all: Pick<Socket, 'send'> = {
    send: (data) => {
      this.client?.socket.send(data);
      for (const { socket } of this.watchers) socket.send(data);
    },
  };

  readonly hearing: Pick<Socket, 'send'> = { send: (data) => this.client?.socket.send(data) };

  close(reason: CloseReason | { readonly code: number; readonly reason: string }): void {
    for (const seat of [this.client, ...this.watchers]) seat?.socket.close(reason);
  }
}
