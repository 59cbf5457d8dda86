/**
 * The connections of a session: that of its client, which may be replaced, and those of watchers, who get no audio. Those after the first
 * are led here, from this process or another one.
 */
import type { CloseReason } from '../../../contracts/close-codes.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { SignalEnd, SignalLink } from '../../../contracts/ports/calls/calls.js';
import type { Socket } from '../../server/port.js';
import { type LinkedParts, LinkedSocket } from './linked.js';
import { Seat, type SeatHost, type SeatSocket } from './seat.js';

const MOST_WATCHERS = LIMITS.agentRealtime.watchers;
const TOO_MANY = new ServiceError('concurrency_exceeded', {
  message: `A call has at most ${MOST_WATCHERS} watchers`,
});

export interface SeatsHost extends SeatHost {
  /** Shows a new connection the session. */
  greet(seat: Seat): void;
}

export class Seats {
  client: Seat | undefined;
  readonly #watchers = new Set<Seat>();

  /** `holder`: whose memory is charged for what waits. */
  constructor(
    private readonly host: SeatsHost,
    private readonly holder: string,
    private readonly parts: LinkedParts,
  ) {}

  readonly all: Pick<Socket, 'send'> = {
    send: (data) => {
      this.client?.socket.send(data);
      for (const { socket } of this.#watchers) socket.send(data);
    },
  };

  readonly hearing: Pick<Socket, 'send'> = { send: (data) => this.client?.socket.send(data) };

  watches(seat: Seat): boolean {
    return this.#watchers.has(seat);
  }

  left(seat: Seat): void {
    this.#watchers.delete(seat);
  }

  /** The client's first socket. `ended`: called once it is closed. */
  enter(socket: SeatSocket, ended: () => void): Seat {
    this.client = new Seat(socket, this.host, ended);
    this.host.greet(this.client);
    return this.client;
  }

  watch(link: SignalLink): SignalEnd {
    const isFull = this.#watchers.size >= MOST_WATCHERS;
    return this.#linked(link, isFull ? TOO_MANY : undefined, (seat) => this.#watchers.add(seat));
  }

  /** The client is back, by another socket. */
  replace(link: SignalLink, refusal: ServiceError | undefined, back: () => void): SignalEnd {
    return this.#linked(link, refusal, (seat) => {
      const before = this.client;
      this.client = seat;
      before?.socket.close('replaced');
      back();
    });
  }

  #linked(link: SignalLink, refusal: ServiceError | undefined, take: (seat: Seat) => void): SignalEnd {
    const socket = new LinkedSocket(link, this.holder, this.parts);
    const seat = new Seat(socket, this.host);
    socket.serve(seat);
    if (refusal) {
      this.host.refuse(refusal, null, seat);
      socket.close({ code: 1008, reason: refusal.message });
      return socket;
    }
    take(seat);
    this.host.greet(seat);
    return socket;
  }

  close(reason: CloseReason | { readonly code: number; readonly reason: string }): void {
    for (const seat of [this.client, ...this.#watchers]) seat?.socket.close(reason);
  }
}
