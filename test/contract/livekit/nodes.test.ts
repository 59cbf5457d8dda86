/**
 * Two gateways on a cluster of two real LiveKit servers with Redis (ops/adr/0041-agents-of-livekit.md): distribution of
 * calls, and calls whose gateway or server ends. In the long form only, if `livekit-server` and `redis-server` are on the PATH.
 */
import { dispose } from '@livekit/rtc-node';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { client } from '../../fixtures/platform/agents.js';
import {
  type Invite,
  MEDIA,
  messagesOf,
  type Record as CallRecord,
  Talks,
} from '../../fixtures/conversation/conversation.js';
import { type Gateway, startGateway } from '../../fixtures/gateway.js';
import { startNodes, withoutCluster } from '../../fixtures/livekit/nodes.js';
import { RealUser } from '../../fixtures/livekit/server.js';
import { shortOrLong } from '../../fixtures/long.js';
import { startPostgres } from '../../fixtures/database/postgres.js';
import { loudMs } from '../../fixtures/media/tones.js';
import { until } from '../../fixtures/until.js';

t.setTimeout(600_000);

/** Sample rate of the sound that users hear, in Hz. */
const RATE = 24_000;
const AGAIN_MS = 5000;
/** Longer than a busy machine delays a voice. */
const SILENCE_MS = 3000;
/** Age after which a call is retried: not within its first ten seconds. */
const SETTLED_MS = 11_000;
/** The second kill is of the server that took the call over from the first. */
const KILLS = 3;
/** Rooms of each gateway's two processes, and calls that nearly fill both gateways. */
const ROOMS = 8;
const CALLS = 30;

const skip = shortOrLong<string | false>(
  'takes minutes of two processors: npm run test:long',
  withoutCluster,
);

/** Both gateways on a cluster, and an agent that only answers. */
async function startPair(t: Test) {
  const cluster = await startNodes(t);
  const postgres = await startPostgres(t);
  const { sql } = await postgres.open();
  const shared = {
    ...MEDIA,
    ...{ DATABASE_URL: postgres.url, LOG_LEVEL: 'warn' },
    ...{ LIVEKIT_URL: cluster.url, LIVEKIT_API_KEY: cluster.key, LIVEKIT_API_SECRET: cluster.secret },
    ...{ LIVEKIT_ROOM_PROCESSES: '2', LIVEKIT_ROOMS_PER_PROCESS: String(ROOMS) },
  };
  const talks = await Talks.start(t, shared);
  talks.model.answer(() => 'Yes.');
  const first = talks.gateway;
  /** Gateways that take calls. */
  const gateways = new Set([first]);
  const start = async (): Promise<Gateway> => {
    const gateway = await startGateway({ ...shared, LLM_BASE_URL: talks.model.url });
    t.teardown(() => gateway.stop());
    gateways.add(gateway);
    return gateway;
  };
  const second = await start();
  t.teardown(() => dispose());
  return { cluster, sql, gateways, first, second, start, silent: await talks.agent() };
}

type Pair = Awaited<ReturnType<typeof startPair>>;

/** The gateway that owns a session's call. */
async function ownerOf({ sql }: Pair, { session_id: id }: Invite): Promise<string> {
  const [row] = await sql<{ url: string }[]>`
    select o.url from sessions s join session_owners o on o.process_id = s.owner_id where s.id = ${id}`;
  return row?.url ?? '';
}

/** Requests a session; resolves with the answer. */
const ask = async (gateway: Gateway, agent: string) =>
  client(gateway.base)('sessions', { body: { agent_id: agent } });
const end = (gateway: Gateway, invites: readonly Invite[]) =>
  Promise.all(
    invites.map(({ session_id: id }) => client(gateway.base)(`sessions/${id}/end`, { method: 'POST' })),
  );
const idle = ({ sql }: Pair) =>
  until('all calls are over', async () => {
    const [row] = await sql`select sum(calls)::int as calls from session_owners`;
    return row?.['calls'] === 0;
  });

const recordOf = async (gateway: Gateway, { session_id: id }: Invite) =>
  (await client(gateway.base)(`sessions/${id}`)).body as unknown as CallRecord;
const endedAt = (gateway: Gateway, invite: Invite) =>
  until('the session has ended', async () => {
    const record = await recordOf(gateway, invite);
    return record.ended_reason === null ? undefined : record;
  });
