/**
 * One WebSocket above the adapters: its egress queue, the limit on frames, the connection cap, slow readers, the memory
 * of what waits, orderly closing (docs/contract/limits.md; contracts/close-codes.ts).
 *
 * Invariants: frames leave in the order of `send`; `closed` is called exactly once and nothing after it;
 * after `close` only frames that are queued already are sent, and none is received; a connection whose client
 * does not read ends within GRACE_MS of its queue being full; no memory stays charged to a connection that has closed.
 */
import { CLOSE, type CloseReason, endingFor } from '../../contracts/close-codes.js';
import type { Clock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import type { TurnShare } from '../../contracts/time/loop-turn.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Log } from '../../contracts/log.js';
import { currentOwner, ownedBy, type Owner } from '../../contracts/owner.js';
import {
  type MemoryKind,
  type MemoryLedger,
  memoryExhausted,
  type MemoryOwner,
  type MemoryShare,
} from '../../contracts/ports/accounts/memory.js';
import type { Wire, WireEvents } from './adapters/adapter.js';
import { fitReason } from './close-reason.js';
import { EgressQueue } from './egress-queue.js';
import { SocketMemory } from './memory/socket-memory.js';
import { type SocketFrame, LongText } from './frames/frame-queue.js';
import type { FloodBrake } from './frames/flood-brake.js';
import type { FrameTurns } from './frames/frame-turns.js';
import { IngressQueue } from './frames/ingress-queue.js';
import type { LandedFrame } from './frames/landing.js';
import type { Metrics } from './system/metrics.js';
import type { HttpRequest, Socket, SocketAccept, SocketEvents } from './port.js';

/** How long a full queue may make no progress, and how long an orderly close may take. */
const GRACE_MS = 15_000;
/** The same for a connection that has to go for want of memory. */
const EXHAUSTED_GRACE_MS = 1000;
/** `drained()` resolves below this. */
const LOW_BYTES = LIMITS.http.egressBytes / 4;
/** A socket whose producer ignores `drained()` is cut at this size, without a grace. */
const HARD_BYTES = 64 * LIMITS.http.egressBytes;

interface Ending {
  readonly code: number;
  readonly reason: string;
}

const nothing = (): void => undefined;

/** The handshake of a socket; `holder`: its workspace, before a key is known its address. */
export type Handshake = Pick<HttpRequest, 'generationId' | 'clientAddress'> & { readonly holder: string };

/** What connections have in common. */
export interface InCommon {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Ledger of what waits for sockets. */
  readonly memory: MemoryLedger;
  /** Of the event loop, by holder. */
  readonly turns: FrameTurns;
  readonly brake: FloodBrake;
}

export class SocketConnection implements Socket, WireEvents {
  readonly #egress: EgressQueue;
  #events: SocketEvents | undefined;
  #goneTold = false;
  #ending: Ending | undefined;
  #wireEnded = false;
  #isClosed = false;
  /** That of its handshake, until it says whose it is. Its work, which may be a call, may outlive it. */
  readonly #owner: Owner = { tag: currentOwner()?.tag ?? '' };
  #waiting: (() => void)[] = [];
  #cancelCap = nothing;
  /** Ends the wait for the client's authentication. */
  #stopWaiting = nothing;
  #mostBytes: number;
  #cancelGrace: (() => void) | undefined;
  #isExhausted = false;
  #holder: string;
  #turn: TurnShare;
  /** Made with the first frame: many clients send none for long. */
  #ingress: IngressQueue | undefined;
  /** Of what waits for the dialect. */
  readonly #waits: SocketMemory;
  /** Of what waits for the client; made with its first charge. */
  #frames: SocketMemory | undefined;

  constructor(
    private readonly wire: Wire,
    private readonly accept: SocketAccept,
    private readonly request: Handshake,
    private readonly around: InCommon,
    private readonly left: () => void,
  ) {
    this.#holder = `address:${request.clientAddress}`;
    this.#turn = around.turns.of(request.holder);
    this.#waits = this.#memoryOf((error) => this.#exhausted(error));
    this.#egress = new EgressQueue(wire, () => this.#ofFrames());
    this.#mostBytes = accept.maxFrameBytes;
  }

  #memoryOf(exhausted: MemoryOwner['evict']): SocketMemory {
    return new SocketMemory(this.around.memory, () => this.#holder, exhausted);
  }

  #ofFrames(): MemoryShare {
    this.#frames ??= this.#memoryOf((error) => this.#unread(error));
    return this.#frames.share('frame');
  }

  #begun(): IngressQueue {
    return new IngressQueue(this.#waits.share('frame'), {
      turn: () => this.#turn,
      take: (frame) => this.#guarded(() => this.#take(frame)),
      full: () => this.#flooded(),
      exhausted: () => this.#exhausted(memoryExhausted()),
    });
  }

  get queuedBytes(): number {
    return this.#isClosed ? 0 : this.#egress.bytes;
  }

  get #isOver(): boolean {
    return this.#ending !== undefined || this.#isClosed;
  }

  get isOfCall(): boolean {
    return this.accept.connectionMs === null;
  }

  start(): void {
    const cap =
      this.accept.connectionMs === undefined ? LIMITS.socket.connectionMs : this.accept.connectionMs;
    if (cap !== null)
      this.#cancelCap = this.around.clock.after(cap, () => this.#end(new ServiceError('connection_expired')));
    this.#guarded(() => {
      this.#events = this.accept.open(this);
    });
    if (this.#ending) this.#tellGone();
  }

  /** Waits for `authenticated` for a limited time. `leave` gives up its place in the pool. */
  wait(leave: () => void): void {
    const late = this.around.clock.after(LIMITS.unauthenticated.socketMs, () =>
      this.close('unauthenticated'),
    );
    const { maxFrameBytes } = this.accept;
    this.#mostBytes = Math.min(maxFrameBytes, LIMITS.unauthenticated.frameBytes);
    this.#stopWaiting = () => {
      this.#mostBytes = maxFrameBytes;
      late();
      leave();
    };
  }

  authenticated(): void {
    if (this.#isOver) return;
    this.#stopWaiting();
    this.wire.authenticated();
  }

  chargeTo(holder: string): void {
    this.#holder = holder;
    this.#turn = this.around.turns.of(holder);
  }

  memory(kind: MemoryKind, evict?: () => void): MemoryShare {
    return this.#waits.share(kind, evict);
  }

  send(data: string | Uint8Array): void {
    if (this.#isOver) return;
    this.around.metrics.sent(this.#egress.push(data));
    if (!this.#egress.charge()) this.#unread(memoryExhausted());
    const queued = this.#egress.bytes;
    if (queued > HARD_BYTES) this.#cut();
    else if (queued > LIMITS.http.egressBytes) this.#watchReader();
  }

  drained(): Promise<void> {
    if (this.#isClosed || this.#egress.bytes <= LOW_BYTES) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  close(reason: CloseReason | Ending): void {
    if (this.#isOver) return;
    this.#ending = typeof reason === 'string' ? CLOSE[reason] : reason;
    this.#ingress?.clear();
    this.#cancelCap();
    this.#cancelGrace?.();
    this.#cancelGrace = this.around.clock.after(this.#isExhausted ? EXHAUSTED_GRACE_MS : GRACE_MS, () =>
      this.wire.terminate(),
    );
    this.#tellGone();
    this.#endWhenSent();
  }

  terminate(): void {
    if (!this.#isClosed) this.wire.terminate();
  }

  failed(err: unknown): void {
    this.around.log.error({ generationId: this.request.generationId, err }, 'a socket failed');
    this.close('internal');
  }

  admits(byteLength: number): boolean {
    if (this.#isOver) return false;
    this.around.metrics.received(byteLength);
    if (byteLength <= this.#mostBytes) return true;
    this.#guarded(() => this.#events?.tooBig?.());
    this.close('tooBig');
    return false;
  }

  holds(bytes: ArrayBuffer, isText: boolean): boolean {
    return this.#isOver || (this.#ingress ??= this.#begun()).holds(bytes, isText);
  }

  message(frame: SocketFrame | LandedFrame): void {
    if (!this.#isOver) (this.#ingress ??= this.#begun()).push(frame);
  }

  flushed(): void {
    if (this.#isClosed) return;
    this.#egress.flush();
    if (this.#egress.bytes <= LOW_BYTES) this.#release();
    this.#endWhenSent();
  }

  closed(code: number): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopWaiting();
    this.#cancelCap();
    this.#cancelGrace?.();
    this.#ingress?.clear();
    this.#egress.clear();
    this.left();
    this.#tellGone();
    this.#release();
    this.#waits.close();
    this.#frames?.close();
    this.#guarded(() => this.#events?.closed(this.#ending?.code ?? code));
    // Whoever still knows this connection keeps nothing of what waited for it.
    this.#events = undefined;
  }

  #take(frame: SocketFrame): void {
    if (!(frame instanceof LongText)) this.#events?.message(frame);
    else if (this.#events?.longText) this.#events.longText(frame.bytes);
    else this.#events?.message(frame.bytes.toString());
  }

  /** Ends the socket for want of memory. */
  #exhausted(error: ServiceError): void {
    if (this.#isOver || this.#isExhausted) return;
    this.#isExhausted = true;
    this.#end(error);
  }

  /** Ends the socket in the shape of its protocol. */
  #end(error: ServiceError): void {
    if (this.#isOver) return;
    this.#guarded(() => this.#events?.mustEnd?.(error));
    this.close(endingFor(error.code));
  }

  /** The same because of frames that its client does not read: they are dropped. */
  #unread(error: ServiceError): void {
    // The frame that says so is sent without a charge.
    if (!this.#isExhausted) this.#egress.clear();
    this.#exhausted(error);
  }

  #tellGone(): void {
    if (!this.#events || this.#goneTold) return;
    this.#goneTold = true;
    this.#guarded(() => this.#events?.gone?.());
    this.#waits.close();
  }

  #release(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  #endWhenSent(): void {
    if (!this.#ending || this.#wireEnded || this.#egress.bytes > 0) return;
    this.#wireEnded = true;
    this.wire.end(this.#ending.code, fitReason(this.#ending.reason));
  }

  /** At once, as the stack reads on, and calls us for each frame, while anything is still to be sent. */
  #flooded(): void {
    this.around.brake.flooded(this.request.holder);
    this.#egress.clear();
    this.close('flooded');
  }

  /** Cuts a client whose queue is still full after a grace in which it has read nothing. */
  #watchReader(): void {
    if (this.#cancelGrace) return;
    const before = this.#egress.deliveredBytes;
    this.#cancelGrace = this.around.clock.after(GRACE_MS, () => {
      this.#cancelGrace = undefined;
      if (this.#egress.bytes <= LIMITS.http.egressBytes) return;
      if (this.#egress.deliveredBytes > before) this.#watchReader();
      else this.#cut();
    });
  }

  /** The close frame follows the bytes that the wire holds already, so it may still arrive. */
  #cut(): void {
    if (this.#ending) return;
    this.#egress.clear();
    this.close('slowReader');
    if (this.#wireEnded) return;
    this.#wireEnded = true;
    this.wire.end(CLOSE.slowReader.code, CLOSE.slowReader.reason);
  }

  /** Runs code of a dialect; if it throws, only its own socket ends. */
  #guarded(task: () => void): void {
    try {
      ownedBy(this.#owner, task);
    } catch (error) {
      this.failed(error);
    }
  }
}
