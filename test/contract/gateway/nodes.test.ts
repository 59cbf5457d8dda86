/**
 * Two nodes on one database, each with its own data folder (ops/adr/0033-nodes.md): clients reach their calls through
 * either address, full nodes pass calls on, and a call outlives the process that held it.
 */
import t from '../../fixtures/tap.js';
import { WebSocket } from 'ws';
import { systemClock } from '../../../contracts/clock.js';
import type { Recording } from '../../../contracts/ports/sessions/recordings.js';
import { digestOf, type RelayClaims, signed } from '../../../gateway/agents/calls/node-claims.js';
import { createSecrets } from '../../../storage/secrets/secrets.js';
import { client } from '../../fixtures/platform/agents.js';
import { Caller, letGo } from '../../fixtures/calls/caller.js';
import {
  type Invite,
  MEDIA,
  type Meeting,
  messagesOf,
  shownBy,
  Talks,
} from '../../fixtures/conversation/conversation.js';
import { exactly } from '../../fixtures/exactly.js';
import { type Gateway, startGateway, TEST_SECRET } from '../../fixtures/gateway.js';
import { startPostgres } from '../../fixtures/database/postgres.js';
import { addressOf } from '../../fixtures/calls/signalling.js';
import { statesOf } from '../../fixtures/recordings/recorded.js';
import { until } from '../../fixtures/until.js';

t.teardown(letGo);
const postgres = await startPostgres(t);
const { sql } = await postgres.open();
const shared = { DATABASE_URL: postgres.url };
const talks = await Talks.start(t, { ...shared, CALL_PLACES: '1' });
const { model, gateway: first } = talks;
model.answer(() => 'Yes.');
const second = await startGateway({
  ...MEDIA,
  ...shared,
  LLM_BASE_URL: model.url,
  LOG_LEVEL: 'warn',
  CALL_PLACES: '2',
});
t.teardown(() => second.stop());

const SORRY = 'Sorry, I lost you for a moment.';
const socketOf = ({ base }: Gateway): string => base.replace('http', 'ws');

interface Listed {
  readonly node_id: string;
  readonly url: string;
  readonly state: string;
  readonly calls: number;
}

async function nodes(gateway = second): Promise<Listed[]> {
  const response = await fetch(`${gateway.base}/nodes`, { headers: gateway.authorization });
  return ((await response.json()) as { nodes: Listed[] }).nodes;
}

const nodeOf = async ({ base }: Gateway): Promise<Listed | undefined> =>
  (await nodes()).find(({ url }) => url === base);

/** The node that owns a session's call. */
async function ownerOf({ session_id: id }: Invite): Promise<string | undefined> {
  const [row] = await sql<{ url: string }[]>`
    select o.url from sessions s join session_owners o on o.process_id = s.owner_id where s.id = ${id}`;
  return row?.url;
}

/** The answer to a handshake: 101, or the status of the refusal and its `Retry-After`. */
function handshake(
  address: string,
  headers: Record<string, string> = {},
): Promise<[number, string | undefined]> {
  const socket = new WebSocket(address, { headers });
  return new Promise((resolve, reject) => {
    socket.once('unexpected-response', (_, response) => {
      response.destroy();
      resolve([response.statusCode ?? 0, response.headers['retry-after']]);
    });
    socket.once('open', () => {
      socket.terminate();
      resolve([101, undefined]);
    });
    socket.once('error', reject);
  });
}

/** A caller whose call is at the first node; retried, since a call that has just ended there may hold its place for a moment. */
async function meetAtFirst(config: object = {}): Promise<Meeting> {
  return until('a call begins at the first node', async () => {
    const meeting = await talks.meet({ ...config });
    if ((await ownerOf(meeting.invite)) === first.base) return meeting;
    meeting.caller.hangUp();
    await talks.ended(meeting.invite);
    return undefined;
  });
}

/** Rejoins at the given gateway, as a client that has lost its connection, until it is let in. */
async function returns(caller: Caller, to: Gateway): Promise<void> {
  await until('it is let in', () => caller.rejoin(socketOf(to)).then(() => true, () => false)); // oxfmt-ignore
}

