/** The drain of one gateway, and its time limits (ops/adr/0027-draining-for-calls.md). */
import type { Clock } from '../../contracts/clock.js';
import { Deadline } from '../../contracts/time/deadline.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Config } from '../config.js';
import type { Listening } from '../server/listen.js';
import type { OpenTransport } from './transport/parts.js';

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
  readonly listening: Pick<Listening, 'drain' | 'close'>;
  readonly transport: Pick<OpenTransport, 'stop'>;
  readonly clock: Clock;
  /** Releases everything the gateway holds. */
  letGo(): Promise<void>;
}

export class Drain {
  #deadlines: readonly Deadline[] = [];
  #over: Promise<void> | undefined;

  constructor(private readonly parts: DrainParts) {}

  /** Refuses new work, waits for running work, then releases everything. Idempotent. */
  begin(): Promise<void> {
    return (this.#over ??= this.#run());
  }

  /** Shortens a drain that has begun: ten seconds from now. */
  hurry(): void {
    for (const deadline of this.#deadlines) deadline.bringForward(LIMITS.http.hurriedDrainMs);
  }

  async #run(): Promise<void> {
    const { config, listening, transport, clock, letGo } = this.parts;
    const calls = new Deadline(clock, config.drainSeconds * 1000);
    const others = new Deadline(clock, LIMITS.http.drainMs);
    this.#deadlines = [calls, others];
    // Ending calls first lets them say goodbye before their sockets close.
    const own = transport.stop(calls.passed);
    await listening.drain({ calls: own, callsUntil: calls.passed, until: others.passed });
    for (const deadline of this.#deadlines) deadline.drop();
    await listening.close();
    await letGo();
  }
}
