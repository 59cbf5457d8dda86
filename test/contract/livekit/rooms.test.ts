/**
 * Livekit mode without a gateway: room workers in rooms of a double of a cluster, over real rtc-node and WebRTC
 * (docs/contract/transport.md "Livekit mode").
 */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DisconnectReason } from '@livekit/protocol';
import t from '../../fixtures/tap.js';
import type { RoomOpening } from '../../../contracts/ports/calls/calls.js';
import { CALL_TIMES } from '../../../contracts/limits/call-times.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { type ClusterRoom, startCluster } from '../../fixtures/livekit/cluster.js';
import { openRoom, roomWorkers } from '../../fixtures/livekit/rooms.js';
import { socketFolder } from '../../fixtures/processes/tools.js';
import { threadsAndFilesOf } from '../../fixtures/processes/resources.js';
import { loudMs, pitchOf, toneOf } from '../../fixtures/media/tones.js';
import { until } from '../../fixtures/until.js';

/** Calls at a time, but for those whose sound is measured. */
t.jobs = 3;
const ALONE = { buffered: false };
const cluster = await startCluster(await socketFolder(t));
t.teardown(() => cluster.close());

const roomOf = (name: string): ClusterRoom => {
  const room = cluster.rooms.get(name);
  if (!room) throw new Error(`there is no room ${name}`);
  return room;
};

const gone = (name: string) => until(`room ${name} is gone`, () => !cluster.rooms.has(name));

/** The worker of all tests that neither kill nor fill it: each costs a second to start. */
const shared = await roomWorkers(t, { ...cluster, slots: 8 });

/** A call that is ready in its room, where its user has not arrived. */
async function waitingCall(how: RoomOpening = {}) {
  const opened = openRoom(shared.calls, { how });
  cluster.setPresence(false, opened.sessionId);
  await opened.call.ready;
  return { ...opened, person: roomOf(opened.sessionId).person };
}

t.test(
  'the agent waits in the room of its session; both hear, write to and know of each other',
  ALONE,
  async (t) => {
    const { calls, recordings, recorded } = shared;
    const { sessionId, call, followed } = openRoom(calls, { record: true });
    call.setAttributes({ 'lk.agent.state': 'initializing' });
    await call.ready;
    const { options, agent, person } = roomOf(sessionId);
    exactly(t, options, { name: sessionId, departureTimeout: 20, maxParticipants: 1 });
    t.ok(Number(options['emptyTimeout']) > 120, 'the room stands until the user may no longer come');
    exactly(t, agent, {
      sub: 'agent',
      kind: 'agent',
      video: { room: sessionId, canUpdateOwnMetadata: true },
    });

    await followed.seen('connected');
    // Sound that a busy machine sends late is lost or filled in, as on a bad line: then it is said again.
    const isWhole = (samples: Int16Array) => loudMs(samples) >= 900 && loudMs(samples) <= 1150 && samples;
    let said = 0;
    const voice = await until('the agent is heard whole', async () => {
      const from = person.heard.length;
      const utterance = (said += 1);
      await call.playSpeech(utterance, toneOf(1000, 500));
      call.finishUtterance(utterance);
      await until('all is played', () => followed.played(utterance) === 1000);
      const heard = () => person.heard.subarray(from);
      await until('it was heard', () => loudMs(heard()) >= 900, 5000).catch(() => undefined);
      return isWhole(heard());
    });
    t.ok(Math.abs(pitchOf(voice) - 500) < 25, `${pitchOf(voice)} Hz`);

    const samples = await until('the user is heard whole', async () => {
      const from = followed.events.length;
      const since = () => followed.events.slice(from);
      const hasEnded = () => since().some((event) => event.kind === 'speech' && !event.active);
      await person.say(toneOf(1000, 800));
      await until('the user has ended', hasEnded, 15_000).catch(() => undefined);
      const heard = since().flatMap((event) => (event.kind === 'audio' ? [...event.samples] : []));
      return hasEnded() && isWhole(Int16Array.from(heard));
    });
    t.ok(Math.abs(pitchOf(samples) - 800) < 40, `${pitchOf(samples)} Hz`);

    call.sendData('agent-event', Buffer.from('{"type":"a"}'));
    await until('the user has it', () => person.data.length === 1);
    t.same(person.data, [{ topic: 'agent-event', text: '{"type":"a"}' }]);
    person.send('client-event', '{"type":"b"}');
    await followed.seen('data');
    exactly(
      t,
      followed.events.find(({ kind }) => kind === 'data'),
      { topic: 'client-event', payload: Buffer.from('{"type":"b"}') },
    );
    call.setAttributes({ 'lk.agent.state': 'speaking' });
    call.setAttributes({ 'lk.agent.state': 'listening' });
    await until('the last is known', () => roomOf(sessionId).attributes['lk.agent.state'] === 'listening');

    call.end();
    t.equal(await followed.over, undefined);
    t.notOk(cluster.rooms.has(sessionId), 'the room has gone before the events end');
    t.same(followed.kinds, ['connected']);
    t.same(recorded, [sessionId]);
    t.same((await readdir(join(recordings, sessionId))).sort(), ['agent.ogg', 'user.ogg']);
    for (const side of ['agent.ogg', 'user.ogg']) {
      const file = await readFile(join(recordings, sessionId, side));
      t.equal(file.subarray(0, 4).toString(), 'OggS');
      t.ok(file.length > 4000, 'there is sound in it');
    }
  },
);

