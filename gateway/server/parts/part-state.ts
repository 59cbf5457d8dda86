/**
 * Whether one part works. It fails from the first failure on, and is back once it has worked for two seconds without another.
 *
 * Invariants: one line when it goes away, one for each further cause, one when it is back; of failures in between, one for each session.
 */
import type { Clock } from '../../../contracts/clock.js';
import type { Log } from '../../../contracts/log.js';
import type { ForWhom, PartOutcome, Part, PartAnswer } from '../../../contracts/ports/parts.js';
import { backSentence, mendedBy, ROWS, sentenceOf } from './sentences.js';

/** How long it must work before it counts as back: one that fails now and then is not back in between. */
export const SETTLE_MS = 2000;
/**
 * A cheap question is believed after so long without a failure of a real one: a second engine may be asked nothing else while the first
 * one works, and would count as failing for ever.
 */
export const BELIEVED_MS = 10 * 60_000;
/** Most sessions that get a line of their own in one outage. */
const MOST_SESSIONS = 100;

/** One part, as `/health` and other processes are told of it. Times in milliseconds since the epoch. */
export interface PartReport {
  readonly part: Part;
  readonly status: 'ok' | 'failing' | 'unknown';
  /** Of the status. */
  readonly since: number;
  /** The last failure, which may be long ago. */
  readonly error: Pick<PartAnswer, 'outcome' | 'status' | 'code' | 'did'> | undefined;
  /** When it last answered. */
  readonly workedAt: number | undefined;
  readonly failedAt: number | undefined;
}

interface Outage {
  readonly since: number;
  failures: number;
  readonly causes: Set<PartOutcome>;
  readonly sessions: Set<string>;
  last: PartAnswer;
}

export interface PartStateParts {
  readonly clock: Clock;
  readonly log: Log;
}

const idsOf = ({ workspaceId, sessionId, agentId }: ForWhom = {}) => ({
  ...(workspaceId !== undefined && { workspaceId }),
  ...(sessionId !== undefined && { sessionId }),
  ...(agentId !== undefined && { agentId }),
});

export class PartState {
  #status: PartReport['status'] = 'unknown';
  #since: number;
  #error: PartReport['error'];
  #workedAt: number | undefined;
  #failedAt: number | undefined;
  #outage: Outage | undefined;
  #stopSettling: (() => void) | undefined;

  constructor(
    readonly part: Part,
    private readonly parts: PartStateParts,
  ) {
    this.#since = parts.clock.now();
  }

  get isFailing(): boolean {
    return this.#outage !== undefined;
  }

  get report(): PartReport {
    return {
      part: this.part,
      status: this.#status,
      since: this.#since,
      error: this.#error,
      workedAt: this.#workedAt,
      failedAt: this.#failedAt,
    };
  }

  told(told: PartAnswer): void {
    const { fails = false, works = false } = ROWS[told.outcome];
    if (fails) this.#failed(told);
    else if (works && this.#isProof(told)) this.worked(this.parts.clock.now());
  }

  /** It has worked at that time, here or in another process. */
  worked(at: number): void {
    if (this.#failedAt !== undefined && at < this.#failedAt) return;
    this.#workedAt = Math.max(at, this.#workedAt ?? at);
    if (this.#status === 'unknown') this.#becomes('ok', at);
    if (this.#outage) this.#stopSettling ??= this.parts.clock.after(SETTLE_MS, () => this.#back());
  }

  /** Forgets what is to come. */
  stop(): void {
    this.#stopSettling?.();
  }

  /** A cheap question proves that a part can be reached, and for a while nothing of what only a real one sees. */
  #isProof({ isCheck = false }: PartAnswer): boolean {
    const { last } = this.#outage ?? {};
    if (!isCheck || !last || last.isCheck === true || last.outcome === 'unreachable') return true;
    return this.parts.clock.now() - (this.#failedAt ?? 0) >= BELIEVED_MS;
  }

  #failed(told: PartAnswer): void {
    const now = this.parts.clock.now();
    const { outcome, status, code, did, whom: { sessionId } = {} } = told;
    this.#stopSettling?.();
    this.#stopSettling = undefined;
    this.#failedAt = now;
    this.#error = { outcome, status, code, did };
    const outage = (this.#outage ??= this.#begin(told, now));
    const isNews = !outage.causes.has(outcome);
    const isNewSession =
      sessionId !== undefined && !outage.sessions.has(sessionId) && outage.sessions.size < MOST_SESSIONS;
    outage.failures += 1;
    outage.last = told;
    outage.causes.add(outcome);
    if (sessionId !== undefined && isNewSession) outage.sessions.add(sessionId);
    if (isNews || isNewSession) this.#say(isNews, told);
  }

  #begin(last: PartAnswer, since: number): Outage {
    this.#becomes('failing', since);
    return { since, failures: 0, causes: new Set(), sessions: new Set(), last };
  }

  #becomes(status: PartReport['status'], since: number): void {
    this.#status = status;
    this.#since = since;
  }

  /** What accounts have configured is their own fault, and no error of this gateway. */
  #say(isNews: boolean, told: PartAnswer): void {
    const { log } = this.parts;
    const write = isNews && this.part.owner !== 'account' ? log.error : log.warn;
    const { outcome, status, code, reason, whom } = told;
    write.call(
      log,
      {
        ...this.#name(),
        setting: mendedBy(this.part, told),
        outcome,
        status,
        code,
        reason,
        ...(told.isCheck === true && { check: true }),
        ...idsOf(whom),
      },
      sentenceOf(this.part, told),
    );
  }

  #back(): void {
    const { clock, log } = this.parts;
    const outage = this.#outage;
    this.#stopSettling = undefined;
    if (!outage) return;
    this.#outage = undefined;
    this.#becomes('ok', this.#workedAt ?? clock.now());
    const seconds = Math.max(0, Math.round((this.#since - outage.since) / 1000));
    const { failures, sessions } = outage;
    log.info(
      { ...this.#name(), seconds, failures, sessions: sessions.size, ...this.#workspaceOf(outage) },
      backSentence(this.part, seconds),
    );
  }

  #name() {
    const { kind: part, name, address } = this.part;
    return { part, name, ...(address !== undefined && { address }) };
  }

  #workspaceOf({ last: { whom } }: Outage) {
    return this.part.owner === 'account' && whom?.workspaceId !== undefined
      ? { workspaceId: whom.workspaceId }
      : {};
  }
}
