/**
 * Delivery of post-call events: the outbox on a real Postgres, real receivers (docs/contract/platform.md 6.8). Their log, and
 * sending them again: delivery-log.test.ts.
 */
import { createHmac } from 'node:crypto';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { type Clock, systemClock } from '../../../contracts/clock.js';
import { randomIds } from '../../../contracts/ids.js';
import { silentLog } from '../../../contracts/log.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { WebhookSecrets } from '../../../contracts/ports/agents/agents.js';
import type { DeliveryEvent } from '../../../contracts/ports/sessions/deliveries.js';
import { defaultVocabulary } from '../../../contracts/vocabulary.js';
import { startDeliveries } from '../../../gateway/agents/deliveries/loop.js';
import { createOutbound } from '../../../gateway/outbound/fetch.js';
import { createDeliveryQueue } from '../../../storage/deliveries.js';
import { ensureDefaultWorkspace } from '../../../storage/workspaces.js';
import { exactly } from '../../fixtures/exactly.js';
import { startPostgres } from '../../fixtures/database/postgres.js';
import { startReceiver } from '../../fixtures/platform/receiver.js';
import { until } from '../../fixtures/until.js';

/** Most deliveries of a workspace to one receiver. */
const ONE_RECEIVER = LIMITS.postCallWebhook.atOnce - LIMITS.postCallWebhook.spare;

const postgres = await startPostgres(t);
const database = await postgres.migrated();
const { sql } = database;
const workspaceId = await ensureDefaultWorkspace(sql, randomIds);

async function session(): Promise<string> {
  const id = randomIds.next('session');
  await sql`
    insert into sessions (id, workspace_id, agent_id, agent_name, config_hash, source, timezone, metadata, overrides,
      expires_at, max_duration_seconds)
    values (${id}, ${workspaceId}, 'agent_1', 'A', '', 'api_key', 'UTC', '{}', '{}', now(), 60)`;
  return id;
}

const put = async (
  sessionId: string,
  event: DeliveryEvent,
  url: string,
  body = `{"event":"${event}"}`,
): Promise<string> => {
  const [row] = await sql<{ id: string }[]>`
    insert into deliveries (workspace_id, session_id, agent_id, event, url, body)
    values (${workspaceId}, ${sessionId}, 'agent_1', ${event}, ${url}, ${body}) returning id::text as id`;
  return row!.id;
};

interface Options {
  readonly secretOf?: WebhookSecrets['secretOf'];
  readonly clock?: Clock;
}

/** Starts the delivery loop of one process, with its own connections. */
async function start(
  t: Pick<Test, 'teardown'>,
  { secretOf = async () => undefined, clock = systemClock }: Options = {},
) {
  const own = await postgres.open();
  const loop = await startDeliveries({
    queue: createDeliveryQueue(own),
    outbound: createOutbound({ allow: ['127.0.0.1'], clock }),
    secrets: { secretOf },
    vocabulary: defaultVocabulary,
    clock,
    log: silentLog,
  });
  t.teardown(() => loop.stop());
  return loop;
}

const rowOf = async (id: string) => {
  const [row] = await sql<{ attempts: number; outcome: string | null; note: string | null }[]>`
    select attempts, outcome, note from deliveries where id = ${id}`;
  return row!;
};
const settled = (id: string) =>
  until('it is settled', async () => {
    const row = await rowOf(id);
    return row.outcome !== null && row;
  });

/** For tests that do not check pauses: makes waiting deliveries due until all are settled. */
const hurried = (id: string) =>
  until('it is settled', async () => {
    await sql`update deliveries set due_at = now() where settled_at is null and attempts > 0`;
    await sql`notify deliveries`;
    const row = await rowOf(id);
    return row.outcome !== null && row;
  });

t.test('an event is posted as it was written, unsigned without a secret', async (t) => {
  const { url, seen } = await startReceiver(t);
  await start(t);
  const id = await put(await session(), 'call.ended', url, '{"event":"call.ended","name":"Ünï"}');
  t.same(await settled(id), { attempts: 1, outcome: 'delivered', note: '200' });
  t.equal(seen.length, 1);
  t.equal(seen[0]?.body, '{"event":"call.ended","name":"Ünï"}');
  t.equal(seen[0]?.headers['content-type'], 'application/json');
  t.notOk(seen[0]?.headers['x-svc-webhook-signature']);
});

t.test('each attempt is signed afresh, with the secret of that moment, over the same bytes', async (t) => {
  const { url, seen } = await startReceiver(t, (_, response, nth) =>
    response.writeHead(nth < 3 ? 500 : 204).end(),
  );
  let now = 1_700_000_000_000;
  const clock: Clock = { ...systemClock, now: () => (now += 1000) };
  const asked: string[] = [];
  await start(t, {
    clock,
    secretOf: async (agentId, address) => {
      asked.push(`${agentId} ${address}`);
      return `secret-${asked.length}`;
    },
  });
  const id = await put(await session(), 'call.ended', url);
  t.same(await hurried(id), { attempts: 3, outcome: 'delivered', note: '204' });
  t.same(asked, Array(3).fill(`agent_1 ${url}`));
  const times = seen.map(({ headers, body }, index) => {
    const [, time = '', hex] =
      /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-svc-webhook-signature'])) ?? [];
    const wanted = createHmac('sha256', `secret-${index + 1}`)
      .update(`${time}.${body}`)
      .digest('hex');
    t.equal(hex, wanted);
    return time;
  });
  t.equal(new Set(times).size, 3);
  t.equal(new Set(seen.map(({ body }) => body)).size, 1);
});

