/** Post-call events on their way: the outbox on a real Postgres, real receivers (docs/contract/platform.md 6.8). */
import { createHmac } from 'node:crypto';
import t, { type Test } from 'tap';
import { type Clock, systemClock } from '../../contracts/clock.js';
import { randomIds } from '../../contracts/ids.js';
import { silentLog } from '../../contracts/log.js';
import type { WebhookSecrets } from '../../contracts/ports/agents.js';
import type { DeliveryEvent } from '../../contracts/ports/deliveries.js';
import { defaultVocabulary } from '../../contracts/vocabulary.js';
import { startDeliveries } from '../../gateway/deliveries/loop.js';
import { createOutbound } from '../../gateway/outbound/fetch.js';
import { createDeliveryQueue } from '../../storage/deliveries.js';
import { createKey } from '../../storage/keys.js';
import { ensureDefaultWorkspace } from '../../storage/workspaces.js';
import { client, makeAgent } from '../fixtures/agents.js';
import { startGateway } from '../fixtures/gateway.js';
import { startPostgres } from '../fixtures/postgres.js';
import { type Answer, isSignedBy, startReceiver } from '../fixtures/receiver.js';
import { until } from '../fixtures/until.js';

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

/** A delivery as the API shows it. */
interface Shown {
  readonly delivery_id: string;
  readonly event: string;
  readonly url: string;
  readonly status: string;
  readonly attempts: readonly object[];
}

interface Options {
  readonly secretOf?: WebhookSecrets['secretOf'];
  readonly clock?: Clock;
}

/** The loop of one process, with a connection of its own. */
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

/** For tests that are not about the pauses: whatever waits for its next attempt is due. */
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

t.test('three attempts in all, a second and five seconds apart, for whatever is no 2xx', async (t) => {
  const answers: [string, Answer, string][] = [
    ['an error', (_, response) => response.writeHead(503).end(), '503'],
    ['a redirect', (_, response) => response.writeHead(302, { location: '/elsewhere' }).end(), '302'],
    ['no answer', (_, response) => response.destroy(), 'unreachable'],
  ];
  await start(t);
  await Promise.all(
    answers.map(async ([what, answer, note]) => {
      const { url, seen } = await startReceiver(t, answer);
      const id = await put(await session(), 'call.ended', url);
      t.same(await settled(id), { attempts: 3, outcome: 'failed', note }, what);
      t.equal(seen.length, 3);
      const [first, second, third] = seen.map(({ at }) => at) as [number, number, number];
      t.ok(second - first >= 950, `${what}: ${second - first} ms before the second`);
      t.ok(third - second >= 4900, `${what}: ${third - second} ms before the third`);
    }),
  );
});