t.test('nodes know each other, and list themselves to their operator', async (t) => {
  await until('both are there', async () => (await nodes()).filter(({ url }) => url !== null).length === 2);
  exactly(t, await nodes(first), [
    { url: first.base, state: 'up', calls: 0, places: 1 },
    { url: second.base, state: 'up', calls: 0, places: 2 },
  ]);
  t.equal((await fetch(`${first.base}/nodes`)).status, 401);
  await until('it is counted', async () => {
    const metrics = await (await fetch(`${first.base}/metrics`)).text();
    return /gateway_nodes\{state="up"\} 2\n/.test(metrics) && /gateway_call_places 1\n/.test(metrics);
  });
});

t.test(
  'a full node gives a call to one with room; if none has room, it is 503 with Retry-After',
  async (t) => {
    const agent = await talks.agent();
    const invites: Invite[] = [];
    for (let count = 0; count < 4; count++) invites.push(await talks.session(agent));
    const callers: Caller[] = [];
    for (const invite of invites.slice(0, 3)) {
      callers.push(await Caller.join(invite));
      const calls = callers.length;
      await until('both say what they have', async () => {
        const listed = await nodes();
        return listed.reduce((sum, node) => sum + node.calls, 0) === calls;
      });
    }
    t.strictSame(await Promise.all(invites.map(ownerOf)), [first.base, second.base, second.base, undefined]);
    t.strictSame(
      (await nodes()).map(({ state }) => state),
      ['full', 'full'],
    );
    t.strictSame(await handshake(addressOf(invites[3]!)), [503, '5']);
    for (const caller of callers) caller.hangUp();
    for (const invite of invites.slice(0, 3))
      exactly(t, await talks.ended(invite), { ended_reason: 'hangup' });
    await until('there is room', async () =>
      (await nodes()).every(({ state, calls }) => state === 'up' && calls === 0),
    );
    t.equal((await handshake(addressOf(invites[3]!)))[0], 101, 'its token was not spent');
    await client(second.base)(`sessions/${invites[3]!.session_id}/end`, { method: 'POST' });
  },
);

t.test('calls at once of a workspace are counted over all nodes, and refused as such by any', async (t) => {
  await sql`update workspaces set calls = 1`;
  t.teardown(() => sql`update workspaces set calls = null`);
  const waiting = await talks.session(await talks.agent());
  const { caller, invite } = await meetAtFirst();
  t.strictSame(
    await handshake(addressOf(waiting)),
    [429, '5'],
    'the first has no place, and passes on what the other says',
  );
  t.strictSame(await handshake(addressOf({ ...waiting, media_url: socketOf(second) })), [429, '5']);
  caller.hangUp();
  await talks.ended(invite);
  await client(second.base)(`sessions/${waiting.session_id}/end`, { method: 'POST' });
});

t.test('a client that reaches another node than its call’s is carried there', async (t) => {
  const meeting = await meetAtFirst();
  const { caller, invite } = meeting;
  await caller.resume(socketOf(second));
  await talks.tell(meeting, 'hello there');
  await until('the agent answers', () => shownBy(caller, 'agent').includes('Yes.'));
  t.equal(await ownerOf(invite), first.base);
  caller.hangUp();
  exactly(t, await talks.ended(invite), { ended_reason: 'hangup' });
});

t.test(
  'relayed requests are for nodes only: none that is forged, late, replayed or sent in circles',
  async (t) => {
    const { invite, caller } = await meetAtFirst();
    const key = createSecrets(TEST_SECRET).key('signalling between nodes');
    const [{ installation: to }] = await sql<[{ installation: string }]>`
    select installation from session_owners where url = ${second.base}`;
    const claims: RelayClaims = {
      ...{ to, wants: 'owner', sessionId: invite.session_id, use: 'rejoin', digest: digestOf('{}') },
    };
    const ask = async (authorization: string): Promise<number> =>
      (await handshake(`${socketOf(second)}/nodes/signal`, { authorization }))[0];
    const now = systemClock.now();
    t.equal(await ask('Node x.y'), 403, 'forged');
    t.equal(await ask(signed(key, claims, { now: () => now - 60_000 })), 403, 'late');
    t.equal(await ask(signed(key, { ...claims, to: 'elsewhere' }, systemClock)), 403, 'meant for another');
    const good = signed(key, claims, systemClock);
    t.equal(await ask(good), 409, 'the call is another node’s, and a relayed client is not relayed again');
    t.equal(await ask(good), 403, 'replayed');
    t.equal(await ownerOf(invite), first.base);
    caller.hangUp();
    await talks.ended(invite);
  },
);