t.test('whatever is no 2xx is tried again, after a second at first', async (t) => {
  const { url, seen } = await startReceiver(t, (_, response, nth) =>
    response.writeHead(nth === 1 ? 302 : 200, { location: '/elsewhere' }).end(),
  );
  await start(t);
  const id = await put(await session(), 'call.ended', url);
  t.same(await settled(id), { attempts: 2, outcome: 'delivered', note: '200' });
  const [first, second] = seen.map(({ at }) => at) as [number, number];
  t.ok(second - first >= 950, `${second - first} ms before the second`);
});

t.test('an address that may not be reached is not (decision 8)', async (t) => {
  await start(t);
  const id = await put(await session(), 'call.ended', 'http://169.254.169.254/hook');
  const first = await until('it was tried', async () =>
    (await rowOf(id)).attempts > 0 ? rowOf(id) : undefined,
  );
  exactly(t, first, { note: 'refused' });
  await sql`delete from deliveries where id = ${id}`;
});

t.test('call.analyzed waits for call.ended of its endpoint, and for nobody else', async (t) => {
  const release: (() => void)[] = [];
  const slow = await startReceiver(t, (_, response) => void release.push(() => response.end()));
  const quick = await startReceiver(t);
  const sessionId = await session();
  for (const event of ['call.ended', 'call.analyzed'] as const) {
    await put(sessionId, event, slow.url);
    await put(sessionId, event, quick.url);
  }
  await Promise.all([start(t), start(t)]);
  await until('the quick endpoint has both', () => quick.seen.length === 2);
  t.same(
    quick.seen.map(({ body }) => body),
    ['{"event":"call.ended"}', '{"event":"call.analyzed"}'],
  );
  t.equal(slow.seen.length, 1, 'the slow one still has the first');
  release.shift()?.();
  await until('then it gets the second', () => slow.seen.length === 2);
  t.equal(slow.seen[1]?.body, '{"event":"call.analyzed"}');
  release.shift()?.();
});

t.test('call.analyzed waits for the first attempt at call.ended, not for its success', async (t) => {
  const { url, seen } = await startReceiver(t, ({ body }, response) =>
    response.writeHead(body.includes('ended') ? 500 : 200).end(),
  );
  const sessionId = await session();
  const ended = await put(sessionId, 'call.ended', url);
  const analyzed = await put(sessionId, 'call.analyzed', url);
  await start(t);
  exactly(t, await settled(analyzed), { outcome: 'delivered', attempts: 1 });
  t.same(
    seen.slice(0, 1).map(({ body }) => body),
    ['{"event":"call.ended"}'],
  );
  exactly(t, await rowOf(ended), { outcome: null });
  await sql`delete from deliveries where id = ${ended}`;
});

t.test('processes share the outbox: each event goes out once', async (t) => {
  const { url, seen } = await startReceiver(t);
  const ids = await Promise.all(
    Array.from({ length: 100 }, async (_, index) =>
      put(await session(), 'call.ended', url, `{"n":${index}}`),
    ),
  );
  await Promise.all([start(t), start(t), start(t)]);
  for (const id of ids) exactly(t, await settled(id), { attempts: 1, outcome: 'delivered' });
  t.equal(seen.length, 100);
  t.equal(new Set(seen.map(({ body }) => body)).size, 100);
});

t.test('one workspace with slow endpoints does not hold up the others', async (t) => {
  const slow = await startReceiver(t, () => undefined);
  const quick = await startReceiver(t);
  for (let made = 0; made < 100; made++) await put(await session(), 'call.ended', slow.url);
  await start(t);
  await until('the slow ones are under way', () => slow.seen.length >= ONE_RECEIVER);
  const other = randomIds.next('workspace');
  await sql`insert into workspaces (id, name) values (${other}, 'Other')`;
  const id = await put(await session(), 'call.ended', quick.url);
  await sql`update deliveries set workspace_id = ${other} where id = ${id}`;
  exactly(t, await settled(id), { outcome: 'delivered' });
  t.ok(slow.seen.length < 32, `${slow.seen.length} of the slow ones`);
  await sql`delete from deliveries where url = ${slow.url}`;
  slow.close();
});

t.test('deliveries that a process leaves behind are sent by the next', async (t) => {
  const { url, seen } = await startReceiver(t);
  const id = await put(await session(), 'call.ended', url);
  await createDeliveryQueue(database).take(10, 60_000);
  await start(t);
  await until('the loop has looked', async () => {
    const probe = await put(await session(), 'call.ended', url, 'probe');
    return settled(probe);
  });
  t.notOk(
    seen.some(({ body }) => body !== 'probe'),
    'not while another process has it',
  );
  await sql`update deliveries set taken_until = now() where id = ${id}`;
  exactly(t, await settled(id), { outcome: 'delivered', attempts: 1 });
});

t.test('stopping waits for what is under way, and takes nothing more', async (t) => {
  let answer = (): void => undefined;
  const { url, seen } = await startReceiver(t, (_, response) => (answer = () => response.end()));
  const loop = await start(t);
  const id = await put(await session(), 'call.ended', url);
  await until('it is under way', () => seen.length === 1);
  const stopping = loop.stop();
  const later = await put(await session(), 'call.ended', url);
  answer();
  await stopping;
  exactly(t, await rowOf(id), { outcome: 'delivered' });
  exactly(t, await rowOf(later), { outcome: null, attempts: 0 });
});
