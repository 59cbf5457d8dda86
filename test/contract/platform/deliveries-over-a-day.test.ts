/**
 * Post-call events over a day, on a database whose clock is set: receivers that are away, fail now and then, are slow or send
 * elsewhere; nodes that stop and die (docs/webhooks.md).
 */
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { randomIds } from '../../../contracts/ids.js';
import { deliveryNodes, HANGS, HOLDS } from '../../fixtures/platform/delivery-nodes.js';
import { type Answer, type Seen, startReceiver } from '../../fixtures/platform/receiver.js';
import { shortOrLong } from '../../fixtures/long.js';
import { until } from '../../fixtures/until.js';

const { sql, workspaceId, report, node, quiet, forward, untilNext } = await deliveryNodes(t);
type Node = Awaited<ReturnType<typeof node>>;

const { failing, back, atOnce, spare } = LIMITS.postCallWebhook;
/** For a backlog that goes at a bounded pace, on a machine that others use as well. */
const PATIENCE_MS = 300_000;
const eventOf = ({ body }: Pick<Seen, 'body'>) =>
  JSON.parse(body) as { event: string; event_id: string; session: { id: string } };

/** The first request of each event, in the order of arrival. */
const firsts = (seen: readonly Seen[]): string[] => [...new Set(seen.map((one) => eventOf(one).event_id))];

/** Nodes of which each may be replaced; all are stopped at the end of the test. */
async function started(t: Pick<Test, 'teardown'>, count: number): Promise<Node[]> {
  const nodes = await Promise.all(Array.from({ length: count }, () => node()));
  t.teardown(() => Promise.all(nodes.map(({ stop }) => stop())));
  return nodes;
}

/** Lets the time pass to whatever is next, for so many seconds, and has all of it tried. `each` is called before each step. */
async function pass(nodes: readonly Node[], seconds: number, each?: () => Promise<void>): Promise<void> {
  for (let left = seconds; left > 0;) {
    await each?.();
    await quiet(nodes);
    const step = Math.min(left, ((await untilNext()) ?? left) + 0.001);
    await forward(step);
    left -= step;
  }
  await quiet(nodes);
}

/** Notes, of a delivery to each address, the pause after each of its attempts, in seconds; whatever the machine needs besides. */
function pausesTo(urls: readonly string[]) {
  const pauses = new Map<string, number[]>(urls.map((url) => [url, []]));
  const note = async (): Promise<void> => {
    const rows = await sql<{ url: string; attempts: number; seconds: number }[]>`
      select url, attempts, round(extract(epoch from due_at - tried_at))::int as seconds from deliveries
      where url = any(${urls as string[]}::text[]) and settled_at is null and tried_at is not null`;
    for (const { url, attempts, seconds } of rows) (pauses.get(url) ?? [])[attempts - 1] = seconds;
  };
  return { pauses, note };
}

t.test(
  'a delivery is attempted nine times in a day: 1 s, 5 s, 30 s, 2 min, 10 min, 1 h, 6 h and 16 h apart',
  async (t) => {
    const answers: Readonly<Record<string, Answer>> = {
      'an error': (_, response) => response.writeHead(503).end(),
      'a redirect': (_, response) => response.writeHead(307, { location: '/elsewhere' }).end(),
      'no answer': (_, response) => response.destroy(),
      'no answer in time': () => undefined,
    };
    const receivers = await Promise.all(
      Object.entries(answers).map(async ([what, answer]) => {
        const receiver = await startReceiver(t, answer);
        return { ...receiver, what, url: receiver.url + (what === 'no answer in time' ? HANGS : '') };
      }),
    );
    for (const { url } of receivers) await report(url);
    const nodes = await started(t, 1);
    const { pauses, note } = pausesTo(receivers.map(({ url }) => url));
    await pass(nodes, 25 * 3600, note);
    for (const { what, url, seen, close } of receivers) {
      t.strictSame(pauses.get(url), [1, 5, 30, 120, 600, 3600, 6 * 3600, 16 * 3600], what);
      const [tried] = await sql`select attempts, outcome from deliveries where url = ${url}`;
      t.strictSame({ ...tried }, { attempts: 9, outcome: 'failed' });
      t.ok(seen.length <= 9, `${what}: nothing was sent elsewhere`);
      t.equal(new Set(seen.map(({ body }) => body)).size, 1, 'the same body');
      t.equal(new Set(seen.map(({ headers }) => headers['x-svc-webhook-event-id'])).size, 1, 'the same id');
      close();
    }
  },
);