t.test('pause holds the voice, resume continues it, clear drops it', ALONE, async (t) => {
  const { sessionId, call, followed } = openRoom(shared.calls);
  await call.ready;
  await followed.seen('connected');
  const { person } = roomOf(sessionId);
  const isSilent = () => person.events.some((event) => event.kind === 'speech' && !event.active);
  let said = 0;
  /** Says a long tone, and calls `stop` in the midst of it. */
  const stopped = async (stop: () => void): Promise<number> => {
    const utterance = (said += 1);
    person.events.length = 0;
    void call.playSpeech(utterance, toneOf(5000, 500));
    call.finishUtterance(utterance);
    await until('it is heard', () => loudMs(person.heard) > 300);
    stop();
    await until('silence is heard', isSilent);
    return utterance;
  };
  // On a busy machine frames that arrive late are lost, or filled in by the decoder: then it is said again.
  const [before, all] = await until('all of it was heard, and nothing twice', async () => {
    const utterance = await stopped(() => call.pauseSpeech());
    const before = loudMs(person.heard);
    t.equal(followed.played(utterance), undefined);
    call.resumeSpeech();
    await until('it is over', () => followed.played(utterance) === 5000);
    const isHeard = () => loudMs(person.heard) >= 4700;
    await until('it was heard', isHeard, 5000).catch(() => undefined);
    return isHeard() && loudMs(person.heard) <= 5500 && [before, loudMs(person.heard)];
  });
  t.ok(before! < 4500, `${before} ms until then, ${all} in all`);

  const cleared = await stopped(() => call.clearSpeech());
  await until('it is over', () => followed.played(cleared) !== undefined);
  const played = followed.played(cleared) ?? 0;
  const heard = loudMs(person.heard);
  t.ok(Math.abs(played - heard) <= 300, `${played} ms were played, ${heard} heard`);
  t.ok(played < 5000);
  call.end();
  await followed.over;
});

t.test('a user comes, drops and returns; who hangs up has left', async (t) => {
  const { call, followed, person } = await waitingCall();
  void call.playSpeech(1, toneOf(400, 500));
  call.finishUtterance(1);
  call.sendData('agent-event', Buffer.from('early'));
  t.same(followed.events, [], 'nobody is there yet');
  person.come();
  await until('what waited is played', () => followed.played(1) === 400);
  await until('what waited was sent', () => person.data.length === 1);
  person.go(DisconnectReason.UNKNOWN_REASON);
  await followed.seen('disconnected');
  void call.playSpeech(2, toneOf(400, 500));
  call.finishUtterance(2);
  call.sendData('agent-event', Buffer.from('meanwhile'));
  person.come();
  await until('it goes on', () => followed.played(2) === 400);
  await until('it hears of it', () => person.data.length === 2);
  person.go(DisconnectReason.CLIENT_INITIATED);
  person.come();
  await followed.seen('connected', 3);
  person.go(DisconnectReason.CLIENT_INITIATED);
  await followed.seen('left');
  t.same(followed.kinds, [
    ...['connected', 'disconnected', 'connected', 'disconnected', 'connected', 'disconnected', 'left'],
  ]);
  call.end();
  t.equal(await followed.over, undefined);
});

