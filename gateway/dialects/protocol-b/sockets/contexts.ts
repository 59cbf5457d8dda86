/**
 * The contexts of one speech socket. One that was ended speaks on to its end, but its name is free again: what
 * comes under it then is another context (docs/contract/protocol-b.md 3, "multi-stream-input").
 * Invariant: at most LIMITS.streamInput.contexts live at once, those that speak to their end among them.
 */
import { LIMITS } from '../../../../contracts/limits.js';
import type { SpeechContext } from './context.js';

export class Contexts {
  readonly #open = new Map<string, SpeechContext>();
  readonly #live = new Set<SpeechContext>();

  get full(): boolean {
    return this.#live.size >= LIMITS.streamInput.contexts;
  }

  get empty(): boolean {
    return this.#live.size === 0;
  }

  find(name: string): SpeechContext | undefined {
    return this.#open.get(name);
  }

  add(name: string, context: SpeechContext): void {
    this.#open.set(name, context);
    this.#live.add(context);
  }

  /** It is over. */
  remove(name: string, context: SpeechContext): void {
    this.#live.delete(context);
    if (this.#open.get(name) === context) this.#open.delete(name);
  }

  /** Takes no more text under that name. */
  end(name: string): void {
    const context = this.#open.get(name);
    this.#open.delete(name);
    context?.end();
  }

  endAll(): void {
    for (const name of [...this.#open.keys()]) this.end(name);
  }

  /** The socket goes. */
  leaveAll(): void {
    const left = [...this.#live];
    this.#live.clear();
    this.#open.clear();
    for (const context of left) context.leave();
  }
}
