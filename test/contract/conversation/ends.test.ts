/**
 * Beginnings and ends of conversations when something is wrong: tokens, hostile signalling, clients that vanish, media
 * that dies, a gateway that stops, another gateway (docs/contract/transport.md "Single use"; docs/contract/decisions.md 13 and 24).
 */
import { gzipSync } from 'node:zlib';
import { WrappedJoinRequest, WrappedJoinRequest_Compression } from '@livekit/protocol';
import t from '../../fixtures/tap.js';
import { WebSocket } from 'ws';
import type { Recording } from '../../../contracts/ports/sessions/recordings.js';
import { client, makeAgent } from '../../fixtures/platform/agents.js';
import { Caller, joinStatus, letGo } from '../../fixtures/calls/caller.js';
import { type Invite, MEDIA, messagesOf, shownBy, Talks } from '../../fixtures/conversation/conversation.js';
import { exactly } from '../../fixtures/exactly.js';
import { memberOf } from '../../fixtures/processes/family.js';
import { startGateway } from '../../fixtures/gateway.js';
import { statesOf } from '../../fixtures/recordings/recorded.js';
import { until } from '../../fixtures/until.js';

t.teardown(letGo);
/** Calls at a time. */
t.jobs = 4;
const ALONE = { buffered: false };
const { talks, postgres } = await Talks.shared(t);
const { model } = talks;
const { sql } = await postgres.open();
model.answer(() => 'Yes.');
const agent = await talks.agent();
/** Another gateway on the same database, which the last test stops. */
const other = await startGateway({
  ...MEDIA,
  DATABASE_URL: postgres.url,
  LLM_BASE_URL: model.url,
  LOG_LEVEL: 'warn',
});
t.teardown(() => other.stop());

/** A session whose plan has that value in that place. */
async function planned(place: string, value: number | string, config: object = {}): Promise<Invite> {
  const invite = await talks.session(await talks.agent({ ...config }));
  await sql`
    update sessions set plan = jsonb_set(plan, ${place}::text[], ${sql.json(value)}) where id = ${invite.session_id}`;
  return invite;
}

/** Conversations whose end takes long; awaited at the end of the file. */
const gone = (async () => {
  const invite = await talks.session(agent);
  const caller = await Caller.join(invite);
  caller.drop();
  const since = performance.now();
  return { record: await talks.ended(invite, 120_000), ms: performance.now() - since };
})();
const longest = (async () => {
  // An agent’s own is a minute at least.
  const invite = await planned('{maxDurationSeconds}', 8);
  const caller = await Caller.join(invite);
  const record = await talks.ended(invite);
  await until('the client is told', () => caller.ended);
  caller.drop();
  return { record, events: caller.events };
})();
/** One in which nobody says anything. */
const silent = (async () => {
  // An agent’s own silence is ten seconds at least.
  const conversation = { hangup_farewell_enabled: true };
  const invite = await planned('{config,conversation,hangup_after_seconds}', 2, { conversation });
  const caller = await Caller.join(invite);
  const record = await talks.ended(invite);
  await until('the client is told', () => caller.ended);
  caller.drop();
  return { record, events: caller.events, audible: caller.audible().length };
})();
silent.catch(() => undefined);
gone.catch(() => undefined);
longest.catch(() => undefined);

t.test('the log has of a call only ids, its beginning and how it ended', async (t) => {
  const metadata = { customer: 'Ada Lovelace' };
  const { invite, caller } = await talks.meet({ prompt: { first_message_mode: 'off' } }, { metadata });
  caller.hangUp();
  await talks.ended(invite);
  const [started, ended, ...more] = await talks.callLines(invite);
  t.same(more, []);
  const who = {
    sessionId: invite.session_id,
    workspaceId: /^ws_/,
    agentId: /./,
    source: 'api_key',
    transport: 'embedded',
  };
  exactly(t, started, { msg: 'call started', ...who });
  exactly(t, ended, { msg: 'call ended', ...who, reason: 'hangup', ms: Number, turns: Number });
  const said = ['level', 'time', 'pid', 'hostname', 'msg', ...Object.keys(who), 'reason', 'ms', 'turns'];
  for (const line of [started, ended])
    t.same(
      Object.keys(line ?? {}).filter((name) => !said.includes(name)),
      [],
      'nothing else is told',
    );
});

