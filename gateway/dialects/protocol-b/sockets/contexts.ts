/**
 * The contexts of one speech socket. An ended context still speaks the rest of its text, but its name is free at
 * once for a new context (docs/contract/protocol-b.md 3, "multi-stream-input").
 * Invariant: at most LIMITS.streamInput.contexts are live at once, including ended ones that still speak.
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

  /** Removes a context that has finished. */
  remove(name: string, context: SpeechContext): void {
    this.#live.delete(context);
    if (this.#open.get(name) === context) this.#open.delete(name);
  }

  /** Ends the context of that name and frees the name. */
  end(name: string): void {
    const context = this.#open.get(name);
    this.#open.delete(name);
    context?.end();
  }

  endAll(): void {
    for (const name of [...this.#open.keys()]) this.end(name);
  }

  /** Stops all contexts at once, since the socket is closing. */
  leaveAll(): void {
    const left = [...this.#live];
    this.#live.clear();
    this.#open.clear();
    for (const context of left) context.leave();
  }
}