t.test('a client that gives up an attempt to join again has not hung up', async (t) => {
  const { call, followed, person } = await waitingCall();
  person.come();
  await followed.seen('connected');
  person.go(DisconnectReason.UNKNOWN_REASON);
  await followed.seen('disconnected');
  person.come(false);
  // Time for the agent to notice; there is no sign to wait for.
  await pause(300);
  person.go(DisconnectReason.CLIENT_INITIATED);
  await pause(2 * CALL_TIMES.leaveGraceMs);
  person.come();
  await followed.seen('connected', 2);
  t.same(followed.kinds, ['connected', 'disconnected', 'connected']);
  call.end();
  await followed.over;
});

t.test(
  'an agent that does not see its user, whom the server has with media, gives its connection up',
  async (t) => {
    const { sessionId, followed, person } = await waitingCall();
    const asked = () =>
      cluster.requests.filter((request) => request === `GetParticipant ${sessionId}`).length;
    const askedAgain = async (times: number) => {
      const before = asked();
      await until('the server is asked', () => asked() >= before + times);
    };
    person.come();
    await followed.seen('connected');
    person.known = { sid: person.sid, state: 'ACTIVE' };
    person.go(DisconnectReason.UNKNOWN_REASON);
    await askedAgain(3);
    t.same(followed.kinds, ['connected', 'disconnected'], 'what a dead server has left is no user');
    person.known = { sid: 'PA_again', state: 'JOINED' };
    await askedAgain(3);
    t.same(followed.kinds, ['connected', 'disconnected'], 'nor is one without media');
    person.known = { sid: 'PA_stranger', state: 'ACTIVE', attributes: { use: 'join' } };
    await askedAgain(3);
    t.same(
      followed.kinds,
      ['connected', 'disconnected'],
      'nor one with the first token: that may be somebody else',
    );
    person.known = { sid: 'PA_again', state: 'ACTIVE', attributes: { use: 'rejoin' } };
    await askedAgain(1);
    exactly(t, await followed.over, { code: 'engine_lost' });
    t.ok(shared.lines.some(({ message }) => /does not see its user/.test(message)));
  },
);

t.test('a user who is gone together with the server is told apart from one who is gone', ALONE, async (t) => {
  const told: boolean[] = [];
  const { call, followed, person } = await waitingCall({ reachable: (is) => told.push(is) });
  person.come();
  await followed.seen('connected');
  person.go(DisconnectReason.UNKNOWN_REASON);
  await until('the server answers', () => told.length >= 2);
  t.same(told.slice(0, 2), [true, true], 'at the connection, and when asked');
  const before = told.length;
  cluster.refuses = true;
  await until('the server does not answer', () => told.slice(before).includes(false));
  cluster.refuses = false;
  person.come();
  await followed.seen('connected', 2);
  t.equal(told.at(-1), true, 'a user who is back shows that it does');
  call.end();
  t.equal(await followed.over, undefined);
});

t.test('a user who comes back is looked for no longer', async (t) => {
  const { call, followed, person } = await waitingCall();
  for (const times of [1, 2]) {
    person.come();
    await followed.seen('connected', times);
    person.known = { sid: `PA_${times}`, state: 'ACTIVE', once: true };
    person.go(DisconnectReason.UNKNOWN_REASON);
    await until('the server is asked once more', () => !person.known);
  }
  person.come();
  await followed.seen('connected', 3);
  call.end();
  t.equal(await followed.over, undefined, 'once is not twice in a row');
});