t.test('the first token is spent once', async (t) => {
  const invite = await talks.session(agent);
  const caller = await Caller.join(invite);
  await until('a token to return with', () => caller.rejoinToken !== '');
  t.equal(await joinStatus(invite), 401);
  t.not(caller.rejoinToken, invite.token);
  caller.hangUp();
  exactly(t, await talks.ended(invite), { ended_reason: 'hangup' });
});

t.test('a client that goes before its media is up may come again with the same token', async (t) => {
  const invite = await talks.session(agent);
  t.equal(await joinStatus(invite), 101);
  await until('the token is given back', async () => {
    const [row] = await sql<{ joined: boolean }[]>`
      select joined_at is not null as joined from sessions where id = ${invite.session_id}`;
    return row?.joined === false;
  });
  const caller = await Caller.join(invite);
  caller.hangUp();
  exactly(t, await talks.ended(invite), { status: 'completed', ended_reason: 'hangup' });
});

t.test(
  'tokens that are none, are not ours, or are too old; what a client asks when it is refused',
  async (t) => {
    const invite = await talks.session(agent);
    const changed = `${invite.token.slice(0, -4)}AAAA`;
    for (const token of ['', 'x', changed, 'x'.repeat(5000)]) {
      t.equal(await joinStatus({ ...invite, token }), 401, token.slice(0, 10));
      for (const path of ['/rtc/v1/validate', '/rtc/validate']) {
        const query = new URLSearchParams({ access_token: token }).toString();
        t.equal((await fetch(`${talks.gateway.base}${path}?${query}`)).status, 401);
      }
    }
    const validate = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fetch(`${talks.gateway.base}/rtc/v1/validate`, { headers });
      return [answer.status, await answer.text()] as const;
    };
    t.strictSame(await validate(invite.token), [200, 'success']);
    const spent = await talks.meet();
    await until('a token to return with', () => spent.caller.rejoinToken !== '');
    t.match((await validate(spent.invite.token)).join(' '), /^401 .*used already/);
    t.strictSame(await validate(spent.caller.rejoinToken), [200, 'success'], 'who returns may');
    spent.caller.hangUp();
    await talks.ended(spent.invite);
    t.match((await validate(spent.caller.rejoinToken)).join(' '), /^401 .*has ended/);
    await sql`update sessions set expires_at = now() - interval '1 second' where id = ${invite.session_id}`;
    t.equal(await joinStatus(invite), 401, 'expired');
    exactly(t, await talks.ended(invite), { status: 'failed', ended_reason: 'not_joined' });
  },
);

t.test('an agent whose voice is gone speaks with the default one', async (t) => {
  const prompt = { first_message_mode: 'fixed', first_message: 'Good day.' };
  const invite = await planned('{config,voice,voice_id}', 'gone', { prompt });
  const caller = await Caller.join(invite);
  await until('the greeting is heard', () => shownBy(caller, 'agent').includes('Good day.'));
  t.ok(caller.audible().length > 0);
  caller.hangUp();
  exactly(t, await talks.ended(invite), { items: [{ role: 'assistant', content: 'Good day.' }] });
});

t.test('a session that is joined, but never connected, ends with all that it holds', async (t) => {
  const invite = await talks.session(agent);
  const socket = new WebSocket(`${invite.media_url}/rtc/v1?access_token=${invite.token}`);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await new Promise((resolve) => socket.once('open', resolve));
  await sql`update sessions set expires_at = now() - interval '2 minutes' where id = ${invite.session_id}`;
  exactly(t, await talks.ended(invite), { status: 'failed', ended_reason: 'not_joined' });
  await closed;
});