t.test('410 is for good: the event is not sent again, and others are', async (t) => {
  const { url, seen } = await startReceiver(t, (_, response, nth) =>
    response.writeHead(nth === 1 ? 410 : 200).end(),
  );
  const nodes = await started(t, 1);
  await report(url);
  await pass(nodes, 3600);
  await report(url);
  await pass(nodes, 60);
  t.equal(seen.length, 2);
  const rows = await sql<
    { outcome: string }[]
  >`select outcome from deliveries where url = ${url} order by id`;
  t.strictSame(
    rows.map(({ outcome }) => outcome),
    ['failed', 'delivered'],
  );
});

t.test('a receiver that asks for a pause (Retry-After) gets it, up to an hour', async (t) => {
  const asked = ['120', new Date(Date.now() + 900_000).toUTCString(), '86400'];
  const { url } = await startReceiver(t, (_, response, nth) =>
    response.writeHead(nth === 2 ? 429 : 503, { 'retry-after': asked[nth - 1] ?? '0' }).end(),
  );
  const nodes = await started(t, 1);
  await report(url);
  const { pauses, note } = pausesTo([url]);
  await pass(nodes, 2 * 3600, note);
  const [first, second = 0, third] = pauses.get(url) ?? [];
  t.strictSame([first, third], [120, 3600]);
  t.ok(second > 5 && second <= 900, `${second} s until the date`);
  await sql`delete from deliveries`;
});

/** How receivers are away. */
const AWAY: Readonly<Record<string, Answer>> = {
  'closes connections': (_, response) => response.destroy(),
  'answers 500': (_, response) => response.writeHead(500).end(),
  'answers 404': (_, response) => response.writeHead(404).end(),
  redirects: (_, response) => response.writeHead(308, { location: '/elsewhere' }).end(),
  'never answers': () => undefined,
};

/** A receiver that is away in that way until it is let in. */
async function awayReceiver(t: Pick<Test, 'teardown'>, what: string) {
  const taken: Seen[] = [];
  const state = { away: true };
  const { url, seen } = await startReceiver(t, (one, response, nth) => {
    if (state.away) return AWAY[what]!(one, response, nth);
    taken.push(one);
    return response.end();
  });
  return { what, state, taken, seen, url: what === 'never answers' ? url + HANGS : url };
}

/** Nodes of which one stops and another one starts, in turn. */
function restarting(nodes: Node[]): () => Promise<void> {
  let restarts = 0;
  return async () => {
    const index = restarts++ % nodes.length;
    await nodes[index]!.stop();
    nodes[index] = await node();
  };
}

t.test(
  'a receiver that is away for an hour gets every event, with its id, in the order of the first attempts',
  async (t) => {
    const receivers = await Promise.all(Object.keys(AWAY).map((what) => awayReceiver(t, what)));
    const nodes = await started(t, 2);
    const restart = restarting(nodes);
    const sessions = new Map<string, string[]>(receivers.map(({ what }) => [what, []]));
    for (let minute = 0; minute < 60; minute += 3) {
      for (const { url, what } of receivers) {
        const session = await report(url);
        await report(url, 'call.analyzed', session);
        sessions.get(what)!.push(session);
      }
      await pass(nodes, 180);
      if (minute % 15 === 0) await restart();
    }
    for (const { what, state, seen, taken } of receivers) {
      t.ok(seen.length < 100, `${what}: ${seen.length} requests for 40 events while it was away`);
      t.equal(taken.length, 0);
      state.away = false;
    }
    await pass(nodes, 6 * 60, restart);

    for (const { what, url, seen, taken } of receivers) {
      const expected = sessions
        .get(what)!
        .flatMap((session) => [`${session} call.ended`, `${session} call.analyzed`]);
      const arrived = [...new Set(taken.map((one) => `${eventOf(one).session.id} ${eventOf(one).event}`))];
      t.strictSame(arrived, expected, `${what}: all of them, in their order, soon after it was back`);
      t.strictSame(firsts(seen), firsts(taken), `${what}: which is that of the first attempts`);
      t.ok(
        seen.every(({ headers, body }) => headers['x-svc-webhook-event-id'] === eventOf({ body }).event_id),
      );
      const ids = await sql<{ count: number }[]>`
        select count(distinct event_id)::int as count from deliveries where url = ${url} and outcome = 'delivered'`;
      t.equal(ids[0]?.count, 40);
      t.equal(new Set(seen.map(({ body }) => body)).size, firsts(seen).length, 'one body for each id');
    }
  },
);

