/** Which fault a double has: one of its own for each call, or one for whoever asks. */

/** The fault of all calls. */
const ALL = '';

export class Switch<Fault extends string> {
  readonly #faults = new Map<string, Fault>();

  /** `call`: whose requests fail; absent: everybody's. */
  set(fault: Fault, call = ALL): void {
    this.#faults.set(call, fault);
  }

  clear(call = ALL): void {
    this.#faults.delete(call);
  }

  /** The fault of a request, which may not say of which call it is. */
  of(call = ALL): Fault | undefined {
    return this.#faults.get(call) ?? this.#faults.get(ALL);
  }
}