const opened = async (invite: Invite, query: Record<string, string>): Promise<WebSocket> => {
  const parameters = new URLSearchParams({ access_token: invite.token, ...query }).toString();
  const socket = new WebSocket(`${invite.media_url}/rtc/v1?${parameters}`);
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('open', resolve));
  return socket;
};

t.test(
  'hostile signalling: unreadable messages are dropped or refused, and harm no other call',
  async (t) => {
    const bystander = await talks.meet();
    const bomb = new WrappedJoinRequest({
      joinRequest: gzipSync(Buffer.alloc(32 * 1024 * 1024)),
      compression: WrappedJoinRequest_Compression.GZIP,
    });
    for (const joinRequest of [Buffer.from(bomb.toBinary()), Buffer.from('rubbish')]) {
      const query = { join_request: joinRequest.toString('base64') };
      const socket = await opened(await talks.session(agent), query);
      await new Promise((resolve) => socket.once('close', resolve));
    }
    const large = await opened(await talks.session(agent), {});
    const code = new Promise((resolve) => large.once('close', resolve));
    large.send(Buffer.alloc(1024 * 1024 + 1));
    t.equal(await code, 1009, 'a frame above 1 MiB');
    const flood = await opened(await talks.session(agent), {});
    const flooded = new Promise((resolve) => flood.once('close', resolve));
    for (let frame = 0; frame < 8; frame += 1) flood.send(Buffer.alloc(1024 * 1024));
    flood.terminate();
    await flooded;
    bystander.caller.signal('{');
    bystander.caller.signal(Buffer.from('no frame at all'));
    bystander.caller.signal('{"offer":{"type":"offer","sdp":"v=0"}}');
    bystander.caller.send({ type: 'user.message', text: 'Still there?', audio: false });
    await until('it is answered', () => shownBy(bystander.caller, 'agent').length > 0);
    bystander.caller.hangUp();
    await talks.ended(bystander.invite);
  },
);

t.test(
  'a client that returns to another gateway is carried to its conversation; either may end it',
  async (t) => {
    const { caller, invite } = await talks.meet();
    await until('a token to return with', () => caller.rejoinToken !== '');
    const elsewhere = other.base.replace('http', 'ws');
    await caller.rejoin(elsewhere);
    caller.send({ type: 'user.message', text: 'From afar', audio: false });
    await until('it is answered', () => shownBy(caller, 'agent').length > 0);
    await caller.resume(elsewhere);
    caller.send({ type: 'user.message', text: 'Again', audio: false });
    await until('it is answered again', () => shownBy(caller, 'agent').length > 1);
    const { status } = await client(other.base)(`sessions/${invite.session_id}/end`, { method: 'POST' });
    t.equal(status, 204);
    const record = await talks.ended(invite);
    exactly(t, record, { status: 'completed', ended_reason: 'ended_by_api' });
    t.equal(messagesOf(record).length, 4);
    await until('the client is told', () => caller.ended);
    caller.drop();
  },
);