const HELLO = { prompt: { first_message_mode: 'fixed', first_message: 'Good day.' } };

t.test('a node that stood still falls silent: its call is another’s by then (SIGSTOP)', async (t) => {
  const meeting = await meetAtFirst({ ...HELLO, conversation: { record_audio: true } });
  const { caller, invite } = meeting;
  await until('the agent greets', () => shownBy(caller, 'agent').includes('Good day.'));
  await talks.tell(meeting, 'hello there');
  await until('the answer is kept', async () =>
    messagesOf(await talks.record(invite)).includes('assistant: Yes.'),
  );
  first.kill('SIGSTOP');
  await returns(caller, second);
  await until('the agent is back', () => shownBy(caller, 'agent').includes(SORRY));
  t.equal(await ownerOf(invite), second.base);
  first.kill('SIGCONT');
  await until('it knows that it was taken for dead', () => first.stderr().includes('taken for dead'));
  await until('it is a node without calls', async () => (await nodeOf(first))?.calls === 0);
  const since = performance.now();
  await talks.tell(meeting, 'once again');
  await until(
    'the agent answers',
    () => shownBy(caller, 'agent').filter((text) => text === 'Yes.').length === 2,
  );
  t.ok(caller.audible(since).length > 0);
  const other = client(second.base);
  const { body } = await other(`sessions/${invite.session_id}`);
  t.equal(body['status'], 'active');
  await until('it is kept', async () => messagesOf(await talks.record(invite)).length >= 6);
  caller.hangUp();
  const record = await talks.ended(invite);
  const said = messagesOf(record);
  t.equal(record.ended_reason, 'hangup');
  t.strictSame(
    said.filter((line) => line.startsWith('assistant')),
    ['assistant: Good day.', 'assistant: Yes.', `assistant: ${SORRY}`, 'assistant: Yes.'],
  );
  t.ok(said.filter((line) => line.startsWith('user')).length >= 2);
  const recording = await until('its recording is finished', async () => {
    const found = (await other(`sessions/${invite.session_id}/recording`)).body;
    return found['status'] === 'processing' ? undefined : (found as unknown as Recording);
  });
  t.strictSame(statesOf(recording).slice(2), [
    [2, 'agent', 'complete', null],
    [2, 'user', 'complete', null],
  ]);
});

t.test('a call continues at another node when its own is killed (SIGKILL), and ends once', async (t) => {
  const { caller, invite } = await meetAtFirst({
    ...HELLO,
    conversation: { recovery_mode: 'fixed', recovery_message: 'Here again.' },
    webhooks: { post_call: [{ url: 'https://hooks.example.com/' }] },
  });
  await until('the greeting is kept', async () => messagesOf(await talks.record(invite)).length === 1);
  first.kill('SIGKILL');
  await first.exited;
  await returns(caller, second);
  await until('the agent is back', () => shownBy(caller, 'agent').includes('Here again.'));
  const call = client(second.base);
  const read = async () =>
    (await call(`sessions/${invite.session_id}`)).body as unknown as ReturnType<Talks['record']>;
  await until('the dead one is no node any more', async () => (await nodes()).length === 1);
  caller.hangUp();
  const record = await until('it has ended', async () => {
    const found = await read();
    return found.ended_reason === null ? undefined : found;
  });
  t.equal(record.ended_reason, 'hangup');
  t.strictSame(messagesOf(record), ['assistant: Good day.', 'assistant: Here again.']);
  const told =
    await sql`select from deliveries where session_id = ${invite.session_id} and event = 'call.ended'`;
  t.equal(told.length, 1);
});
