/**
 * Two gateways on a cluster of two real LiveKit servers with Redis (ops/adr/0041-agents-of-livekit.md): who gets a call,
 * and what becomes of it when a gateway or a server goes. Runs where `livekit-server` and `redis-server` are on PATH.
 */
import { dispose } from '@livekit/rtc-node';
import t from 'tap';
import { client } from '../fixtures/agents.js';
import { type Invite, MEDIA, Talks } from '../fixtures/conversation.js';
import { type Gateway, startGateway } from '../fixtures/gateway.js';
import { RealUser, startNodes, withoutCluster } from '../fixtures/livekit-server.js';
import { startPostgres } from '../fixtures/postgres.js';
import { until } from '../fixtures/until.js';

t.setTimeout(600_000);

t.test('two gateways on a cluster of two servers', { skip: withoutCluster }, async (t) => {
  const cluster = await startNodes(t);
  const postgres = await startPostgres(t, { migrated: true });
  const { sql } = await postgres.open();
  const shared = {
    ...MEDIA,
    ...{ DATABASE_URL: postgres.url, LOG_LEVEL: 'warn' },
    ...{ LIVEKIT_URL: cluster.url, LIVEKIT_API_KEY: cluster.key, LIVEKIT_API_SECRET: cluster.secret },
    ...{ LIVEKIT_ROOM_PROCESSES: '2', LIVEKIT_ROOMS_PER_PROCESS: '8' },
  };
  const talks = await Talks.start(t, shared);
  talks.model.answer(() => 'Yes.');
  const first = talks.gateway;
  const start = async (): Promise<Gateway> => {
    const gateway = await startGateway({ ...shared, LLM_BASE_URL: talks.model.url });
    t.teardown(() => gateway.stop());
    return gateway;
  };
  const second = await start();
  t.teardown(() => dispose());

  /** The gateway that has a session's call. */
  async function ownerOf({ session_id: id }: Invite): Promise<string> {
    const [row] = await sql<{ url: string }[]>`
      select o.url from sessions s join session_owners o on o.process_id = s.owner_id where s.id = ${id}`;
    return row?.url ?? '';
  }

  /** The answer to a wish for a session. */
  const ask = async (gateway: Gateway, agent: string) =>
    client(gateway.base)('sessions', { body: { agent_id: agent } });
  const end = (invites: readonly Invite[]) =>
    Promise.all(invites.map(({ session_id: id }) => talks.call(`sessions/${id}/end`, { method: 'POST' })));
  const idle = () =>
    until('all calls are over', async () => {
      const [row] = await sql`select sum(calls)::int as calls from session_owners`;
      return row?.['calls'] === 0;
    });
  const silent = await talks.agent();

  await t.test('30 calls are spread over both; a full cluster answers 503 with Retry-After', async (t) => {
    const made: Awaited<ReturnType<typeof ask>>[] = [];
    // A few at a time: thirty at once on a busy machine are not all in their rooms within 15 s.
    while (made.length < 30)
      made.push(...(await Promise.all([first, second, first].map((gateway) => ask(gateway, silent)))));
    t.strictSame(
      made.map(({ status }) => status),
      made.map(() => 201),
    );
    const invites = made.map(({ body }) => body as unknown as Invite);
    const owners = await Promise.all(invites.map(ownerOf));
    for (const { base } of [first, second]) {
      const calls = owners.filter((owner) => owner === base).length;
      t.ok(calls >= 14 && calls <= 16, `${calls} calls at one of them`);
    }
    const users = await Promise.all(invites.slice(0, 4).map((invite) => RealUser.enter(invite)));
    await until('each meets its agent', () => users.every(({ states }) => states.includes('listening')));
    for (const gateway of [first, second])
      invites.push((await ask(gateway, silent)).body as unknown as Invite);
    await until('both are full', async () => {
      const [row] = await sql`select count(*)::int as full from session_owners where calls >= places`;
      return row?.['full'] === 2;
    });
    const refused = await ask(second, silent);
    t.equal(refused.status, 503);
    t.equal(refused.headers.get('retry-after'), '5');
    await Promise.all(users.map((user) => user.leave()));
    await end(invites);
    await idle();
  });
});
