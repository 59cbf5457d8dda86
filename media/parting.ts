/** Clients say good-bye before they join anew, and in the same words as one who hangs up: those do not come back. */
const PARTING_MS = 1500;

export class Parting {
  #timer: NodeJS.Timeout | undefined;

  /** `left` is called where the client has not come back in time. */
  constructor(private readonly left: () => void) {}

  /** The client has said good-bye. */
  begins(ms: number = PARTING_MS): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.left, ms);
  }

  /** It is back, or nobody waits for it any more. Idempotent. */
  isOver(): void {
    clearTimeout(this.#timer);
  }
}
