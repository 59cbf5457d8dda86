/**
 * Post-call events through a whole gateway (docs/contract/platform.md 6.8): signatures, the log, sending again, the test
 * event. Sharing and retries of the outbox: deliveries.test.ts.
 */
import { createHmac } from 'node:crypto';
import t from '../../fixtures/tap.js';
import { client, makeAgent } from '../../fixtures/platform/agents.js';
import { exactly } from '../../fixtures/exactly.js';
import { sharedPlatform } from '../../fixtures/platform/platform.js';
import { isSignedBy, startReceiver } from '../../fixtures/platform/receiver.js';
import { until } from '../../fixtures/until.js';

const { gateway, database, workspaceId, key, otherKey } = await sharedPlatform(t, 'speech');
const { sql } = database;
const call = client(gateway.base, key);

/** A delivery as the API shows it. */
interface Shown {
  readonly delivery_id: string;
  readonly event_id: string;
  readonly event: string;
  readonly url: string;
  readonly status: string;
  readonly attempts: readonly object[];
}

/** The id of an ended session in which somebody has talked. */
async function endedSession(agent: string, more: object = {}): Promise<string> {
  const { body } = await call('sessions', { body: { agent_id: agent, ...more } });
  const id = String(body['session_id']);
  await sql`update sessions set status = 'active', started_at = now() where id = ${id}`;
  const { status } = await call(`sessions/${id}/end`, { method: 'POST' });
  if (status !== 204) throw new Error(`end: ${status}`);
  return id;
}

/** The deliveries of that query, once there are `count` of them and none waits. */
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
  exactly(t, events, [
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
  exactly(t, (await call(`sessions/${id}`)).body, {
    analysis: { status: 'skipped' },
    ended_reason: 'ended_by_api',
  });
});

t.test(
  'signed if the webhook has a secret in the version of the session, whatever others have',
  async (t) => {
    const { url, seen } = await startReceiver(t);
    const agent = await hooked(url);
    const draft = (secret: string | null) =>
      call(`agents/${agent}/config`, { method: 'PATCH', body: { webhooks: { post_call: { url, secret } } } });
    const publish = () => call(`agents/${agent}/publish`, { method: 'POST' });
    const signed = async (): Promise<boolean[]> => {
      const before = seen.length;
      await endedSession(agent);
      await until('both events are there', () => seen.length >= before + 2);
      return seen.slice(before).map(({ headers }) => 'x-svc-webhook-signature' in headers);
    };
    await draft(null);
    t.same(await signed(), [true, true], 'a draft is not live');
    await publish();
    t.same(await signed(), [false, false], 'the older version still has the secret');
    await call(`agents/${agent}/webhooks/test`, { body: { url } });
    t.notOk(seen.at(-1)?.headers['x-svc-webhook-signature'], 'tried as it would be sent');
    await draft('second');
    t.same(await signed(), [false, false], 'nothing goes live until it is published');
    await publish();
    t.same(await signed(), [true, true]);
    t.ok(isSignedBy('second', seen.at(-1)!));
  },
);

