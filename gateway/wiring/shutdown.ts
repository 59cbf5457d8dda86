/**
 * Decides when the gateway drains, and when it hurries: on SIGTERM, SIGQUIT, SIGINT or SIGHUP, or when the npm that started it has gone. npm stands between
 * `npm start` and this process, so a signal may come twice, from the group and from npm, or not at all, where npm was
 * killed.
 */
import { fileURLToPath } from 'node:url';
import { CHECKOUT } from '../../contracts/places.js';
import { systemClock } from '../../contracts/clock.js';
import { isUnderNohup, onHangUp } from '../../processes/supervisor/hang-up.js';
import { outliveReaders } from '../output.js';
import { say } from './logging/say.js';
import { watchParents } from '../../processes/supervisor/parent-watch.js';

const PACKAGE = fileURLToPath(new URL('package.json', CHECKOUT));

/** A signal at least this long after the previous one was sent again; a sooner one is the same signal arriving twice. */
const AGAIN_MS = 2000;

export interface Leaving {
  /** Begins the drain. Called once. */
  leave(): void;
  /** Shortens the drain to ten seconds. Called after `leave`. */
  hurry(): void;
}

interface Process extends Leaving {
  exit(): void;
  /** Milliseconds. */
  monotonic(): number;
}

/**
 * Whether `npm start` of this very package started us, or `npx speech-gateway`; the script of another package may well end before us.
 * npx quotes the program's name.
 */
const startedByNpm = ({
  npm_lifecycle_event: event,
  npm_lifecycle_script: script = '',
  npm_package_json: file,
}: NodeJS.ProcessEnv): boolean =>
  (event === 'start' && file === PACKAGE) || (event === 'npx' && /^\W*speech-gateway\b/.test(script));

/**
 * Signals that hurry the process, because somebody waits for it: SIGINT from a terminal, and any repeated signal. A SIGINT
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
  // Some service managers, and Ctrl-\\: by default it would end this process alone, and leave Postgres behind.
  process.on('SIGQUIT', () => signals.received('SIGTERM'));
  // A closed terminal counts as Ctrl-C: nobody waits at it any more.
  onHangUp(() => signals.received('SIGINT'));
  outliveReaders();
  // A closed terminal ends the npm that `nohup` started; that must not end the gateway.
  if (startedByNpm(process.env) && !isUnderNohup()) {
    watchParents(systemClock, () => {
      say('warn', 'npm has ended, leaving as well');
      signals.leave();
    });
  }
}
