/**
 * A whole gateway in livekit mode: sessions whose agents join rooms of a double of a cluster over real rtc-node, with a
 * person who talks to them (docs/contract/transport.md "Livekit mode"; docs/contract/decisions.md 13, 20, 22).
 */
import t from '../../fixtures/tap.js';
import { exactly } from '../../fixtures/exactly.js';
import { type ClusterRoom, startCluster } from '../../fixtures/livekit/cluster.js';
import { socketFolder } from '../../fixtures/processes/tools.js';
import { type Invite, messagesOf, Talks } from '../../fixtures/conversation/conversation.js';
import { startPostgres } from '../../fixtures/database/postgres.js';
import { loudMs } from '../../fixtures/media/tones.js';
import { until } from '../../fixtures/until.js';

const cluster = await startCluster(await socketFolder(t));
t.teardown(() => cluster.close());
const { url, key, secret } = cluster.server;
const postgres = await startPostgres(t);
const { sql } = await postgres.open();
const talks = await Talks.start(t, {
  DATABASE_URL: postgres.url,
  LIVEKIT_URL: url,
  LIVEKIT_API_KEY: key,
  LIVEKIT_API_SECRET: secret,
  LIVEKIT_ROOM_PROCESSES: '1',
  LOG_LEVEL: 'info',
});
const webhook = `${talks.gateway.base}/livekit/webhook`;

const roomOf = ({ session_id: id }: Invite): Promise<ClusterRoom> =>
  until('the room is there', () => cluster.rooms.get(id));
const gone = ({ session_id: id }: Invite) => until('the room is gone', () => !cluster.rooms.has(id));

/** A session whose user joins the room after the agent. */
async function waiting(config = {}): Promise<Invite> {
  cluster.setPresence(false);
  const invite = await talks.session(await talks.agent(config)).finally(() => cluster.setPresence(true));
  return invite;
}

const isAsked = (words: string): boolean =>
  talks.model.asked.some((messages) => messages.some(({ content }) => content?.includes(words)));

t.test('the agent greets, hears, answers and is interrupted; the record agrees', async (t) => {
  talks.model.answer(
    () => 'One two three four five six seven eight nine ten eleven twelve thirteen fourteen.',
  );
  const greeting = { first_message_mode: 'fixed', first_message: 'hello there' };
  const invite = await talks.session(await talks.agent({ prompt: greeting }));
  t.equal(invite.media_url, cluster.server.url, 'clients join the cluster');
  t.ok(cluster.rooms.has(invite.session_id), 'the room is there before the token is given out');
  const { person, agent } = await roomOf(invite);
  exactly(t, agent, { kind: 'agent' });
  await until('the greeting is heard', () => loudMs(person.heard) > 300);
  const record = () => talks.record(invite);
  await until('the greeting is in the record', async () => messagesOf(await record()).length === 1);

  // The beginning of somebody's first words may be lost to the room: the agent then asks about them.
  await until('the question is understood', async () => {
    await person.say(await talks.speech('what is new'));
    return until('it is asked', () => isAsked('what is new'), 4000).catch(() => false);
  });
  person.events.length = 0;
  await until('the answer is heard', () => loudMs(person.heard) > 500);
  t.equal((await record()).status, 'active');
  void person.say(await talks.speech('stop it now please'));
  await until('the agent is silent', () => {
    const speech = person.events.findLast(({ kind }) => kind === 'speech');
    return speech?.kind === 'speech' && !speech.active;
  });
  person.send('client-event', '{"type":"user.hangup"}');
  const ended = await talks.ended(invite);
  exactly(t, ended, { status: 'completed', ended_reason: 'hangup' });
  exactly(t, await talks.callLines(invite), [
    { msg: 'call started', sessionId: invite.session_id, transport: 'livekit' },
    {
      msg: 'call ended',
      sessionId: invite.session_id,
      transport: 'livekit',
      reason: 'hangup',
      turns: Number,
    },
  ]);
  const messages = messagesOf(ended);
  const asked = messages.findIndex((message) => /^user: what is new/.test(message));
  const answer = messages.at(-1);
  t.equal(messages[0], 'assistant: hello there');
  t.ok(asked > 0, 'the question is in the record');
  t.match(answer, /^assistant: One two/);
  t.notMatch(answer, /fourteen/, 'only what was played is kept');
  await gone(invite);
});

