/** The drain of one gateway, and its time limits (ops/adr/0027-draining-for-calls.md). */
import type { Clock } from '../../contracts/clock.js';
import { Deadline } from '../../contracts/time/deadline.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Log } from '../../contracts/log.js';
import { repeat } from '../../contracts/time/repeat.js';
import type { Config } from '../config.js';
import type { ListeningServer } from '../server/listen.js';
import type { OpenTransport } from './transport/parts.js';

/** How often a drain says what it waits for. */
const TELL_MS = 5000;
/** After the drain: time to close sockets and release resources. */
export const LET_GO_MS = 4000;
/** Margin by which a supervisor waits longer than its worker needs. */
const MARGIN_MS = 6000;

/** The longest drain, in milliseconds. */
export const drainMs = ({ drainSeconds }: Pick<Config, 'drainSeconds'>): number =>
  Math.max(drainSeconds * 1000, LIMITS.http.drainMs);

/** When a worker that was asked to leave is killed: after one request, and after it was hurried. */
export const leaveMs = (config: Pick<Config, 'drainSeconds'>): number =>
  drainMs(config) + LET_GO_MS + MARGIN_MS;
export const HURRIED_LEAVE_MS = LIMITS.http.hurriedDrainMs + LET_GO_MS + MARGIN_MS;

export interface DrainParts {
  readonly config: Pick<Config, 'drainSeconds'>;
  readonly listening: Pick<ListeningServer, 'drain' | 'close' | 'underWay'>;
  readonly transport: Pick<OpenTransport, 'stop' | 'figures'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Releases everything the gateway holds. */
  letGo(): Promise<void>;
}

export class GatewayDrain {
  #deadlines: readonly Deadline[] = [];
  #over: Promise<void> | undefined;
  #hurry: () => void = () => undefined;
  readonly #hurried = new Promise<void>((resolve) => (this.#hurry = resolve));

  constructor(private readonly parts: DrainParts) {}

  /** Says goodbye, then refuses new work, waits for running work, then releases everything. Idempotent. */
  begin(): Promise<void> {
    return (this.#over ??= this.#run());
  }

  /** Shortens a drain that has begun: no more goodbye, and ten seconds from now. */
  hurry(): void {
    this.#hurry();
    for (const deadline of this.#deadlines) deadline.bringForward(LIMITS.http.hurriedDrainMs);
  }

  async #run(): Promise<void> {
    const { config, listening, transport, clock, letGo } = this.parts;
    const told = this.#tell();
    const calls = new Deadline(clock, config.drainSeconds * 1000);
    const others = new Deadline(clock, LIMITS.http.drainMs);
    this.#deadlines = [calls, others];
    // Ending calls first lets them say goodbye before their sockets close.
    let goodbyeIsOver = (): void => undefined;
    const refuses = new Promise<void>((resolve) => (goodbyeIsOver = resolve));
    const own = transport.stop(calls.passed, refuses);
    await listening.drain({
      calls: own,
      callsUntil: calls.passed,
      until: others.passed,
      over: this.#hurried,
      refuses() {
        goodbyeIsOver();
        told.refuses();
      },
    });
    for (const deadline of this.#deadlines) deadline.drop();
    told.drained();
    await listening.close();
    await letGo();
    told.stopped();
  }

  /** Says what it waits for: at its beginning, and every few seconds if that has changed. */
  #tell() {
    const { config, clock, log } = this.parts;
    const from = clock.monotonic();
    const ms = (): number => Math.round(clock.monotonic() - from);
    let before = this.#waitsFor();
    log.info(
      { ...before, seconds: config.drainSeconds },
      'leaving: each connection ends with its next answer',
    );
    const look = async (): Promise<void> => {
      const now = this.#waitsFor();
      if (JSON.stringify(now) === JSON.stringify(before)) return;
      before = now;
      log.info({ ...now, ms: ms() }, 'leaving: still waiting');
    };
    const stop = repeat(clock, TELL_MS, look, () => undefined);
    return {
      refuses: () => log.info({ ms: ms() }, 'leaving: new work is refused, what runs goes on'),
      drained: () => {
        stop();
        log.info({ ...this.#waitsFor(), ms: ms() }, 'leaving: nothing is waited for any more');
      },
      stopped: () => log.info({ ms: ms() }, 'the gateway has let go of everything'),
    };
  }

  #waitsFor() {
    const { listening, transport } = this.parts;
    return { calls: transport.figures().calls, ...listening.underWay };
  }
}
