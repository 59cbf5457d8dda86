/** Metrics of the deliveries of this process, and what the keeper of parts is told of receivers. No label names one. */
import { type ForWhom, type Keeper, type PartOutcome, partOfAccount } from '../../contracts/ports/parts.js';
import {
  type Backlog,
  DELIVERY_EVENTS,
  type Delivery,
  type DeliveryEvent,
  GONE,
  type GivenUp,
  isTaken,
  type WebhookAnswer,
} from '../../contracts/ports/sessions/deliveries.js';
import type { Attempt } from '../agents/deliveries/deliver.js';
import type { DeliveryWatch } from '../agents/deliveries/watch.js';
import type { Metrics } from '../server/system/metrics.js';

/** What came of an attempt; `early` ones are tried again too. */
const OUTCOMES = { delivered: 'delivered', again: 'retried', early: 'retried', failed: 'given_up' } as const;
type Label = (typeof OUTCOMES)[keyof typeof OUTCOMES];

const NO_BACKLOG: Backlog = { waiting: 0, oldestSeconds: 0, failingReceivers: 0 };

const STATUSES: Readonly<Record<number, PartOutcome>> = {
  401: 'refused_key',
  403: 'refused_key',
  404: 'wrong_address',
  429: 'limited',
  [GONE]: 'wrong_address',
};

const FAILURES: Readonly<Record<NonNullable<WebhookAnswer['error']>, PartOutcome>> = {
  refused: 'wrong_address',
  unresolved: 'unreachable',
  unreachable: 'unreachable',
  timeout: 'timeout',
  too_many_redirects: 'wrong_address',
  internal: 'failed',
};

/** What an answer says of its receiver. */
export function outcomeOf(answer: WebhookAnswer): PartOutcome {
  if (answer.error !== null) return FAILURES[answer.error];
  if (isTaken(answer)) return 'ok';
  const status = answer.statusCode ?? 500;
  if (status < 400) return 'wrong_address';
  return STATUSES[status] ?? (status < 500 ? 'refused' : 'failed');
}

const whomOf = ({ workspaceId, sessionId, agentId }: GivenUp): ForWhom => ({
  workspaceId,
  sessionId,
  agentId,
});

type Counts = Map<string, { readonly event: DeliveryEvent; readonly outcome: Label; value: number }>;

export class DeliveryMetrics implements DeliveryWatch {
  readonly #attempts: Counts = new Map();
  readonly #givenUp = new Map<DeliveryEvent, number>(DELIVERY_EVENTS.map((event) => [event, 0]));
  #backlog = NO_BACKLOG;
  #observe: ReturnType<Metrics['histogram']> = () => undefined;

  constructor(private readonly keeper: Keeper) {}

  attempted(delivery: Delivery, { outcome, answer }: Attempt): void {
    const seconds = answer.durationMs / 1000;
    this.#count(delivery.event, OUTCOMES[outcome.kind]);
    if (outcome.kind === 'failed') this.#give(delivery.event);
    this.#observe(seconds, { outcome: OUTCOMES[outcome.kind] });
    this.keeper.noteAnswer(partOfAccount('webhook', delivery.url), {
      outcome: outcomeOf(answer),
      seconds,
      status: answer.statusCode ?? undefined,
      whom: whomOf(delivery),
    });
  }

  gaveUp(deliveries: readonly GivenUp[]): void {
    for (const { event } of deliveries) this.#give(event);
  }

  backlog(backlog: Backlog): void {
    this.#backlog = backlog;
  }

  /** All processes read one backlog, so it is not added up. */
  addTo(metrics: Metrics): void {
    metrics.counter(
      'deliveries',
      'Attempts to deliver a post-call event, by what came of them: delivered, retried, given_up',
      () =>
        [...this.#attempts.values()].map(({ event, outcome, value }) => ({
          labels: { event, outcome },
          value,
        })),
      ['event', 'outcome'],
    );
    metrics.counter(
      'deliveries_given_up',
      'Post-call events that were not taken and are not attempted again',
      () => [...this.#givenUp].map(([event, value]) => ({ labels: { event }, value })),
      ['event'],
    );
    this.#observe = metrics.histogram(
      'delivery_seconds',
      'Time of an attempt to deliver a post-call event, by what came of it',
      ['outcome'],
    );
    const gauge = (name: string, help: string, value: () => number): void =>
      metrics.gauge(name, help, value, [], 'max');
    gauge(
      'deliveries_waiting',
      'Post-call events that wait to be delivered, in all workspaces',
      () => this.#backlog.waiting,
    );
    gauge('deliveries_oldest_seconds', 'Age of the oldest of them', () => this.#backlog.oldestSeconds);
    gauge(
      'deliveries_failing_receivers',
      'Receivers that are asked less often, since they fail',
      () => this.#backlog.failingReceivers,
    );
  }

  #count(event: DeliveryEvent, outcome: Label): void {
    const name = `${event} ${outcome}`;
    const row = this.#attempts.get(name) ?? { event, outcome, value: 0 };
    row.value += 1;
    this.#attempts.set(name, row);
  }

  #give(event: DeliveryEvent): void {
    this.#givenUp.set(event, (this.#givenUp.get(event) ?? 0) + 1);
  }
}
