/**
 * Sessions of an agent that is archived or deleted: running conversations keep all that they need until their
 * end, and nobody joins one that has not begun.
 */
import { setTimeout as pause } from 'node:timers/promises';
import t from '../../fixtures/tap.js';
import { removeOld } from '../../../storage/sessions/sweep.js';
import { exactly } from '../../fixtures/exactly.js';
import { sharedPlatform } from '../../fixtures/platform/platform.js';
import { isSignedBy, startReceiver } from '../../fixtures/platform/receiver.js';
import { runsOn } from '../../fixtures/platform/session-runs.js';
import { until } from '../../fixtures/until.js';

const platform = await sharedPlatform(t, 'speech');
const { call, database } = platform;
const { sql } = database;
const SESSIONS = '/v1/agent/sessions';
const AGENTS = '/v1/agent/agents';
const runs = await runsOn(t, database, 'test');

const published = async (config: object = {}): Promise<string> => {
  const id = await platform.agent({ config });
  await call('POST', `${AGENTS}/${id}/publish`);
  return id;
};
const session = async (agentId: string): Promise<string> =>
  (await call('POST', SESSIONS, { body: { agent_id: agentId } })).body['session_id'] as string;
/** A running conversation, owned by a living process. */
const conversation = async (agentId: string): Promise<string> => {
  const id = await session(agentId);
  await runs.join(id);
  await runs.activate(id);
  return id;
};
const read = async (id: string) => (await call('GET', `${SESSIONS}/${id}`)).body;

const ENDINGS: readonly [what: string, end: (agentId: string) => Promise<number>][] = [
  [
    'archived',
    async (id) => (await call('PATCH', `${AGENTS}/${id}`, { body: { status: 'archived' } })).status,
  ],
  ['deleted', async (id) => (await call('DELETE', `${AGENTS}/${id}`)).status],
];

for (const [what, end] of ENDINGS)
  t.test(`${what}: its conversations continue, sessions that wait to be joined end`, async (t) => {
    const id = await published();
    const [waiting, joining, going, preview] = [
      await session(id),
      await session(id),
      await conversation(id),
      (await call('POST', `${AGENTS}/${id}/preview`)).body['session_id'] as string,
    ];
    await runs.join(joining);
    const other = await session(await published());
    t.ok([200, 204].includes(await end(id)));
    for (const gone of [waiting, preview]) {
      exactly(t, await read(gone), { status: 'failed', ended_reason: 'ended_by_api', started_at: null });
      t.equal(await runs.refusal(gone), 'ended');
      exactly(t, await runs.join(gone), { refused: 'ended' });
    }
    exactly(t, await read(going), { status: 'active', agent_name: 'Agent' });
    exactly(t, await read(joining), { status: 'pending' }, 'somebody is about to be connected');
    t.ok(await runs.activate(joining));
    exactly(t, await read(other), { status: 'pending' }, 'those of other agents wait on');
    t.ok((await call('POST', SESSIONS, { body: { agent_id: id } })).status >= 400, 'no more are made');
    for (const ended of [going, joining]) await call('POST', `${SESSIONS}/${ended}/end`);
    exactly(t, await read(going), { status: 'completed', ended_reason: 'ended_by_api' });
  });

t.test('archived or deleted while a session is being made: it takes none', async (t) => {
  const refusals = {
    archived: [409, 'Agent is archived'],
    deleted: [404, 'Agent not found'],
  } as const;
  for (const [what, [status, message]] of Object.entries(refusals)) {
    const id = await published();
    let answering: ReturnType<typeof call> | undefined;
    await sql.begin(async (tx) => {
      // Like storage/agents/agents.ts, but not committed yet.
      await tx`select from agents where id = ${id} for update`;
      if (what === 'archived') await tx`update agents set status = 'archived' where id = ${id}`;
      else await tx`delete from agents where id = ${id}`;
      answering = call('POST', SESSIONS, { body: { agent_id: id } });
      await Promise.race([answering, pause(300)]);
    });
    exactly(t, await answering, { status, body: { message } }, what);
  }
});

t.test('archived while a session is made that was first: it ends with its agent', async (t) => {
  const id = await published();
  let archiving: ReturnType<typeof call> | undefined;
  let isOver = false;
  await sql.begin(async (tx) => {
    // Locks the agent as the creation of a session does.
    await tx`select from agents where id = ${id} for key share`;
    archiving = call('PATCH', `${AGENTS}/${id}`, { body: { status: 'archived' } });
    void archiving.then(() => (isOver = true));
    await pause(300);
    t.notOk(isOver, 'it waits for the session');
  });
  exactly(t, await archiving, { status: 200, body: { status: 'archived' } });
});

t.test('an agent that comes back takes sessions again', async (t) => {
  const id = await published();
  for (const status of ['archived', 'active']) await call('PATCH', `${AGENTS}/${id}`, { body: { status } });
  exactly(t, await read(await session(id)), { status: 'pending' });
});

const secretsOf = async (owner: string): Promise<number> =>
  (await sql`select from secrets where owner_id = ${owner}`).length;

t.test('deliveries are signed, and tools called, with credentials of an agent that is gone', async (t) => {
  const { url, seen } = await startReceiver(t);
  const headers = [{ name: 'Authorization', kind: 'authorization_bearer', value: 'Bearer x' }];
  const tool = await platform.tool({ url, headers });
  const id = await published({
    tools: { tool_ids: [tool] },
    webhooks: { post_call: { url, secret: 'sesame' } },
  });
  const going = await conversation(id);
  t.equal((await call('DELETE', `${AGENTS}/${id}`)).status, 204);
  t.equal((await call('DELETE', `/v1/agent/tools/${tool}`)).status, 204);
  await removeOld(sql);
  t.strictSame([await secretsOf(id), await secretsOf(tool)], [1, 1], 'needed until it has ended');
  await runs.end(going, 'hangup');
  await removeOld(sql);
  t.ok((await secretsOf(id)) === 1 || seen.length === 2, 'needed until the last event is delivered');
  await until('both events are there', () => seen.length === 2);
  for (const event of seen) t.ok(isSignedBy('sesame', event));
  await until('nobody needs them any more', async () => {
    await removeOld(sql);
    return (await secretsOf(id)) + (await secretsOf(tool)) === 0;
  });
});

t.test('unneeded credentials are deleted with their agent and tool', async (t) => {
  const tool = await platform.tool({ headers: [{ name: 'A', kind: 'authorization_basic', value: 'x' }] });
  const id = await published({
    tools: { tool_ids: [tool] },
    webhooks: { post_call: { url: 'https://a.example/', secret: 's' } },
  });
  await session(id);
  await call('DELETE', `${AGENTS}/${id}`);
  t.equal(await secretsOf(id), 0);
  await call('DELETE', `/v1/agent/tools/${tool}`);
  t.equal(await secretsOf(tool), 0);
});
