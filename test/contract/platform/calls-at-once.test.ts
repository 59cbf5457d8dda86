/**
 * How many calls a workspace has at once (docs/contract/limits.md): counted over all processes and nodes, apart from the jobs
 * of CONCURRENCY, shared with other workspaces, and refused on every way into a call.
 */
import t from '../../fixtures/tap.js';
import { WebSocket } from 'ws';
import { randomIds } from '../../../contracts/ids.js';
import type { SessionRuns } from '../../../contracts/ports/sessions/sessions.js';
import { createKey } from '../../../storage/keys/keys.js';
import { type Body, client, makeAgent } from '../../fixtures/platform/agents.js';
import { Caller, letGo } from '../../fixtures/calls/caller.js';
import { type Invite, shownBy } from '../../fixtures/conversation/conversation.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { ASKING, IncomingCalls, newCall, STREAMING } from '../../fixtures/phone/incoming-calls.js';
import { APIS, PlacedCalls } from '../../fixtures/phone/placed-calls.js';
import { startRuns, storeAgent } from '../../fixtures/platform/session-runs.js';
import { addressOf } from '../../fixtures/calls/signalling.js';
import { until } from '../../fixtures/until.js';

t.teardown(letGo);

const IDLE = { load: 0, callCost: 0.1 };
t.test('over all processes', async (t) => {
  const stored = await startRuns(t);
  const { sql, workspaceId, create } = stored;
  const processes = [await stored.runsOf(t), await stored.runsOf(t)];
  const joinAll = (ids: readonly string[]) =>
    Promise.all(ids.map((id, index) => processes[index % processes.length]!.join(id)));
  const joined = (outcomes: Awaited<ReturnType<SessionRuns['join']>>[]): string[] =>
    outcomes.flatMap((outcome) => ('record' in outcome ? [outcome.record.id] : []));
  const made = (count: number, more = {}) => Promise.all(Array.from({ length: count }, () => create(more)));
  const limit = (calls: number | null) =>
    sql`update workspaces set calls = ${calls} where id = ${workspaceId}`;
  const endAll = async () => {
    const live = await sql<{ id: string }[]>`select id from sessions where ended_at is null`;
    for (const { id } of live) await processes[0]!.end(id, 'hangup');
  };
  const [here] = processes;
  if (!here) throw new Error('no process');

  await t.test('clients that join at the same time get no more places than there are', async (t) => {
    await limit(3);
    const ids = await made(8);
    const first = joined(await joinAll(ids));
    t.equal(first.length, 3);
    const others = ids.filter((id) => !first.includes(id));
    t.same(await joinAll(others), Array(5).fill({ refused: 'full' }));
    t.equal(await here.refusal(others[0]!), 'full', 'and can ask why');
    await rejectsExactly(t, create(), { code: 'concurrency_exceeded', retryAfter: 5 });
    await here.end(first[0]!, 'hangup');
    t.equal(joined(await joinAll(others)).length, 1, 'their tokens are good for the next place');
    await endAll();
  });

  await t.test('a client that leaves before it is connected gives its place back', async (t) => {
    await limit(1);
    const [id = '', other = ''] = await made(2);
    await here.join(id);
    t.same(await here.join(other), { refused: 'full' });
    await here.release(id);
    exactly(t, await here.join(other), { record: { id: other } });
    await endAll();
  });

  await t.test('calls that nobody could refuse later have their place from their creation on', async (t) => {
    await limit(2);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 6 }, () => create({ source: 'phone', reserved: true })),
    );
    const ids = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    t.equal(ids.length, 2);
    await rejectsExactly(t, create(), { code: 'concurrency_exceeded' });
    t.equal(joined(await joinAll(ids)).length, 2, 'joining takes no second place');
    await endAll();
  });

  await t.test('workspaces share the places of all nodes that begin calls', async (t) => {
    await limit(null);
    let draining = false;
    const [one, two] = processes;
    one!.node.serve('http://127.0.0.1:1', () => ({ ...IDLE, calls: 0, places: 4, draining: false }));
    two!.node.serve('http://127.0.0.1:2', () => ({ ...IDLE, calls: 0, places: 5, draining }));
    const places = (all: number) =>
      until('the nodes have said what they have', async () => {
        const [{ sum } = { sum: 0 }] = await sql<{ sum: number }[]>`
          select sum(places)::int from session_owners where not draining and url is not null`;
        return sum === all;
      });
    await places(9);
    const alone = joined(await joinAll(await made(9)));
    t.equal(alone.length, 9, 'the only workspace has all');
    await endAll();
    await sql`insert into workspaces (id, name) values ('ws_other', 'Other')`;
    await storeAgent(stored, 'ws_other', 'agent_2');
    const ids = await made(9);
    t.equal(joined(await joinAll(ids)).length, 6, 'two thirds of them');
    await rejectsExactly(t, create(), { code: 'concurrency_exceeded' });
    const theirs = await made(3, { workspaceId: 'ws_other', agentId: 'agent_2' });
    t.equal(joined(await joinAll(theirs)).length, 2, 'the rest is for others, and of that again a part');
    draining = true;
    await places(4);
    t.match(await create(), /^sess_/, 'with no place left, the nodes refuse instead');
    await endAll();
  });
});