const meet = async (gateway: Gateway, agent: string) => {
  const invite = (await ask(gateway, agent)).body as unknown as Invite;
  const user = await RealUser.enter(invite);
  await until('it meets its agent', () => user.states.includes('listening'));
  return { invite, user };
};

/** Writes until the agent answers: a message that is written while a client joins may be lost. */
const answered = async (user: RealUser, gateway: Gateway, invite: Invite) => {
  const before = messagesOf(await recordOf(gateway, invite)).length;
  let written = -Infinity;
  await until('it is answered', async () => {
    if (performance.now() - written > AGAIN_MS) {
      written = performance.now();
      await user.write('Are you there?');
    }
    return messagesOf(await recordOf(gateway, invite)).length >= before + 2;
  });
};

/** The token with which the user's client returns. */
const ownToken = (user: RealUser) =>
  until('the server gives it another token', () => {
    const { token = '' } = user.room;
    const claims = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
    return claims.includes('"use":"rejoin"') ? token : undefined;
  });

/** Says something until the agent is heard: speech during a reconnect is lost. */
const heardAgain = (user: RealUser) => {
  user.forget();
  let said = -Infinity;
  return until('the agent is heard', async () => {
    if (performance.now() - said > AGAIN_MS) {
      said = performance.now();
      await user.write('Are you there?', true).catch(() => undefined);
    }
    return loudMs(user.heard, RATE) > 0;
  });
};

/** Listens until the agent has been silent for a while. */
const silentAgain = (user: RealUser) => {
  let since = performance.now();
  return until('the agent is silent', () => {
    if (loudMs(user.heard, RATE) > 0) since = performance.now();
    user.forget();
    return performance.now() - since > SILENCE_MS;
  });
};

const SORRY = 'Sorry, I lost you for a moment.';