/** Written as the ends of calls write them, one after the other. */
const BACKLOG = shortOrLong(200, 1000);

t.test(
  'a receiver that is back gets a large backlog in order, from nodes that are replaced meanwhile',
  async (t) => {
    const { state, seen, taken, url } = await awayReceiver(t, 'answers 500');
    const nodes = await started(t, 2);
    for (let made = 0; made < failing.after; made++) await report(url);
    await pass(nodes, 60);
    for (let made = failing.after; made < BACKLOG; made++) await report(url);
    await pass(nodes, 600);
    t.ok(seen.length < 60, `${seen.length} requests while it was away, with ${BACKLOG} events`);
    state.away = false;
    await forward(failing.pausesMs.at(-1)! / 1000);
    const restart = restarting(nodes);
    await until(
      'all have arrived',
      async () => {
        await restart();
        return firsts(taken).length === BACKLOG;
      },
      PATIENCE_MS,
    );
    const made = await sql<
      { id: string }[]
    >`select event_id as id from deliveries where url = ${url} order by deliveries.id`;
    const place = new Map(made.map(({ id }, index) => [id, index]));
    // Of the few that are under way at once the later may overtake.
    const order = firsts(taken).map((id) => place.get(id)!);
    t.ok(
      order.every((at, index) => Math.abs(at - index) < back.atOnce * nodes.length),
      'in order',
    );
    await quiet(nodes);
    await sql`delete from deliveries where url = ${url}`;
  },
);

t.test('slow receivers hold up no other one, of their workspace or of another', async (t) => {
  const slow = await Promise.all([1, 2].map(() => startReceiver(t, () => undefined)));
  const quick = await startReceiver(t);
  const other = randomIds.next('workspace');
  await sql`insert into workspaces (id, name) values (${other}, 'Other')`;
  for (let made = 0; made < 2 * atOnce; made++) {
    await report(slow[0]!.url + HOLDS);
    await report(slow[1]!.url + HOLDS, 'call.ended', undefined, other);
  }
  // Nobody waits for those that hang.
  const held = await node();
  await until('all places that slow ones get are taken', () =>
    slow.every(({ seen }) => seen.length === atOnce - spare),
  );
  for (const owner of [workspaceId, other, workspaceId]) {
    const session = await report(quick.url, 'call.ended', undefined, owner);
    await until('another receiver gets its event', () =>
      quick.seen.some((one) => eventOf(one).session.id === session),
    );
  }
  t.same(
    slow.map(({ seen }) => seen.length),
    [atOnce - spare, atOnce - spare],
  );
  for (const { close } of slow) close();
  await sql`delete from deliveries where settled_at is null`;
  await held.stop();
});

t.test('a receiver that fails is asked less and less often, by all nodes together', async (t) => {
  const { url, seen } = await startReceiver(t, (_, response) => response.writeHead(500).end());
  const nodes = await started(t, 2);
  for (let made = 0; made < 30; made++) await report(url);
  await pass(nodes, 3600);
  const later = seen.length;
  await pass(nodes, 3600);
  t.ok(seen.length - later <= 26, `${seen.length - later} requests in the second hour`);
  await sql`delete from deliveries where url = ${url}`;
});

t.test('an event that its receiver cannot take holds up no other', async (t) => {
  const poisoned: string[] = [];
  const { url, seen } = await startReceiver(t, (one, response) =>
    response.writeHead(poisoned.includes(eventOf(one).session.id) ? 500 : 200).end(),
  );
  const nodes = await started(t, 1);
  for (let made = 0; made < 3; made++) poisoned.push(await report(url));
  await pass(nodes, 600);
  const session = await report(url);
  await pass(nodes, failing.pausesMs.at(-1)! / 1000);
  t.ok(seen.some((one) => eventOf(one).session.id === session));
  const next = await report(url);
  await quiet(nodes);
  t.ok(
    seen.some((one) => eventOf(one).session.id === next),
    'at once, once it has shown that it takes others',
  );
  await sql`delete from deliveries where url = ${url}`;
});