t.test('the log lists deliveries of a session, an agent, a webhook, and of no other workspace', async (t) => {
  const good = await startReceiver(t);
  const tried = new Set<string>();
  const bad = await startReceiver(t, ({ body }, response) => {
    response.writeHead(tried.has(body) ? 410 : 503).end();
    tried.add(body);
  });
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
    const wanted = url === good.url ? { status: 'delivered', next_attempt_at: null } : { status: 'failed' };
    exactly(t, rest, { session_id: id, agent_id: agent, ...wanted, created_at: String, settled_at: String });
    const codes = url === good.url ? [200] : [503, 410];
    exactly(
      t,
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
  exactly(t, page, { total: 4, has_more: true });
  const rest = await call(`deliveries?agent_id=${agent}&page_size=3&cursor=${String(page['next_cursor'])}`);
  exactly(t, rest.body, { deliveries: [{ agent_id: agent }], has_more: false });

  const [first] = all as [Shown];
  const sent = first.url === good.url ? good.seen : bad.seen;
  const { body } = await call(`deliveries/${first.delivery_id}`);
  t.ok(
    sent.some((seen) => seen.body === body['body']),
    'the body as it was sent',
  );

  const foreign = client(gateway.base, otherKey);
  t.strictSame((await foreign('deliveries')).body['deliveries'], []);
  for (const [path, method] of [
    ['', 'GET'],
    ['/redeliver', 'POST'],
  ] as const)
    exactly(t, await foreign(`deliveries/${first.delivery_id}${path}`, { method }), {
      status: 404,
      body: { message: 'Delivery not found' },
    });
  t.equal((await call('deliveries/nonsense')).status, 404);
});

t.test('a delivery is sent again: once, with the same body, and the attempt is kept', async (t) => {
  let status = 200;
  const { url, seen } = await startReceiver(t, (_, response) => response.writeHead(status).end());
  const agent = await hooked(url);
  const id = await endedSession(agent);
  const [, ended] = (await deliveries(`session_id=${id}`, 2)) as [Shown, Shown];
  const again = () => call(`deliveries/${ended.delivery_id}/redeliver`, { method: 'POST' });
  status = 500;
  exactly(t, await again(), { status: 202, body: { status: 'waiting', attempts: [{ status_code: 200 }] } });
  const [, failed] = (await deliveries(`session_id=${id}`, 2)) as [Shown, Shown];
  exactly(t, failed, {
    status: 'failed',
    attempts: [
      { number: 1, status_code: 200, redelivery: false },
      { number: 2, status_code: 500, redelivery: true },
    ],
  });
  status = 204;
  t.equal((await again()).status, 202);
  exactly(t, (await deliveries(`session_id=${id}`, 2))[1], { status: 'delivered', attempts: { length: 3 } });
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
  await sql`
    update deliveries set redelivered_at = now() - interval '1 minute'
    where redelivered_at is not null and workspace_id = ${workspaceId}`;
  t.equal((await call(`deliveries/${delivery}/redeliver`, { method: 'POST' })).status, 202);
  await deliveries(`session_id=${id}&url=${encodeURIComponent(url)}`, 2);
});

t.test('deliveries have the id of their event, and are found by its time', async (t) => {
  const { url, seen } = await startReceiver(t);
  const id = await endedSession(await hooked(url));
  const [analyzed, ended] = (await deliveries(`session_id=${id}`, 2)) as [Shown, Shown];
  t.not(analyzed.event_id, ended.event_id);
  for (const { headers, body } of seen) {
    const sent = JSON.parse(body) as { event: string; event_id: string };
    t.match(sent.event_id, /^evt_[0-9a-f]{24}$/);
    t.equal(headers['x-svc-webhook-event-id'], sent.event_id);
    t.equal(sent.event_id, (sent.event === 'call.ended' ? ended : analyzed).event_id);
  }
  const found = async (query: string) =>
    ((await call(`deliveries?session_id=${id}&${query}`)).body['deliveries'] as Shown[]).length;
  const [hourAgo, inAnHour] = [-1, 1].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString());
  t.equal(await found(`created_after=${hourAgo}&created_before=${inAnHour}`), 2);
  t.equal(await found(`created_after=${inAnHour}`), 0);
  t.equal(await found(`created_before=${hourAgo}`), 0);
  t.equal((await call('deliveries?created_after=yesterday')).status, 400);
});

