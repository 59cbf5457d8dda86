/**
 * Keeps what the gateway knows of its parts (contracts/ports/parts.ts): how often each was asked and what came of it, how long that took,
 * and whether it works.
 *
 * Invariant: bounded. Kinds, outcomes and the names of the operator's parts are few; of what accounts have configured only the last
 * MOST_OF_ACCOUNTS addresses are told apart, and metrics name none of them.
 */
import type { Clock } from '../../../contracts/clock.js';
import { ONLINE_TIMES } from '../../../contracts/limits/online-times.js';
import type { Log } from '../../../contracts/log.js';
import { meaningOf, outcomeOfStatus } from '../../../contracts/parts/outcome-of.js';
import type { ForWhom, Keeper, Part, Question, PartAnswer } from '../../../contracts/ports/parts.js';
import type { Metrics } from '../system/metrics.js';
import { type PartReport, PartState } from './part-state.js';

const MOST_OF_ACCOUNTS = 500;

export interface KeeperParts {
  readonly clock: Clock;
  readonly log: Log;
}

const isOfAccount = ({ owner }: Part): boolean => owner === 'account';

/** Accounts may have configured the same address: each has its own state. */
const keyOf = (part: Part, { workspaceId = '' }: ForWhom = {}): string => {
  const { kind, name, address = '' } = part;
  return [kind, name, address, ...(isOfAccount(part) ? [workspaceId] : [])].join('\n');
};

/**
 * Whether somebody on the line has waited in vain: they talk on, and so the request ends before its time is up. Callers who always do
 * would hide a model that hangs. Of other parts it says nothing: a recogniser hears nothing until somebody speaks.
 */
const isInVain = ({ kind }: Part, { sessionId }: ForWhom = {}, seconds: number): boolean =>
  kind === 'model' && sessionId !== undefined && seconds * 1000 >= ONLINE_TIMES.model.vainMs;

type Seconds = (seconds: number, labels: { readonly part: string; readonly name: string }) => void;

export class PartKeeper implements Keeper {
  readonly #operators = new Map<string, PartState>();
  /** Those asked last are at the end. */
  readonly #accounts = new Map<string, PartState>();
  /** By `kind`, `name` and outcome. */
  readonly #counts = new Map<string, { readonly labels: Record<string, string>; value: number }>();
  #observe: Seconds = () => undefined;

  constructor(private readonly parts: KeeperParts) {}

  knowPart(part: Part): void {
    if (!isOfAccount(part)) this.#stateOf(part, undefined);
  }

  ask(part: Part, whom?: ForWhom): Question {
    const { clock } = this.parts;
    const from = clock.monotonic();
    let until: number | undefined;
    let isTold = false;
    const tell = (told: PartAnswer): void => {
      if (isTold) return;
      isTold = true;
      const seconds = ((until ?? clock.monotonic()) - from) / 1000;
      const isLate = told.outcome === 'cancelled' && until === undefined && isInVain(part, whom, seconds);
      this.noteAnswer(part, { ...told, ...(isLate && { outcome: 'timeout' }), whom, seconds });
    };
    return {
      began: () => void (until ??= clock.monotonic()),
      ended: (error, signal) => tell(error === undefined ? { outcome: 'ok' } : meaningOf(error, signal)),
      answered: (status) => tell({ outcome: outcomeOfStatus(status), status }),
      left: () => tell({ outcome: until === undefined ? 'cancelled' : 'ok' }),
    };
  }

  noteAnswer(part: Part, told: PartAnswer): void {
    const { kind, name } = part;
    this.#count({ part: kind, name, outcome: told.outcome });
    if (told.seconds !== undefined && told.outcome !== 'cancelled')
      this.#observe(told.seconds, { part: kind, name });
    this.#stateOf(part, told.whom).told(told);
  }

  /** Whether an operator's part is known to fail. */
  fails(part: Part): boolean {
    return this.#operators.get(keyOf(part))?.isFailing ?? false;
  }

  /** The operator's parts, in the order in which they became known. */
  reports(): readonly PartReport[] {
    return [...this.#operators.values()].map(({ report }) => report);
  }

  /** What another process has found out: a part that works there is back here as well. */
  heard(reports: readonly PartReport[]): void {
    for (const { part, workedAt, status } of reports) {
      const state = this.#operators.get(keyOf(part));
      if (state?.isFailing && status === 'ok' && workedAt !== undefined) state.worked(workedAt);
    }
  }

  addTo(metrics: Metrics): void {
    const labels = ['part', 'name'];
    metrics.counter(
      'part_requests',
      'Requests to parts of the gateway, by what came of them',
      () => [...this.#counts.values()],
      [...labels, 'outcome'],
    );
    this.#observe = metrics.histogram(
      'part_seconds',
      'Time from a request to a part until its answer began, or it failed',
      labels,
    );
    const help = 'Whether a part of the gateway fails';
    metrics.gauge('part_failing', help, () => this.#failing(), labels, 'max');
  }

  stop(): void {
    for (const state of [...this.#operators.values(), ...this.#accounts.values()]) state.stop();
  }

  #count(labels: Record<string, string>): void {
    const key = Object.values(labels).join('\n');
    const counted = this.#counts.get(key) ?? { labels, value: 0 };
    counted.value += 1;
    this.#counts.set(key, counted);
  }

  #stateOf(part: Part, whom: ForWhom | undefined): PartState {
    const key = keyOf(part, whom);
    const states = isOfAccount(part) ? this.#accounts : this.#operators;
    const state = states.get(key) ?? new PartState(part, this.parts);
    if (states === this.#accounts) this.#makeRoom(key);
    states.set(key, state);
    return state;
  }

  /** Forgets the account's part that was asked longest ago; `key` is asked now. */
  #makeRoom(key: string): void {
    this.#accounts.delete(key);
    const [oldest] = this.#accounts.keys();
    if (oldest === undefined || this.#accounts.size < MOST_OF_ACCOUNTS) return;
    this.#accounts.get(oldest)?.stop();
    this.#accounts.delete(oldest);
  }

  /** Parts of one name at several addresses are one row, which fails if any of them does. */
  #failing() {
    const rows = new Map<string, { labels: { part: string; name: string }; value: number }>();
    for (const { part, isFailing } of this.#operators.values()) {
      const { kind, name } = part;
      const row = rows.get(`${kind}\n${name}`) ?? { labels: { part: kind, name }, value: 0 };
      rows.set(`${kind}\n${name}`, { ...row, value: Math.max(row.value, Number(isFailing)) });
    }
    return [...rows.values()];
  }
}
