/**
 * What comes of an attempt: a row for it, when the delivery's next one is due, and what it shows of its receiver. A receiver that
 * fails often in a row is asked once after each of growing pauses; once it takes something it is back, and gets what waited (take.ts).
 */
import { target } from '../../contracts/lifecycle.js';
import { LIMITS } from '../../contracts/limits.js';
import {
  type Delivery,
  type DeliveryOutcome,
  type GivenUp,
  receiverState,
  type ReceiverState,
  type WebhookAnswer,
} from '../../contracts/ports/sessions/deliveries.js';
import {
  answeringDelivery,
  DELIVERY,
  type DeliveryEffect,
} from '../../contracts/sessions/delivery-states.js';
import { repeatable } from '../postgres/once-more.js';
import type { Sql } from '../postgres/sql.js';
import { isIn } from './states.js';
import { AFTER, eventIdOf } from './take.js';

const { failing, longestMs, givenUpAtOnce } = LIMITS.postCallWebhook;

/**
 * What was sent after the last pause began asks whether the receiver is back. If the first question fails, another delivery is sent
 * (take.ts); if that fails too, the next longer pause begins. What was under way when a pause began counts as one failure.
 */
const noteFailure = (sql: Sql, durationMs: number) => {
  const isLater = sql`
    (r.paused_at is null or r.paused_at <= now() - ${durationMs}::int * interval '1 millisecond')`;
  const isFirst = sql`(r.failures >= ${AFTER} and not r.head_tried and ${isLater})`;
  const pauses = sql`(r.failures + 1 >= ${AFTER} and not ${isFirst} and ${isLater})`;
  return sql`
    insert into delivery_receivers as r (workspace_id, address, failures)
    select workspace_id, address, 1 from tried
    on conflict (workspace_id, address) do update set
      failures = r.failures + 1,
      head_tried = case when ${isLater} then ${isFirst} else r.head_tried end,
      back_at = case when r.failures + 1 >= ${AFTER} then null else r.back_at end,
      pauses = r.pauses + case when ${pauses} then 1 else 0 end,
      paused_at = case when ${pauses} then now() else r.paused_at end,
      paused_until = case when ${pauses} then now() + interval '1 millisecond'
        * (${failing.pausesMs as unknown as number[]}::int[])[least(r.pauses + 1, ${failing.pausesMs.length})]
        else r.paused_until end`;
};

const noteSuccess = (sql: Sql) => sql`
  , forgotten as (
    delete from delivery_receivers r using tried t
    where r.workspace_id = t.workspace_id and r.address = t.address and r.back_at is null and r.failures < ${AFTER}
  )
  update delivery_receivers r set failures = 0, pauses = 0, paused_at = null, paused_until = null, head_tried = false,
    back_at = coalesce(r.back_at, now()), taken = case when r.back_at is null then 1 else r.taken + 1 end
  from tried t
  where r.workspace_id = t.workspace_id and r.address = t.address and (r.back_at is not null or r.failures >= ${AFTER})`;

const note = (sql: Sql, state: ReceiverState, durationMs: number) =>
  ({
    well: () => noteSuccess(sql),
    failing: () => noteFailure(sql, durationMs),
    unknown: () => sql`select`,
  })[state]();

/** Milliseconds until its next attempt; null: that stays when it was to be. */
const DUE_MS: Readonly<Record<DeliveryEffect, (outcome: DeliveryOutcome) => number | null>> = {
  due_at_once: () => 0,
  due_later: (outcome) => (outcome.kind === 'again' ? outcome.afterMs : 0),
  due_as_planned: () => null,
};

/** The state in which the attempt leaves it, null if it waits; and when it is due. */
function settled(outcome: DeliveryOutcome) {
  const step = DELIVERY.waiting[outcome.kind];
  const [due = 'due_at_once'] = step?.effects ?? [];
  return { final: step?.to ?? null, afterMs: DUE_MS[due](outcome) };
}

/** Records the attempt; nothing if the delivery is settled already. */
function keepAttempt(
  sql: Sql,
  { id, early }: Pick<Delivery, 'id' | 'early'>,
  outcome: DeliveryOutcome,
  answer: WebhookAnswer,
) {
  const { durationMs, statusCode, error } = answer;
  const { final, afterMs } = settled(outcome);
  return sql`
    with tried as (
      update deliveries d set attempts = attempts + 1, steps = steps + ${early ? 0 : 1}::int, taken_until = null, tried_at = now(),
        note = ${error ?? String(statusCode)}, outcome = ${final}::text,
        due_at = coalesce(now() + ${afterMs}::int * interval '1 millisecond', due_at),
        settled_at = case when ${final}::text is null then null else now() end
      where id = ${id} and ${isIn(sql, answeringDelivery(outcome.kind))}
      returning id, attempts, workspace_id, hashtextextended(url, 0) as address, redelivered_at is not null as redelivery
    ), noted as (
      insert into delivery_attempts (delivery_id, number, started_at, duration_ms, status_code, error, redelivery)
      select id, attempts, now() - ${durationMs}::int * interval '1 millisecond', ${durationMs}::int, ${statusCode}::int,
        ${error}, redelivery
      from tried
    )
    ${note(sql, receiverState(answer), durationMs)}`;
}

export async function settle(
  sql: Sql,
  delivery: Pick<Delivery, 'id' | 'early'>,
  outcome: DeliveryOutcome,
  answer: WebhookAnswer,
): Promise<void> {
  const keeping = keepAttempt(sql, delivery, outcome, answer);
  await (settled(outcome).final ? repeatable(keeping) : keeping);
}

/** The oldest of each failing receiver, if they have waited for the longest time. */
export const giveUp = (sql: Sql): Promise<readonly GivenUp[]> => sql<GivenUp[]>`
  update deliveries d set outcome = ${target(DELIVERY, 'given_up')}, settled_at = now(), note = coalesce(d.note, 'waited')
  where d.id in (
    select n.id from delivery_receivers r cross join lateral (
      select id, coalesce(redelivered_at, created_at) as since, taken_until from deliveries
      where workspace_id = r.workspace_id and hashtextextended(url, 0) = r.address and settled_at is null
      order by id limit ${givenUpAtOnce}) n
    where r.failures >= ${AFTER} and n.since < now() - ${longestMs}::int * interval '1 millisecond'
      and (n.taken_until is null or n.taken_until <= now())
    limit ${givenUpAtOnce}
  ) and ${isIn(sql, answeringDelivery('given_up'))} and (d.taken_until is null or d.taken_until <= now())
  returning d.id::text as id, d.workspace_id as "workspaceId", d.session_id as "sessionId", d.agent_id as "agentId", d.event,
    ${eventIdOf(sql)} as "eventId", d.url, d.attempts`;
