/** The victim: a key of another workspace that has a short sentence spoken twice a second, and a call on which its agent talks. */
import { type ChildProcess, fork } from 'node:child_process';
import type { Asked } from './speak.js';
import type { Target } from './target.js';

/** What victim.ts may tell the victim's process; `call` and `rest` are answered by a report. */
export type VictimCommand = 'call' | 'ask' | 'rest' | 'hangUp';

export interface VictimReport {
  readonly asked: readonly Asked[];
  /** The longest time in which its call heard no sound, in ms. */
  readonly gapMs: number;
  /** Whether its call has ended. */
  readonly isOver: boolean;
}

export class Victim {
  readonly #process: ChildProcess;
  readonly #gone: Promise<never>;

  constructor({ base, victim }: Pick<Target, 'base' | 'victim'>) {
    this.#process = fork(new URL('victim-process.js', import.meta.url), [base, victim]);
    this.#gone = new Promise((_, reject) => {
      this.#process.once('exit', () => reject(new Error('the victim’s process has ended')));
    });
    this.#gone.catch(() => undefined);
  }

  /** Begins a call; resolves once its agent talks. */
  async call(): Promise<void> {
    await this.#told('call');
  }

  hangUp(): void {
    this.#process.send('hangUp');
  }

  /** Its requests while `work` runs; the result of the work. */
  async beside<T>(work: () => Promise<T>): Promise<VictimReport & { readonly result: T }> {
    this.#process.send('ask');
    const result = await work();
    return { ...(await this.#told('rest')), result };
  }

  end(): void {
    if (this.#process.connected) this.#process.disconnect();
  }

  async #told(command: VictimCommand): Promise<VictimReport> {
    const report = new Promise<VictimReport>((resolve) => {
      this.#process.once('message', (told) => resolve(told as VictimReport));
    });
    this.#process.send(command);
    return await Promise.race([report, this.#gone]);
  }
}
