/**
 * Groups keys of a telephone that belong together, an account number for instance: reports them together after `#`, after
 * a pause, or when the most keys are reached. A `#` by itself is reported, too.
 */
import type { Clock } from '../../../../contracts/clock.js';
import { LIMITS } from '../../../../contracts/limits.js';

const { keys: MOST, keysMs } = LIMITS.phone;
const KEY = /^[0-9*#A-D]$/;
const END = '#';
/** Among so many keys one at least shows that the caller is there: less than ten seconds pass between two such signs. */
const SIGNS_EVERY = 4;

export class Keypad {
  #keys = '';
  #stop = (): void => undefined;

  constructor(
    private readonly clock: Pick<Clock, 'after'>,
    private readonly told: (keys: string) => void,
    /** Called while keys are pressed that are not reported yet. */
    private readonly pressing: () => void = () => undefined,
  ) {}

  /** Ignores anything that is no key. */
  press(key: string): void {
    if (!KEY.test(key)) return;
    this.#stop();
    if (key !== END && this.#keys.length % SIGNS_EVERY === 0) this.pressing();
    if (key !== END) this.#keys += key;
    if (key === END || this.#keys.length >= MOST) this.#tell(this.#keys || END);
    else this.#stop = this.clock.after(keysMs, () => this.#tell(this.#keys));
  }

  #tell(keys: string): void {
    this.#keys = '';
    this.told(keys);
  }

  /** Forgets the keys that were not reported yet. */
  close(): void {
    this.#stop();
    this.#keys = '';
  }
}