t.test(
  'a call continues when its media worker dies, and the next call gets another worker',
  ALONE,
  async (t) => {
    const { caller, invite } = await talks.meet({
      conversation: { recovery_mode: 'fixed', recovery_message: 'Here again.', record_audio: true },
    });
    const since = performance.now();
    await Promise.all([gone, longest]);
    await until('a call of 10 s', () => performance.now() - since > 10_500);
    process.kill(memberOf(talks.gateway.pid, 'workers/media'), 'SIGKILL');
    await until('the client is told', () => caller.ended);
    caller.ended = false;
    await caller.rejoin();
    await until('the agent is back', () => shownBy(caller, 'agent').includes('Here again.'));
    caller.hangUp();
    const record = await talks.ended(invite);
    exactly(t, record, { status: 'completed', ended_reason: 'hangup' });
    t.match(messagesOf(record).at(-1), 'assistant: Here again.');
    const recording = await until('its recording is finished', async () => {
      const { body } = await talks.call(`sessions/${invite.session_id}/recording`);
      return body['status'] === 'processing' ? undefined : (body as unknown as Recording);
    });
    t.equal(recording.status, 'complete');
    t.strictSame(statesOf(recording), [
      [1, 'agent', 'failed', 'interrupted'],
      [1, 'user', 'failed', 'interrupted'],
      [2, 'agent', 'complete', null],
      [2, 'user', 'complete', null],
    ]);
    const [before, , after] = recording.tracks;
    t.ok(Date.parse(after!.started_at!) >= Date.parse(before!.ended_at!), 'one part behind the other');
    for (const { url } of recording.tracks) {
      const bytes = Buffer.from(await (await fetch(url!)).arrayBuffer());
      t.equal(bytes.subarray(0, 4).toString(), 'OggS');
    }
    const next = await talks.meet();
    next.caller.send({ type: 'user.message', text: 'Hello', audio: false });
    await until('it is answered', () => shownBy(next.caller, 'agent').length > 0);
    next.caller.hangUp();
    await talks.ended(next.invite);
  },
);

t.test('a user who is gone has hung up after 20 s; the longest duration ends a call', ALONE, async (t) => {
  const { record, ms } = await gone;
  exactly(t, record, { status: 'completed', ended_reason: 'hangup' });
  t.ok(ms > 18_000, `${Math.round(ms)} ms`);
  const timed = await longest;
  exactly(t, timed.record, { status: 'completed', ended_reason: 'timeout' });
  exactly(t, timed.events.at(-1), { type: 'session.ended', reason: 'conversation_timeout' });
});

t.test('a call in which nobody says anything ends with a goodbye', ALONE, async (t) => {
  const { record, events, audible } = await silent;
  exactly(t, record, { status: 'completed', ended_reason: 'timeout', turns: [{ cause: 'farewell' }] });
  t.match(messagesOf(record).join(), /^assistant: I cannot hear you any more/);
  exactly(t, events.at(-1), { type: 'session.ended', reason: 'conversation_timeout' });
  t.ok(audible > 0, 'it is heard');
});

t.test('nothing is left at the workers', ALONE, async () => {
  await talks.untilNoCalls();
});

t.test(
  'a gateway that stops leaves new calls to another, and serves a running one until its end',
  ALONE,
  async (t) => {
    const call = client(other.base);
    const agentId = await makeAgent(call, { config: { prompt: { first_message_mode: 'off' } } });
    const sessions = await Promise.all([1, 2].map(() => call('sessions', { body: { agent_id: agentId } })));
    const [first, second] = sessions.map(({ body }) => body as unknown as Invite) as [Invite, Invite];
    const caller = await Caller.join(first);
    other.kill('SIGTERM');
    await until(
      'others know',
      async () => (await sql`select from session_owners where draining`).length === 1,
    );
    const elsewhere = await Caller.join(second);
    const [owner] = await sql`
    select o.draining from sessions s join session_owners o on o.process_id = s.owner_id where s.id = ${second.session_id}`;
    t.strictSame(owner, { draining: false });
    elsewhere.hangUp();
    exactly(t, await call('sessions'), { status: 503 }, 'and all else that is not of calls');
    await caller.rejoin();
    caller.send({ type: 'user.message', text: 'Are you there?', audio: false });
    await until('its client may return, and is answered', () => shownBy(caller, 'agent').length > 0);
    const { status } = await call(`sessions/${first.session_id}/end`, { method: 'POST' });
    t.equal(status, 204);
    t.equal(await other.exited, 0);
    exactly(t, await talks.ended(first), { status: 'completed', ended_reason: 'ended_by_api' });
    caller.drop();
  },
);