t.test(
  'a slow receiver of two nodes: a session’s later event goes after the first attempt of the earlier one',
  async (t) => {
    let slow = true;
    const receiver = await startReceiver(t, (_, response) => void (slow || response.end()));
    const { seen } = receiver;
    const url = receiver.url + HANGS;
    const nodes = await started(t, 2);
    const session = await report(url);
    await report(url, 'call.analyzed', session);
    await quiet(nodes);
    t.strictSame(
      seen.slice(0, 2).map((one) => eventOf(one).event),
      ['call.ended', 'call.analyzed'],
    );
    slow = false;
    await pass(nodes, 10);
    const [row] = await sql`
    select count(*)::int as count from deliveries where url = ${url} and outcome = 'delivered' and attempts >= 2`;
    t.strictSame(row, { count: 2 });
  },
);

t.test('a node that dies with a delivery: another one sends it when the lease ends', async (t) => {
  const { url, seen } = await startReceiver(t);
  await report(url);
  await sql`update deliveries set taken_until = now() + interval '30 seconds' where url = ${url}`;
  const nodes = await started(t, 1);
  await pass(nodes, 20);
  t.equal(seen.length, 0);
  await pass(nodes, 20);
  t.equal(seen.length, 1);
});

t.test('what has waited for a day for a receiver that failed all that time is given up', async (t) => {
  const { url, seen } = await startReceiver(t, (_, response) => response.writeHead(500).end());
  const nodes = await started(t, 1);
  for (let made = 0; made < 12; made++) await report(url);
  await pass(nodes, 120);
  await forward(27 * 3600);
  const gone = await until('it is given up', async () => {
    const rows = await sql`select from deliveries where url = ${url} and outcome is distinct from 'failed'`;
    return rows.length === 0;
  });
  t.ok(gone);
  t.ok(seen.length < 100);
});

t.test('what is to be sent again waits in parts, and goes in order at a bounded pace', async (t) => {
  const { url, seen } = await startReceiver(t);
  await sql`
    insert into sessions (id, workspace_id, agent_id, agent_name, config_hash, source, timezone, metadata, overrides,
      expires_at, max_duration_seconds)
    values ('sess_again', ${workspaceId}, 'agent_again', 'A', '', 'api_key', 'UTC', '{}', '{}', now(), 60)`;
  await sql`
    insert into agents (id, workspace_id, name, description, config)
    values ('agent_again', ${workspaceId}, 'A', '', '{}')`;
  await sql`
    insert into deliveries (workspace_id, session_id, agent_id, event, event_id, url, body, attempts, outcome, settled_at)
    select ${workspaceId}, 'sess_again', 'agent_again', 'call.ended', 'evt_' || n, ${url},
      json_build_object('event', 'call.ended', 'event_id', 'evt_' || n, 'session', json_build_object('id', 'sess_again')), 9, 'failed', now()
    from generate_series(1, 250) n`;
  await sql`
    insert into redeliveries (workspace_id, outcome, agent_id, up_to)
    select ${workspaceId}, 'failed', 'agent_again', max(id) from deliveries`;
  await started(t, 2);
  await until('all were sent', () => seen.length >= 250 || undefined);
  t.strictSame(
    seen.slice(0, 100).map((one) => eventOf(one).event_id),
    Array.from({ length: 100 }, (_, n) => `evt_${n + 1}`),
  );
  t.equal(firsts(seen).length, 250);
  await until('it is finished', async () => {
    const [row] =
      await sql`select redelivered from redeliveries where finished_at is not null and redelivered = 250`;
    return row;
  });
  const [took] = await sql<[{ ms: number }]>`
    select extract(epoch from max(tried_at) - min(tried_at))::float8 * 1000 as ms from deliveries where url = ${url}`;
  t.ok(took.ms > 3000, `${took.ms} ms for 250 at 50 a second`);
});
