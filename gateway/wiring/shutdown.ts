/**
 * When the gateway leaves, and when it hurries: SIGTERM, SIGINT, or npm, which started it, has gone. npm stands between
 * `npm start` and this process, so a signal may come twice, from the group and from npm, or not at all, where npm was
 * killed.
 */
import { fileURLToPath } from 'node:url';
import { CHECKOUT } from '../../contracts/places.js';
import { systemClock } from '../../contracts/clock.js';
import { watchParents } from '../../processes/parent-watch.js';

const PACKAGE = fileURLToPath(new URL('package.json', CHECKOUT));

/** A signal so long after the one before was sent again, and is not the same one by two ways. */
const AGAIN_MS = 2000;

export interface Leaving {
  /** Takes nothing new, and lets what runs end. Called once. */
  leave(): void;
  /** What runs has ten seconds from now. Called after `leave`. */
  hurry(): void;
}

interface Process extends Leaving {
  exit(): void;
  /** Milliseconds. */
  monotonic(): number;
}

/** `npm start` of this very package; a script of another one that starts us may well end before us. */
const startedByNpm = ({ npm_lifecycle_event: script, npm_package_json: file }: NodeJS.ProcessEnv): boolean =>
  script === 'start' && file === PACKAGE;

/**
 * Who waits for the process hurries it: SIGINT, of a person at a terminal, and any signal that comes again. A SIGINT
 * after that ends it at once.
 */
export class Signals {
  #at: number | undefined;
  #hurried = false;

  constructor(private readonly process: Process) {}

  received(signal: 'SIGTERM' | 'SIGINT'): void {
    const before = this.#at;
    if (before !== undefined && this.process.monotonic() - before < AGAIN_MS) return;
    this.leave();
    this.#at = this.process.monotonic();
    if (signal === 'SIGINT' && this.#hurried) this.process.exit();
    else if (signal === 'SIGINT' || before !== undefined) this.#hurry();
  }

  leave(): void {
    if (this.#at !== undefined) return;
    this.#at = this.process.monotonic();
    this.process.leave();
  }

  #hurry(): void {
    this.#hurried = true;
    this.process.hurry();
  }
}

/** Calls `leaving` as signals come. */
export function onShutdown(leaving: Leaving): void {
  const signals = new Signals({
    leave: () => leaving.leave(),
    hurry: () => leaving.hurry(),
    exit: () => process.exit(1),
    monotonic: () => systemClock.monotonic(),
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => signals.received(signal));
  // The reader of our output may go before us; its closed pipe is no error.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  if (startedByNpm(process.env)) {
    watchParents(systemClock, () => {
      console.error('speech gateway: npm has ended, leaving as well');
      signals.leave();
    });
  }
}
