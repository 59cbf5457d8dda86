/**
 * A child that has nothing to do may ask to retire, so that a fresh one takes its place: allocators of native libraries keep what many
 * jobs at once have needed, and only the end of the process gives it back.
 */
import type { Clock } from '../../contracts/clock.js';

export interface IdleRetirement {
  /** How long the child has had nothing to do before it is asked, in milliseconds. */
  readonly afterMs: number;
  /** Whether a fresh child would be better. Asked once for each time without work. */
  isDue(): boolean;
}

export class IdleWatch {
  #cancel: (() => void) | undefined;

  /** `due`: called at most once, while there is no work. Without a `retirement`, never. */
  constructor(
    private readonly retirement: IdleRetirement | undefined,
    private readonly clock: Pick<Clock, 'after'>,
    private readonly due: () => void,
  ) {}

  /** The child has so many jobs now. */
  jobs(count: number): void {
    this.#cancel?.();
    this.#cancel = undefined;
    const { retirement } = this;
    if (count > 0 || !retirement) return;
    this.#cancel = this.clock.after(retirement.afterMs, () => {
      if (retirement.isDue()) this.due();
    });
  }
}
