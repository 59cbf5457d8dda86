/**
 * The contexts of one speech socket. A context that was ended still speaks the rest of its text, but its name is free
 * at once for a new context (docs/contract/protocol-b.md 3, "multi-stream-input").
 * Invariant: at most LIMITS.streamInput.contexts are live at once, those that still speak the rest included. They give
 * way to new ones, because a voice agent ends the answer that its user has interrupted.
 */
import { LIMITS } from '../../../../contracts/limits.js';
import type { SpeechContext } from './context.js';

export class Contexts {
  readonly #open = new Map<string, SpeechContext>();
  /** Contexts that speak the rest of their text, and their names; the first that was ended comes first. */
  readonly #ending = new Map<SpeechContext, string>();

  get full(): boolean {
    return this.#open.size + this.#ending.size >= LIMITS.streamInput.contexts;
  }

  get empty(): boolean {
    return this.#open.size + this.#ending.size === 0;
  }

  /** The context that was ended first, of those that still speak. */
  get oldestEnding(): SpeechContext | undefined {
    return this.#ending.keys().next().value;
  }

  find(name: string): SpeechContext | undefined {
    return this.#open.get(name);
  }

  add(name: string, context: SpeechContext): void {
    this.#open.set(name, context);
  }

  /** Removes a context that has finished. */
  remove(name: string, context: SpeechContext): void {
    this.#ending.delete(context);
    if (this.#open.get(name) === context) this.#open.delete(name);
  }

  /** Ends the context of that name and frees the name; if it was ended before, stops it at once. */
  end(name: string): void {
    const context = this.#open.get(name);
    if (!context) return this.#stop(name);
    this.#open.delete(name);
    this.#ending.set(context, name);
    context.end();
  }

  endAll(): void {
    for (const name of [...this.#open.keys()]) this.end(name);
  }

  /** Stops all contexts at once, since the socket is closing. */
  leaveAll(): void {
    const left = [...this.#open.values(), ...this.#ending.keys()];
    this.#open.clear();
    this.#ending.clear();
    for (const context of left) context.leave();
  }

  #stop(name: string): void {
    for (const [context, its] of [...this.#ending]) if (its === name) context.stop();
  }
}