t.test(
  'failed deliveries are sent again all at once, or those of a time span, in the background',
  async (t) => {
    let status = 500;
    const { url, seen } = await startReceiver(t, (_, response) => response.writeHead(status).end());
    const agent = await hooked(url);
    const ids = [await endedSession(agent), await endedSession(agent)];
    await until('all four were tried, and are given up', async () => {
      await sql`
      update deliveries set outcome = 'failed', settled_at = now()
      where url = ${url} and settled_at is null and attempts > 0 and (taken_until is null or taken_until < now())`;
      const rows = await sql`select from deliveries where url = ${url} and outcome = 'failed'`;
      return rows.length === 4;
    });
    await sql`update deliveries set created_at = now() - interval '2 days' where url = ${url} and session_id = ${ids[0]!}`;
    status = 200;
    const again = (body: object) => call('redeliveries', { body });
    const over = (answer: Awaited<ReturnType<typeof again>>) =>
      until('it is over', async () => {
        const { body } = await call(`redeliveries/${String(answer.body['redelivery_id'])}`);
        return body['status'] === 'completed' && body['waiting'] === 0 && body;
      });
    const before = seen.length;
    const recent = await again({ url, created_after: new Date(Date.now() - 86_400_000).toISOString() });
    exactly(t, recent, { status: 202, body: { status: 'running', redelivered: 0, finished_at: null } });
    exactly(t, await again({ url }), {
      status: 409,
      body: { message: 'Deliveries of this workspace are being sent again' },
    });
    exactly(t, await over(recent), { redelivered: 2, finished_at: String });
    t.strictSame(
      seen.slice(before).map(({ body }) => (JSON.parse(body) as { session: { id: string } }).session.id),
      [ids[1], ids[1]],
    );
    exactly(t, await over(await again({ agent_id: agent })), { redelivered: 2 });
    exactly(t, await over(await again({ agent_id: agent })), { redelivered: 0 });
    const settled = await deliveries(`agent_id=${agent}`, 4);
    t.ok(settled.every((one) => one.status === 'delivered'));
    t.equal((await again({ created_after: 'yesterday' })).status, 422);
    t.equal((await again({ status: 'waiting' })).status, 422);
    const foreign = client(gateway.base, otherKey);
    t.equal((await foreign(`redeliveries/${String(recent.body['redelivery_id'])}`)).status, 404);
    t.equal((await call('redeliveries/none')).status, 404);
  },
);

t.test('the metrics count attempts, what was given up and what waits, and name no receiver', async (t) => {
  const { url } = await startReceiver(t, (_, response) => response.writeHead(410).end());
  const id = await endedSession(await hooked(url));
  await deliveries(`session_id=${id}`, 2);
  const text = await (await fetch(new URL('/metrics', gateway.base))).text();
  t.match(text, /gateway_deliveries_total\{event="call.ended",outcome="given_up"\} [1-9]/);
  t.match(text, /gateway_deliveries_given_up_total\{event="call.analyzed"\} [1-9]/);
  t.match(text, /gateway_delivery_seconds_count\{outcome="given_up"\} [1-9]/);
  for (const name of ['waiting', 'oldest_seconds', 'failing_receivers'])
    t.match(text, new RegExp(`gateway_deliveries_${name} \\d`));
  t.notMatch(text, new RegExp(new URL(url).host));
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
  const kept = () => sql`select count(*) from deliveries where workspace_id = ${workspaceId}`;
  const before = await kept();
  exactly(t, await trial(url), {
    status: 200,
    body: { ok: true, status_code: 200, error: null, duration_ms: Number },
  });
  t.ok(isSignedBy('first', seen[0]!));
  exactly(t, JSON.parse(seen[0]!.body), { event: 'call.ended', test: true, session: { agent_id: agent } });
  status = 410;
  exactly(t, (await trial(url)).body, { ok: false, status_code: 410, error: null });
  exactly(t, await trial(inner), { status: 422, body: { errors: [{ loc: ['url'] }] } });
  await sql`
    update agents set config = jsonb_set(config, '{webhooks,post_call}', ${sql.json([{ url: inner, has_secret: false }])})
    where id = ${agent}`;
  exactly(t, (await trial(inner)).body, { ok: false, status_code: null, error: 'refused' });
  t.strictSame(await kept(), before);
  t.equal((await call('agents/agent_none/webhooks/test', { body: { url } })).status, 404);
});