t.test('an address that may not be reached is not (decision 8)', async (t) => {
  await start(t);
  const id = await put(await session(), 'call.ended', 'http://169.254.169.254/hook');
  const first = await until('it was tried', async () =>
    (await rowOf(id)).attempts > 0 ? rowOf(id) : undefined,
  );
  t.match(first, { note: 'refused' });
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

t.test('a failed call.ended is followed by call.analyzed all the same', async (t) => {
  const { url, seen } = await startReceiver(t, ({ body }, response) =>
    response.writeHead(body.includes('ended') ? 500 : 200).end(),
  );
  const sessionId = await session();
  await put(sessionId, 'call.ended', url);
  const analyzed = await put(sessionId, 'call.analyzed', url);
  await start(t);
  t.match(await hurried(analyzed), { outcome: 'delivered' });
  t.same(
    seen.map(({ body }) => body.includes('ended')),
    [true, true, true, false],
  );
});

t.test('processes share the outbox: each event goes out once', async (t) => {
  const { url, seen } = await startReceiver(t);
  const ids = await Promise.all(
    Array.from({ length: 100 }, async (_, index) =>
      put(await session(), 'call.ended', url, `{"n":${index}}`),
    ),
  );
  await Promise.all([start(t), start(t), start(t)]);
  for (const id of ids) t.match(await settled(id), { attempts: 1, outcome: 'delivered' });
  t.equal(seen.length, 100);
  t.equal(new Set(seen.map(({ body }) => body)).size, 100);
});

t.test('one workspace with slow endpoints does not hold up the others', async (t) => {
  const slow = await startReceiver(t, () => undefined);
  const quick = await startReceiver(t);
  for (let made = 0; made < 100; made++) await put(await session(), 'call.ended', slow.url);
  await start(t);
  await until('the slow ones are under way', () => slow.seen.length >= 16);
  const other = randomIds.next('workspace');
  await sql`insert into workspaces (id, name) values (${other}, 'Other')`;
  const id = await put(await session(), 'call.ended', quick.url);
  await sql`update deliveries set workspace_id = ${other} where id = ${id}`;
  t.match(await settled(id), { outcome: 'delivered' });
  t.ok(slow.seen.length < 32, `${slow.seen.length} of the slow ones`);
  await sql`delete from deliveries where url = ${slow.url}`;
  slow.close();
});

t.test('what a process leaves behind is sent by the next', async (t) => {
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
  t.match(await settled(id), { outcome: 'delivered', attempts: 1 });
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
  t.match(await rowOf(id), { outcome: 'delivered' });
  t.match(await rowOf(later), { outcome: null, attempts: 0 });
});

t.test('through a whole gateway', async (t) => {
  const own = await startGateway({ OUTBOUND_ALLOW: '127.0.0.1', DATABASE_URL: postgres.url });
  t.teardown(() => own.stop());
  const call = client(own.base);

  /** A session that somebody has talked in, and that is over; its id. */
  async function endedSession(agent: string, more: object = {}): Promise<string> {
    const { body } = await call('sessions', { body: { agent_id: agent, ...more } });
    const id = String(body['session_id']);
    await sql`update sessions set status = 'active', started_at = now() where id = ${id}`;
    t.equal((await call(`sessions/${id}/end`, { method: 'POST' })).status, 204);
    return id;
  }

  /** The deliveries of that query, as soon as none of them waits and there are so many. */
  const deliveries = (query: string, count: number) =>
    until(`${count} deliveries are settled`, async () => {
      const rows = (await call(`deliveries?${query}`)).body['deliveries'] as Shown[];
      return rows.length === count && rows.every(({ status }) => status !== 'waiting') && rows;
    });

  const hooked = (url: string, secret = 'first') =>
    makeAgent(call, { config: { webhooks: { post_call: { url, secret } } } });

  t.test('signed, in order, with the secret of the moment', async (t) => {
    const { url, seen } = await startReceiver(t);
    const agent = await hooked(url);
    const rotate = { webhooks: { post_call: { url, secret: 'second' } } };
    await call(`agents/${agent}/config`, { method: 'PATCH', body: rotate });
    const id = await endedSession(agent, { metadata: { order: 'A-17' } });
    await until('both events are there', () => seen.length >= 2);
    const events = seen.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
    t.match(events, [
      {
        event: 'call.ended',
        session: { id, agent_id: agent, metadata: { order: 'A-17' } },
        ended_reason: 'ended_by_api',
      },
      { event: 'call.analyzed', session: { id }, analysis: { status: 'skipped' } },
    ]);
    for (const { headers, body } of seen) {
      const [, time = '', hex] = /^t=(\d+),v1=(\w+)$/.exec(String(headers['x-svc-webhook-signature'])) ?? [];
      t.equal(
        hex,
        createHmac('sha256', 'second').update(`${time}.${body}`).digest('hex'),
        'rotated for published versions too',
      );
      t.ok(Math.abs(Date.now() / 1000 - Number(time)) < 300);
    }
    t.match((await call(`sessions/${id}`)).body, {
      analysis: { status: 'skipped' },
      ended_reason: 'ended_by_api',
    });
  });

  t.test(
    'what was tried is told: of a session, an agent, a webhook, and of no other workspace',
    async (t) => {
      const good = await startReceiver(t);
      const bad = await startReceiver(t, (_, response) => response.writeHead(503).end());
      const hooks = [{ url: good.url }, { url: bad.url }];
      const agent = await makeAgent(call, { config: { webhooks: { post_call: hooks } } });
      const id = await endedSession(agent);
      const all = await deliveries(`session_id=${id}`, 4);
      t.strictSame(all.map(({ event, url }) => [event, url === good.url]).sort(), [
        ['call.analyzed', false],
        ['call.analyzed', true],
        ['call.ended', false],
        ['call.ended', true],
      ]);
      const attempt = { duration_ms: Number, error: null, redelivery: false };
      for (const row of all) {
        const { url, attempts, ...rest } = row;
        const wanted =
          url === good.url ? { status: 'delivered', next_attempt_at: null } : { status: 'failed' };
        t.match(rest, { session_id: id, agent_id: agent, ...wanted, created_at: String, settled_at: String });
        const codes = url === good.url ? [200] : [503, 503, 503];
        t.match(
          attempts,
          codes.map((code, index) => ({ number: index + 1, status_code: code, ...attempt })),
        );
      }
      const counts = async (query: string) =>
        ((await call(`deliveries?${query}`)).body['deliveries'] as []).length;
      t.equal(await counts(`agent_id=${agent}&status=failed`), 2);
      t.equal(await counts(`url=${encodeURIComponent(good.url)}`), 2);
      t.equal(await counts(`agent_id=${agent}&status=waiting`), 0);
      t.equal((await call('deliveries?status=lost')).status, 400);
      const { body: page } = await call(`deliveries?agent_id=${agent}&page_size=3&include_total=true`);
      t.match(page, { total: 4, has_more: true });
      const rest = await call(
        `deliveries?agent_id=${agent}&page_size=3&cursor=${String(page['next_cursor'])}`,
      );
      t.match(rest.body, { deliveries: [{ agent_id: agent }], has_more: false });

      const [first] = all as [Shown];
      const sent = first.url === good.url ? good.seen : bad.seen;
      const { body } = await call(`deliveries/${first.delivery_id}`);
      t.ok(
        sent.some((seen) => seen.body === body['body']),
        'the body as it was sent',
      );

      const workspace = randomIds.next('workspace');
      await sql`insert into workspaces (id, name) values (${workspace}, 'Neighbour')`;
      const { key } = await createKey(sql, randomIds, { workspaceId: workspace, name: 'neighbour' });
      const foreign = client(own.base, key);
      t.strictSame((await foreign('deliveries')).body['deliveries'], []);
      for (const [path, method] of [
        ['', 'GET'],
        ['/redeliver', 'POST'],
      ] as const)
        t.match(await foreign(`deliveries/${first.delivery_id}${path}`, { method }), {
          status: 404,
          body: { message: 'Delivery not found' },
        });
      t.equal((await call('deliveries/nonsense')).status, 404);
    },
  );

  t.test('a delivery is sent again: once, with the same body, and the attempt is kept', async (t) => {
    let status = 200;
    const { url, seen } = await startReceiver(t, (_, response) => response.writeHead(status).end());
    const agent = await hooked(url);
    const id = await endedSession(agent);
    const [, ended] = (await deliveries(`session_id=${id}`, 2)) as [Shown, Shown];
    const again = () => call(`deliveries/${ended.delivery_id}/redeliver`, { method: 'POST' });
    status = 500;
    t.match(await again(), { status: 202, body: { status: 'waiting', attempts: [{ status_code: 200 }] } });
    const [, failed] = (await deliveries(`session_id=${id}`, 2)) as [Shown, Shown];
    t.match(failed, {
      status: 'failed',
      attempts: [
        { number: 1, status_code: 200, redelivery: false },
        { number: 2, status_code: 500, redelivery: true },
      ],
    });
    status = 204;
    t.equal((await again()).status, 202);
    t.match((await deliveries(`session_id=${id}`, 2))[1], { status: 'delivered', attempts: { length: 3 } });
    t.equal(seen.length, 4, 'nothing is tried by itself after what was asked for');
    const bodies = seen.map(({ body }) => body).filter((body) => body.includes('call.ended'));
    t.strictSame([bodies.length, new Set(bodies).size], [3, 1]);
    t.ok(seen.every((one) => isSignedBy('first', one)));
  });

  t.test('a delivery that waits, was sent again 20 times, or has lost its agent is not: 409', async (t) => {
    const { url } = await startReceiver(t);
    const agent = await hooked(url);
    const id = await endedSession(agent);
    const [{ delivery_id: delivery }] = (await deliveries(`session_id=${id}`, 2)) as [Shown];
    const again = async () => {
      const { status, body } = await call(`deliveries/${delivery}/redeliver`, { method: 'POST' });
      return [status, body['message']];
    };
    await sql`
      insert into delivery_attempts (delivery_id, number, started_at, duration_ms, redelivery)
      select ${delivery}::bigint, n, now(), 1, true from generate_series(2, 21) as n`;
    t.strictSame(await again(), [409, 'Delivery was sent again 20 times already']);
    await sql`delete from delivery_attempts where delivery_id = ${delivery}::bigint and redelivery`;
    await sql`
      update deliveries set settled_at = null, outcome = null, due_at = now() + interval '1 hour'
      where id = ${delivery}::bigint`;
    t.strictSame(await again(), [409, 'Delivery waits for its next attempt']);
    await sql`update deliveries set settled_at = now(), outcome = 'failed' where id = ${delivery}::bigint`;
    t.equal((await call(`agents/${agent}`, { method: 'DELETE' })).status, 204);
    t.strictSame(await again(), [409, 'The agent of this delivery was deleted']);
  });

  t.test('60 deliveries of a workspace are sent again in a minute, and the next is 429', async (t) => {
    const { url } = await startReceiver(t);
    const id = await endedSession(await hooked(url));
    const [{ delivery_id: delivery }] = (await deliveries(`session_id=${id}`, 2)) as [Shown];
    await sql`
      insert into deliveries (workspace_id, session_id, agent_id, event, url, body, outcome, settled_at, redelivered_at)
      select ${workspaceId}, ${id}, 'agent_1', 'call.ended', 'https://a.example/', '{}', 'failed', now(), now()
      from generate_series(1, 60)`;
    const refused = await call(`deliveries/${delivery}/redeliver`, { method: 'POST' });
    t.equal(refused.status, 429);
    t.ok(Number(refused.headers.get('retry-after')) >= 1);
    await sql`update deliveries set redelivered_at = now() - interval '1 minute' where redelivered_at is not null`;
    t.equal((await call(`deliveries/${delivery}/redeliver`, { method: 'POST' })).status, 202);
    await deliveries(`session_id=${id}&url=${encodeURIComponent(url)}`, 2);
  });

  t.test('a webhook is tried: signed, marked as a test, and nothing is kept', async (t) => {
    let status = 200;
    const { url, seen } = await startReceiver(t, (_, response) => response.writeHead(status).end());
    const inner = 'http://169.254.169.254/hook';
    const agent = await makeAgent(call, {
      config: { webhooks: { post_call: [{ url, secret: 'first' }] } },
      published: false,
    });
    const trial = async (to: string) => await call(`agents/${agent}/webhooks/test`, { body: { url: to } });
    const before = await sql`select count(*) from deliveries`;
    t.match(await trial(url), {
      status: 200,
      body: { ok: true, status_code: 200, error: null, duration_ms: Number },
    });
    t.ok(isSignedBy('first', seen[0]!));
    t.match(JSON.parse(seen[0]!.body), { event: 'call.ended', test: true, session: { agent_id: agent } });
    status = 410;
    t.match((await trial(url)).body, { ok: false, status_code: 410, error: null });
    t.match(await trial(inner), { status: 422, body: { errors: [{ loc: ['url'] }] } });
    await sql`
      update agents set config = jsonb_set(config, '{webhooks,post_call}', ${sql.json([{ url: inner, has_secret: false }])})
      where id = ${agent}`;
    t.match((await trial(inner)).body, { ok: false, status_code: null, error: 'refused' });
    t.strictSame(await sql`select count(*) from deliveries`, before);
    t.equal((await call('agents/agent_none/webhooks/test', { body: { url } })).status, 404);
  });
});