t.test('the token is the cluster’s, for one room, and spent when the user comes', async (t) => {
  const invite = await waiting();
  const claims = JSON.parse(Buffer.from(invite.token.split('.')[1] ?? '', 'base64url').toString()) as object;
  exactly(t, claims, {
    iss: cluster.server.key,
    sub: 'user',
    video: { room: invite.session_id, roomJoin: true },
  });
  t.equal((await talks.record(invite)).status, 'pending');
  const { person } = await roomOf(invite);
  person.come();
  await until('it is active', async () => (await talks.record(invite)).status === 'active');
  const { status } = await talks.call(`sessions/${invite.session_id}/end`, { body: {} });
  t.equal(status, 204);
  await gone(invite);
  exactly(t, await talks.ended(invite), { ended_reason: 'ended_by_api' });
});

t.test('a room that the cluster finishes ends its session, by the agent or by a webhook', async (t) => {
  const invite = await talks.session(await talks.agent());
  await until('it is active', async () => (await talks.record(invite)).status === 'active');
  cluster.finish(invite.session_id);
  exactly(t, await talks.ended(invite), { status: 'completed', ended_reason: 'hangup' });

  const other = await talks.session(await talks.agent());
  await until('it is active', async () => (await talks.record(other)).status === 'active');
  const event = { event: 'room_finished', room: { name: other.session_id } };
  t.equal((await cluster.event(webhook, event)).status, 200);
  exactly(t, await talks.ended(other), { status: 'completed', ended_reason: 'hangup' });
  await gone(other);

  const removals = () => cluster.requests.filter((each) => each === `DeleteRoom ${other.session_id}`).length;
  const before = removals();
  const late = {
    event: 'participant_joined',
    room: { name: other.session_id },
    participant: { identity: 'user' },
  };
  t.equal((await cluster.event(webhook, late)).status, 200);
  t.equal(removals(), before + 1, 'who comes later is put out');
});

t.test('if the cluster refuses, there is no session', async (t) => {
  const agent = await talks.agent();
  const rooms = cluster.rooms.size;
  cluster.refuses = true;
  const { status, body } = await talks.call('sessions', { body: { agent_id: agent } });
  cluster.refuses = false;
  t.equal(status, 502);
  exactly(t, body, { status: 502, message: /media server/ });
  t.equal(cluster.rooms.size, rooms);
});

t.test('a test by voice is refused: the cluster has no place for a simulated caller', async (t) => {
  const agent = await talks.agent();
  const made = await talks.call('tests/scenarios', {
    body: { agent_id: agent, name: 'Calls', mode: 'voice', user: { lines: ['Hello'] } },
  });
  t.equal(made.status, 201);
  const run = await talks.call('tests/runs', { body: { agent_id: agent } });
  exactly(t, run, { status: 409, body: { message: /livekit mode/ } });
});

t.test('calls at once are counted from their creation on, those of visitors once they come', async (t) => {
  await sql`update workspaces set calls = 1`;
  t.teardown(() => sql`update workspaces set calls = null`);
  const agent = await talks.agent();
  const origin = 'https://shop.example.com';
  const body = { public_enabled: true, allowed_origins: [origin] };
  await talks.call(`agents/${agent}`, { method: 'PATCH', body });
  const asked = { body: { agent_id: agent } };
  cluster.setPresence(false);
  const visitor = await talks.call('sessions', { ...asked, key: null, headers: { origin } });
  t.equal(visitor.status, 201);
  const invite = await talks.session(agent);
  const full = await talks.call('sessions', asked);
  exactly(t, [full.status, full.headers.get('retry-after')], [429, '5']);
  cluster.setPresence(true);
  const late = visitor.body as unknown as Invite;
  (await roomOf(late)).person.come();
  exactly(t, await talks.ended(late), { status: 'failed', ended_reason: 'error' });
  await talks.call(`sessions/${invite.session_id}/end`, { method: 'POST' });
  await talks.ended(invite);
  t.equal((await talks.call('sessions', asked)).status, 201);
});
