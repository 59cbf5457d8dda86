/** Pings of a conversation in its own frames: the client's player shows the time that an answer takes. */
import type { Clock } from '../../../../contracts/clock.js';
import { pingFrame } from './server-frames.js';

const EVERY_MS = 5000;

export class Pings {
  #stop = (): void => undefined;
  #sent: { readonly id: number; readonly at: number } | undefined;
  #ms: number | null = null;

  constructor(
    private readonly send: (frame: string) => void,
    private readonly nextId: () => number,
    private readonly clock: Pick<Clock, 'monotonic' | 'after'>,
  ) {}

  start(): void {
    const id = this.nextId();
    this.#sent = { id, at: this.clock.monotonic() };
    this.send(pingFrame(id, this.#ms));
    this.#stop = this.clock.after(EVERY_MS, () => this.start());
  }

  /** An answer to another one than the last is ignored. */
  answered(id: unknown): void {
    const sent = this.#sent;
    if (!sent || sent.id !== id) return;
    this.#ms = Math.round(this.clock.monotonic() - sent.at);
    this.#sent = undefined;
  }

  stop(): void {
    this.#stop();
  }
}