/** In this order: each leaves the gateways and servers to the next one. */
const CASES: Readonly<Record<string, (t: Test, pair: Pair) => Promise<void>>> = {
  'calls are spread over both; a full cluster answers 503 with Retry-After': async (t, pair) => {
    const { first, second, silent, sql } = pair;
    const made: Awaited<ReturnType<typeof ask>>[] = [];
    // Three at a time: on a busy machine all at once would not all be in their rooms within 15 s.
    while (made.length < CALLS)
      made.push(...(await Promise.all([first, second, first].map((gateway) => ask(gateway, silent)))));
    t.strictSame(
      made.map(({ status }) => status),
      made.map(() => 201),
    );
    const invites = made.map(({ body }) => body as unknown as Invite);
    const owners = await Promise.all(invites.map((invite) => ownerOf(pair, invite)));
    for (const { base } of [first, second]) {
      const calls = owners.filter((owner) => owner === base).length;
      t.ok(Math.abs(calls - CALLS / 2) < 2, `${calls} calls at one of them`);
    }
    const users = await Promise.all(invites.slice(0, 4).map((invite) => RealUser.enter(invite)));
    await until('each meets its agent', () => users.every(({ states }) => states.includes('listening')));
    await until('both are full', async () => {
      const [row] = await sql`select count(*)::int as full from session_owners where calls >= places`;
      if (row?.['full'] === 2) return true;
      const { status, body } = await ask(first, silent);
      if (status === 201) invites.push(body as unknown as Invite);
      return false;
    });
    const refused = await ask(second, silent);
    t.equal(refused.status, 503);
    t.equal(refused.headers.get('retry-after'), '5');
    await Promise.all(users.map((user) => user.leave()));
    await end(first, invites);
    await idle(pair);
  },

  'a used token takes nobody’s place; the user’s own reconnect does': async (t, { first, silent }) => {
    const { invite, user } = await meet(first, silent);
    await answered(user, first, invite);
    let own = user;
    for (const time of ['once', 'again']) {
      const token = await ownToken(own);
      const put = own;
      // It may be removed while it is still joining.
      const stranger = await RealUser.enter(invite).catch(() => undefined);
      await until(`who comes with the used token ${time} is put out`, () => !stranger?.room.isConnected);
      await until('the server has put out the user first', () => !put.room.isConnected);
      own = await RealUser.enter({ ...invite, token });
      await answered(own, first, invite);
      t.ok(own.room.isConnected, 'the user comes back, and goes on');
    }
    t.equal((await recordOf(first, invite)).status, 'active');
    await own.leave();
    t.equal((await endedAt(first, invite)).ended_reason, 'hangup');
  },

  'a LiveKit server that drains serves its call to the end, and gets no other': async (
    t,
    { cluster, first, second, silent },
  ) => {
    const { invite, user } = await meet(first, silent);
    const leaving = await cluster.holder(invite.session_id);
    leaving.server.kill('SIGTERM');
    await answered(user, first, invite);
    const next = await meet(second, silent);
    t.notOk(await leaving.holds(next.invite.session_id));
    await answered(user, second, invite);
    t.ok(user.room.isConnected);
    await user.leave();
    t.equal((await endedAt(first, invite)).ended_reason, 'hangup');
    await leaving.server.exited;
    await heardAgain(next.user);
    await next.user.leave();
    t.equal((await endedAt(first, next.invite)).ended_reason, 'hangup', 'though its signalling came by it');
    await leaving.start();
  },

  'a LiveKit server is killed in mid-call, and the next: the agent is heard again': async (
    t,
    { cluster, first, silent },
  ) => {
    const { invite, user } = await meet(first, silent);
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const since = performance.now();
      await heardAgain(user);
      await silentAgain(user);
      await until('the call has settled', () => performance.now() - since > SETTLED_MS);
      const lost = await cluster.holder(invite.session_id);
      const from = performance.now();
      await lost.stop();
      await heardAgain(user);
      t.comment(`SIGKILL to the agent's voice: ${Math.round(performance.now() - from)} ms`);
      t.notOk(await lost.holds(invite.session_id));
      await lost.start();
    }
    await user.leave();
    t.equal((await endedAt(first, invite)).ended_reason, 'hangup');
  },

  'a gateway that drains gets no more calls, and serves the running one': async (t, pair) => {
    const { first, gateways, second, silent, sql } = pair;
    const { invite, user } = await meet(first, silent);
    const leaving = (await ownerOf(pair, invite)) === first.base ? first : second;
    const staying = leaving === first ? second : first;
    const waiting = await until('a call waits there for its user', async () => {
      const { body } = await ask(first, silent);
      const invited = body as unknown as Invite;
      if ((await ownerOf(pair, invited)) === leaving.base) return invited;
      await end(first, [invited]);
      return undefined;
    });
    gateways.delete(leaving);
    leaving.kill('SIGTERM');
    await until(
      'others know',
      async () => (await sql`select from session_owners where draining`).length === 1,
    );
    const next = await meet(staying, silent);
    t.equal(await ownerOf(pair, next.invite), staying.base);
    await until(
      'the other one waits for that user',
      async () => (await ownerOf(pair, waiting)) === staying.base,
    );
    const late = await RealUser.enter(waiting);
    await answered(late, staying, waiting);
    await late.leave();
    t.equal((await endedAt(staying, waiting)).ended_reason, 'hangup');
    await answered(user, staying, invite);
    await user.leave();
    t.equal((await endedAt(staying, invite)).ended_reason, 'hangup');
    t.equal(await leaving.exited, 0);
    await next.user.leave();
    await end(staying, [next.invite]);
  },

  'a gateway that is killed in mid-call: another one continues the call': async (t, pair) => {
    const { gateways, silent, start } = pair;
    await start();
    const [one, other] = [...gateways] as [Gateway, Gateway];
    const { invite, user } = await meet(one, silent);
    await answered(user, one, invite);
    const lost = (await ownerOf(pair, invite)) === one.base ? one : other;
    const left = lost === one ? other : one;
    gateways.delete(lost);
    const from = performance.now();
    lost.kill('SIGKILL');
    await until('the agent is back', () => user.shown.some(({ text }) => text === SORRY));
    t.comment(`SIGKILL to the agent's words: ${Math.round(performance.now() - from)} ms`);
    t.equal(await ownerOf(pair, invite), left.base);
    await answered(user, left, invite);
    t.ok(user.room.isConnected, 'the user was never out');
    await user.leave();
    const record = await endedAt(left, invite);
    t.equal(record.ended_reason, 'hangup');
    t.equal(messagesOf(record).filter((line) => line === `assistant: ${SORRY}`).length, 1);
  },
};

t.test('two gateways on a cluster of two servers', { skip }, async (t) => {
  const pair = await startPair(t);
  for (const [name, holds] of Object.entries(CASES)) await t.test(name, (t) => holds(t, pair));
});
