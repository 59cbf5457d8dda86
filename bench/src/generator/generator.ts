/** A generator process as the suite sees it. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { FromGenerator, Outcome, Progress, Task } from './protocol.js';

const MAIN = fileURLToPath(new URL('./main.js', import.meta.url));

export class Generator {
  readonly #child: ChildProcess = fork(MAIN, { serialization: 'advanced' });

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  /** Rejects where the generator itself fails; requests that fail are part of the outcome. */
  run(task: Task, onProgress: (progress: Progress) => void = () => {}): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const ended = (): void => reject(new Error('the load generator has ended'));
      const listen = (message: FromGenerator): void => {
        if ('progress' in message) return onProgress(message.progress);
        this.#child.off('message', listen).off('exit', ended);
        if ('outcome' in message) resolve(message.outcome);
        else reject(new Error(message.error));
      };
      this.#child.on('message', listen).once('exit', ended);
      this.#child.send(task);
    });
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}