t.test('a room that the server closes ends the call; a server that goes loses it', async (t) => {
  const closed = openRoom(shared.calls);
  const lost = openRoom(shared.calls);
  await Promise.all([closed.call.ready, lost.call.ready]);
  cluster.finish(closed.sessionId);
  t.equal(await closed.followed.over, undefined);
  cluster.finish(lost.sessionId, DisconnectReason.SERVER_SHUTDOWN);
  exactly(t, await lost.followed.over, { code: 'transport_failed' });
});

t.test('a worker with one place', async (t) => {
  const { calls, pool, workers } = await roomWorkers(t, { ...cluster, slots: 1 });

  t.test('a call that cannot be held is refused at once, and leaves no room', async (t) => {
    const first = openRoom(calls);
    await first.call.ready;
    const second = openRoom(calls);
    await rejectsExactly(t, second.call.ready, { code: 'engine_busy' });
    exactly(t, await second.followed.over, { code: 'engine_busy' });
    await gone(second.sessionId);

    const ended = openRoom(calls);
    ended.call.end();
    await rejectsExactly(t, ended.call.ready, { code: 'engine_lost' });
    t.equal(await ended.followed.over, undefined);
    await gone(ended.sessionId);
    t.ok(cluster.rooms.has(first.sessionId));
    first.call.end();
    await first.followed.over;
    await until('its place is free', () => pool.state()[0]?.running === 0);
    await calls.removeRoom(first.sessionId);
    t.notOk(cluster.rooms.has(first.sessionId), 'a room that is not there may be removed');
  });

  t.test('a worker that dies costs its calls, and their rooms go', async (t) => {
    const { sessionId, call, followed } = openRoom(calls);
    await call.ready;
    t.ok(cluster.rooms.has(sessionId));
    for (const pid of workers.pids()) process.kill(pid, 'SIGKILL');
    exactly(t, await followed.over, { code: 'engine_lost' });
    await gone(sessionId);
    await workers.ready();
    const next = openRoom(calls);
    await next.call.ready;
    next.call.end();
    t.equal(await next.followed.over, undefined, 'the next one finds a worker again');
  });
});

t.test('a cluster that refuses or does not answer', async (t) => {
  const strange = { ...cluster.server, secret: 'another-secret-of-32-characters-!!' };
  const down = { ...cluster.server, url: 'ws://127.0.0.1:1' };
  for (const server of [strange, down]) {
    const calls = shared.callsAt(server);
    const { call, followed } = openRoom(calls);
    await rejectsExactly(t, call.ready, { code: 'transport_failed' });
    exactly(t, await followed.over, { code: 'transport_failed' });
    await rejectsExactly(t, calls.removeRoom('sess_x'), { code: 'transport_failed' });
  }
});

t.test(
  'a worker makes place for a fresh one after so many rooms, and holds nothing after each',
  async (t) => {
    const { calls, workers, lines } = await roomWorkers(t, { ...cluster, retireAfter: 3 });
    const [pid = 0] = workers.pids();
    let first = { threads: Infinity, files: Infinity };
    for (let room = 0; room < 3; room += 1) {
      const { sessionId, call, followed } = openRoom(calls);
      await call.ready;
      await followed.seen('connected');
      if (room === 2) t.same(workers.pids(), [pid], 'not while it holds a room');
      call.end();
      await followed.over;
      await gone(sessionId);
      if (room === 0) first = threadsAndFilesOf(pid);
      if (room === 1)
        await until('it holds no more than after the first', () => {
          const now = threadsAndFilesOf(pid);
          return now.threads <= first.threads && now.files <= first.files;
        });
    }
    await until('another one is there', () => workers.pids().length === 1 && workers.pids()[0] !== pid);
    t.ok(lines.some(({ level, message }) => level === 'info' && message.startsWith('worker retired')));
    t.notOk(
      lines.some(({ level }) => level === 'warn'),
      'nothing is wrong',
    );
    const { call, followed } = openRoom(calls);
    await call.ready;
    call.end();
    t.equal(await followed.over, undefined);
  },
);
