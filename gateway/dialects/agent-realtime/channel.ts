/**
 * A data channel in place of a WebSocket: the events of a call whose audio goes by RTP (docs/contract/agent-realtime.md 7).
 *
 * Invariants: as of a `Socket`: nothing is sent, and no event taken, once it begins to close; `released` is called exactly once; no memory
 * stays charged to a line that has gone.
 */
import { CLOSE, type CloseReason } from '../../../contracts/close-codes.js';
import type { Clock } from '../../../contracts/clock.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Log } from '../../../contracts/log.js';
import {
  type MemoryKind,
  type MemoryLedger,
  type MemoryShare,
  type MemoryOwner,
} from '../../../contracts/ports/accounts/memory.js';
import type { ChannelEvents, OfferedLine } from '../../../contracts/ports/calls/offered-calls.js';
import { SocketMemory } from '../../server/memory/socket-memory.js';
import type { Socket, SocketEvents } from '../../server/port.js';

export interface ChannelParts {
  readonly memory: MemoryLedger;
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Log;
}

/** Largest message that browsers take (RFC 8841: `max-message-size`). */
const MOST_EVENT = 256 * 1024;

interface Ending {
  readonly code: number;
  readonly reason: string;
}

export class Channel implements Socket {
  readonly #memory: SocketMemory;
  #holder: string;
  #line: OfferedLine | undefined;
  #events: SocketEvents | undefined;
  #ending: Ending | undefined;
  readonly #stopWaiting: () => void;

  /** `open`: begins the session once the channel is open; `released`: the line is gone. */
  constructor(
    holder: string,
    private readonly parts: ChannelParts,
    private readonly open: (socket: Socket) => SocketEvents,
    private readonly released: () => void,
  ) {
    this.#holder = holder;
    this.#memory = new SocketMemory(
      parts.memory,
      () => this.#holder,
      (error) => this.#exhausted(error),
    );
    this.#stopWaiting = parts.clock.after(LIMITS.agentRealtime.channelMs, () =>
      this.close('unauthenticated'),
    );
  }

  /** What the line tells. */
  get events(): ChannelEvents {
    return {
      share: this.#memory.share('frame'),
      opened: () => this.#opened(),
      event: (text) => {
        if (!this.#ending) this.#guarded(() => this.#events?.message(text));
      },
      closed: () => this.#closed(),
    };
  }

  /** Its own line. Called once, at once. */
  attach(line: OfferedLine): void {
    this.#line = line;
  }

  #opened(): void {
    this.#stopWaiting();
    if (!this.#ending) this.#guarded(() => (this.#events = this.open(this)));
  }

  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.failed(error);
    }
  }

  #exhausted(error: Parameters<MemoryOwner['evict']>[0]): void {
    if (!this.#ending) this.#guarded(() => this.#events?.mustEnd?.(error));
    this.close('memory');
  }

  send(data: string | Uint8Array): void {
    if (this.#ending || typeof data !== 'string') return;
    if (Buffer.byteLength(data) > MOST_EVENT)
      return this.failed(new Error('an event is larger than a data channel carries'));
    this.#line?.send(data);
  }

  get queuedBytes(): number {
    return 0;
  }

  drained(): Promise<void> {
    return Promise.resolve();
  }

  close(reason: CloseReason | Ending): void {
    if (this.#ending) return;
    this.#ending = typeof reason === 'string' ? CLOSE[reason] : reason;
    this.#stopWaiting();
    this.#guarded(() => this.#events?.gone?.());
    this.#line?.end();
  }

  failed(err: unknown): void {
    this.parts.log.error({ err }, 'a realtime call failed');
    this.close('internal');
  }

  authenticated(): void {
    // Its request was authenticated.
  }

  chargeTo(holder: string): void {
    this.#holder = holder;
  }

  memory(kind: MemoryKind, evict?: () => void): MemoryShare {
    return this.#memory.share(kind, evict);
  }

  #closed(): void {
    // A line that has gone without us is a client that has hung up, or one that the call knows to be lost.
    this.close('normal');
    this.#memory.close();
    const { code } = this.#ending ?? CLOSE.normal;
    this.#guarded(() => this.#events?.closed(code));
    this.#events = undefined;
    this.released();
  }
}