t.test('at a gateway', async (t) => {
  const calls = await IncomingCalls.start(t);
  const placed = await PlacedCalls.start(t);
  const { talks, sql } = placed;
  const { base } = talks.gateway;
  const workspace = (
    await sql<{ id: string }[]>`select value as id from settings where name = 'default_workspace'`
  )[0]!.id;
  const limit = (calls: number | null, id = workspace) =>
    sql`update workspaces set calls = ${calls} where id = ${id}`;
  t.teardown(() => limit(null));

  /** What a client is answered that wants to join, or asks why it was refused. */
  async function asked(invite: Invite) {
    const address = addressOf(invite);
    const socket = new WebSocket(address);
    const joining = await new Promise((resolve, reject) => {
      socket.once('unexpected-response', (_, response) => {
        response.destroy();
        resolve([response.statusCode, response.headers['retry-after']]);
      });
      socket.once('open', () => reject(new Error('it was let in')));
    });
    const why = await fetch(address.replace('ws', 'http').replace('/rtc/v1', '/rtc/v1/validate'));
    return { joining, why: [why.status, why.headers.get('retry-after')], body: (await why.json()) as Body };
  }

  await t.test('beyond the number every way into a call is refused in its own shape', async (t) => {
    const agent = await talks.agent({});
    await talks.call(`agents/${agent}`, {
      method: 'PATCH',
      body: { public_enabled: true, allowed_origins: ['https://shop.example.com'] },
    });
    const line = await placed.line(APIS[0]!);
    const numbers = await Promise.all([...ASKING, ...STREAMING].map((each) => calls.numberOf(each, agent)));
    const late = await talks.session(agent);
    await limit(1);
    const caller = await Caller.join(await talks.session(agent));
    const message = 'The workspace has as many calls at once as it may have, try again later';
    const refused = { status: 429, body: { status: 429, message } };
    const visitor = { key: null, headers: { origin: 'https://shop.example.com' } };
    const answers = [
      await talks.call('sessions', { body: { agent_id: agent } }),
      await talks.call('sessions', { body: { agent_id: agent }, ...visitor }),
      await talks.call(`agents/${agent}/preview`, { body: {} }),
      await placed.place(placed.request(line, { agent_id: agent })),
    ];
    for (const answer of answers) {
      exactly(t, answer, refused);
      t.equal(answer.headers.get('retry-after'), '5');
    }
    exactly(t, await asked(late), { joining: [429, '5'], why: [429, '5'], body: refused.body });
    for (const [index, provider] of ASKING.entries()) {
      const { status, document } = await calls.ring(provider, newCall(numbers[index]!));
      t.equal(status, 200);
      t.equal(provider.dialect.streamOf(document), undefined, `${provider.name} ends the call`);
      t.match(document, provider.name === 'vonage' ? /^\[\]$/ : /busy/, `${provider.name}: ${document}`);
    }
    for (const [index, provider] of STREAMING.entries()) {
      const { line, begin } = await calls.opened(provider, numbers[ASKING.length + index]!);
      begin();
      exactly(t, await line.untilClosed(), { code: 1013 }, `${provider.name} may try again`);
    }
    caller.hangUp();
    await until(
      'the place is free',
      async () => (await talks.call('sessions', { body: { agent_id: agent } })).status === 201,
    );
    const next = await Caller.join(late);
    t.ok(next, 'its token was not spent');
    next.hangUp();
    await talks.ended(late);
  });

  await t.test('calls, and what is spoken in them, take no places of CONCURRENCY', async (t) => {
    const id = randomIds.next('workspace');
    await sql`insert into workspaces (id, name, concurrency) values (${id}, 'Silent', 0)`;
    t.teardown(() => sql`delete from workspaces where id = ${id}`);
    const { key } = await createKey(sql, randomIds, { workspaceId: id, name: 'silent' });
    const call = client(base, key);
    const said = await fetch(`${base}/v1/tts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'Hello.' }),
    });
    t.equal(said.status, 429, 'it has no place for a job');
    const agent = await makeAgent(call, {
      config: { prompt: { first_message_mode: 'fixed', first_message: 'Welcome.' } },
    });
    const { status, body } = await call('sessions', { body: { agent_id: agent } });
    t.equal(status, 201);
    const caller = await Caller.join(body as unknown as Invite);
    await until('the agent greets', () => shownBy(caller, 'agent').includes('Welcome.'));
    await caller.say(await talks.speech('hello there'));
    await until('it has understood', () => shownBy(caller, 'user').length > 0);
    caller.hangUp();
    await until(
      'it is over',
      async () => (await call(`sessions/${String(body['session_id'])}`)).body['ended_at'] !== null,
    );
  });
});
