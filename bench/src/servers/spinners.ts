/** Processes that do nothing but keep cores busy: what else a machine has to do. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

const SPIN =
  'process.on("disconnect", () => process.exit()); (function spin() { const until = Date.now() + 50; while (Date.now() < until); setImmediate(spin); })();';

export class Spinners {
  readonly #processes: readonly ChildProcess[];

  constructor(count: number) {
    this.#processes = Array.from({ length: count }, () =>
      spawn(process.execPath, ['-e', SPIN], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }),
    );
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    const running = this.#processes.filter(
      ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
    );
    const ended = running.map((each) => once(each, 'exit'));
    for (const each of running) each.kill('SIGKILL');
    await Promise.all(ended);
  }
}
