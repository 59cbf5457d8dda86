/**
 * Keys of a telephone that belong together, an account number for instance: they are told as one, after `#`, which ends
 * them, after a pause, or when they are as many as there may be. `#` by itself is told as well.
 */
import type { Clock } from '../../contracts/clock.js';
import { LIMITS } from '../../contracts/limits.js';

const { keys: MOST, keysMs } = LIMITS.phone;
const KEY = /^[0-9*#A-D]$/;
const END = '#';

export class Keypad {
  #keys = '';
  #stop = (): void => undefined;

  constructor(
    private readonly clock: Pick<Clock, 'after'>,
    private readonly told: (keys: string) => void,
  ) {}

  /** What is no key is passed over. */
  press(key: string): void {
    if (!KEY.test(key)) return;
    this.#stop();
    if (key !== END) this.#keys += key;
    if (key === END || this.#keys.length >= MOST) this.#tell(this.#keys || END);
    else this.#stop = this.clock.after(keysMs, () => this.#tell(this.#keys));
  }

  #tell(keys: string): void {
    this.#keys = '';
    this.told(keys);
  }

  /** What was pressed last and has not been told is forgotten. */
  close(): void {
    this.#stop();
    this.#keys = '';
  }
}
