/**
 * Recordings of sessions: the files of a call, access and its expiry, and recordings of a process that dies
 * (docs/contract/platform.md 6.7). ffmpeg checks the files.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import type { Recording, RecordingTrack } from '../../../contracts/ports/sessions/recordings.js';
import {
  removeDeletedRecordings,
  removeOldRecordings,
  removeRenamed,
} from '../../../gateway/agents/recordings/recording-retention.js';
import { AUDIBLE, letGo } from '../../fixtures/calls/caller.js';
import { rmsOf } from '../../fixtures/codecs/audio.js';
import { type Invite, Talks } from '../../fixtures/conversation/conversation.js';
import { exactly, throwsExactly } from '../../fixtures/exactly.js';
import { externalTool, skipReason } from '../../fixtures/external.js';
import { memberOf } from '../../fixtures/processes/family.js';
import { said } from '../../fixtures/chat/model.js';
import { machines, statesOf as partsOf, trackOf, writeTrack } from '../../fixtures/recordings/recorded.js';
import { until } from '../../fixtures/until.js';

t.teardown(letGo);

const RATE = 16_000;
const HOUR_MS = 3_600_000;

/** The samples that ffmpeg decodes; it fails on a file with errors. */
function decoded(ogg: Uint8Array): Int16Array {
  const args = ['-v', 'error', '-xerror', '-i', 'pipe:0', '-ar', String(RATE), '-f', 's16le', 'pipe:1'];
  const run = spawnSync(externalTool('ffmpeg')!, args, { input: ogg, maxBuffer: 64 * 1024 * 1024 });
  if (run.status !== 0) throw new Error(`ffmpeg: ${run.stderr.toString()}`);
  return new Int16Array(run.stdout.buffer, run.stdout.byteOffset, run.stdout.length >> 1);
}

/** The spans with sound, in milliseconds; pauses of less than 300 ms are part of a span. */
function soundsIn(samples: Int16Array): [number, number][] {
  const spans: [number, number][] = [];
  const frame = RATE / 50;
  for (let at = 0; at + frame <= samples.length; at += frame) {
    if (rmsOf(samples.subarray(at, at + frame)) < AUDIBLE) continue;
    const ms = (at * 1000) / RATE;
    const last = spans.at(-1);
    if (last && ms - last[1] < 300) last[1] = ms + 20;
    else spans.push([ms, ms + 20]);
  }
  return spans;
}

const statesOf = ({ tracks }: Recording) => tracks.map(({ role, status, error }) => [role, status, error]);
/** Each track's address, and its error if it has no address. */
const lostBy = ({ tracks }: Recording) => tracks.map(({ url, error }) => [url, error]);

const withoutFfmpeg = skipReason('ffmpeg');
const talks = await Talks.start(t, { RECORD_AUDIO_DEFAULT: 'true' });
const { model, call, gateway } = talks;

const recordingOf = async ({ session_id: id }: Invite) => {
  const { status, body } = await call(`sessions/${id}/recording`);
  return { status, body: body as unknown as Recording };
};
const finished = (invite: Invite): Promise<Recording> =>
  until('the recording is finished', async () => {
    const { body } = await recordingOf(invite);
    return body.status === 'processing' ? undefined : body;
  });

/** A call of one question. */
interface RecordedCall {
  readonly invite: Invite;
  /** Its recording while it ran. */
  readonly live: Awaited<ReturnType<typeof recordingOf>>;
  readonly recording: Recording;
  /** How long the question is, and after what time from its beginning the answer was heard, in milliseconds. */
  readonly askedMs: number;
  readonly answeredMs: number;
}

async function recordCall(): Promise<RecordedCall> {
  model.answer((messages) => `You said: ${said(messages)}`);
  const prompt = { first_message_mode: 'fixed', first_message: 'Welcome.' };
  const { caller, invite } = await talks.meet({ prompt });
  await until('the agent has greeted', () => caller.states.at(-1) === 'listening');
  const live = await recordingOf(invite);
  const question = await talks.speech('Two lamps, please.');
  const from = performance.now();
  await caller.say(question);
  const answeredMs = (await caller.untilHeard(from)) - from;
  await until(
    'the agent has answered',
    () => caller.states.filter((state) => state === 'listening').length === 2,
  );
  caller.hangUp();
  await talks.ended(invite);
  const recording = await finished(invite);
  return { invite, live, recording, askedMs: (question.length / 24_000) * 1000, answeredMs };
}

/** Fetches a track, whole and in parts; the spans in it with sound. */
async function soundsAt(t: Test, { role, url, duration_ms }: RecordingTrack): Promise<[number, number][]> {
  t.ok(url?.startsWith(`${gateway.base}/v1/agent/recordings/`), 'the address is ours');
  const response = await fetch(url!);
  t.strictSame([response.status, response.headers.get('content-type')], [200, 'audio/ogg']);
  const bytes = Buffer.from(await response.arrayBuffer());
  const samples = decoded(bytes);
  t.ok(Math.abs((samples.length / RATE) * 1000 - duration_ms!) <= 30, `${role}: as long as it says`);
  const part = await fetch(url!, { headers: { range: 'bytes=10-29' } });
  const range = `bytes 10-29/${bytes.length}`;
  t.strictSame([part.status, part.headers.get('content-range')], [206, range]);
  t.same(Buffer.from(await part.arrayBuffer()), bytes.subarray(10, 30));
  const end = await fetch(url!, { headers: { range: 'bytes=-5' } });
  t.same(Buffer.from(await end.arrayBuffer()), bytes.subarray(-5));
  const beyond = await fetch(url!, { headers: { range: `bytes=${bytes.length}-` } });
  t.equal((await beyond.arrayBuffer()).byteLength, bytes.length, 'a part that is not there: all of it');
  const head = await fetch(url!, { method: 'HEAD' });
  t.equal(head.status, 200);
  return soundsIn(samples);
}

/** What is told of a call's recording, and what is to be heard on it. */
const CALL_CASES: Readonly<Record<string, (t: Test, made: RecordedCall) => Promise<void>>> = {
  'both sides are told of while the call runs, and when they are complete': async (t, made) => {
    const { live, recording, invite } = made;
    exactly(t, live, { status: 200, body: { status: 'processing' } });
    t.strictSame(
      live.body.tracks.map(({ role, status, url, duration_ms }) => [role, status, url, duration_ms]),
      [
        ['agent', 'active', null, null],
        ['user', 'active', null, null],
      ],
    );
    exactly(t, recording, {
      session_id: invite.session_id,
      status: 'complete',
      error: null,
      error_code: null,
    });
    t.strictSame(statesOf(recording), [
      ['agent', 'complete', null],
      ['user', 'complete', null],
    ]);
  },

  'a track has its times, and an address for an hour': async (t, { recording }) => {
    const [agent, user] = [trackOf(recording, 'agent'), trackOf(recording, 'user')];
    for (const { expires_at, duration_ms, started_at, ended_at } of [agent, user]) {
      const left = Date.parse(expires_at!) - Date.now();
      t.ok(left > HOUR_MS - 60_000 && left <= HOUR_MS, 'valid for an hour');
      t.equal(Date.parse(ended_at!) - Date.parse(started_at!), duration_ms);
    }
    t.ok(Math.abs(agent.duration_ms! - user.duration_ms!) < 1500);
    t.equal(agent.started_at, user.started_at);
  },

  'each side is heard at the time of its speech': async (t, { recording, askedMs, answeredMs }) => {
    const [greeted, reply, ...more] = await soundsAt(t, trackOf(recording, 'agent'));
    const [asked, ...others] = await soundsAt(t, trackOf(recording, 'user'));
    if (!greeted || !reply || !asked)
      throw new Error(`too little is to be heard: ${JSON.stringify([greeted, reply, asked])}`);
    t.same([more, others], [[], []], 'nothing else is to be heard');
    t.ok(greeted[1] < asked[0], `the greeting (${greeted}) is before the question (${asked})`);
    t.ok(asked[1] < reply[0], `the answer (${reply}) is behind it`);
    t.ok(Math.abs(asked[1] - asked[0] - askedMs) < 150, 'the question is as long as it was');
    t.ok(Math.abs(reply[0] - asked[0] - answeredMs) < 800, 'they lie as far apart as they were heard');
  },

  'its files are for their owner alone, and go with the session': async (t, { recording, invite }) => {
    const folder = join(gateway.dataDir, 'recordings', invite.session_id);
    t.same(
      ['.', 'agent.ogg', 'user.ogg'].map((name) => statSync(join(folder, name)).mode & 0o777),
      [0o700, 0o600, 0o600],
      'for its owner alone',
    );
    t.equal((await call(`sessions/${invite.session_id}`, { method: 'DELETE' })).status, 204);
    t.equal((await fetch(trackOf(recording, 'user').url!)).status, 404, 'deleted, it is not heard any more');
    await until('nor kept', () => !existsSync(folder));
  },
};

t.test('a call, for anybody with the address', { skip: withoutFfmpeg }, async (t) => {
  const made = await recordCall();
  for (const [name, holds] of Object.entries(CALL_CASES)) await t.test(name, (t) => holds(t, made));
});

t.test('a call that is not to be kept leaves nothing', async (t) => {
  const { caller, invite } = await talks.meet(
    { conversation: { record_audio: true } },
    { record_audio: false },
  );
  await talks.say(caller, 'Hello.');
  caller.hangUp();
  await talks.ended(invite);
  await talks.untilNoCalls();
  const { status, body } = await recordingOf(invite);
  exactly(t, { status, body }, { status: 404, body: { status: 404, message: 'Recording not found' } });
  throwsExactly(t, () => statSync(join(gateway.dataDir, 'recordings', invite.session_id)), {
    code: 'ENOENT',
  });
});

t.test('an address that was not made here leads nowhere', async (t) => {
  for (const token of ['x', 'sess_1.agent.9999999999.', `sess_1.agent.9999999999.${'A'.repeat(43)}`]) {
    const answer = await call(`recordings/${token}`, { key: null });
    exactly(t, answer, { status: 404, body: { status: 404, message: 'Recording not found' } });
  }
});

t.test('a media worker that dies leaves what it wrote', { skip: withoutFfmpeg }, async (t) => {
  const { caller, invite } = await talks.meet();
  await talks.say(caller, 'Two lamps and three chairs, please.');
  const file = join(gateway.dataDir, 'recordings', invite.session_id, 'user.ogg');
  await until('some of it is written', () => statSync(file).size > 2000);
  process.kill(memberOf(gateway.pid, 'workers/media'), 'SIGKILL');
  exactly(t, await talks.ended(invite), { status: 'failed', ended_reason: 'transport_lost' });
  caller.drop();
  const recording = await finished(invite);
  exactly(t, recording, { status: 'failed', error_code: 'interrupted' });
  const cut = 'The recording ends before the call did';
  t.strictSame(statesOf(recording), [
    ['agent', 'failed', cut],
    ['user', 'failed', cut],
  ]);
  const { url, duration_ms } = trackOf(recording, 'user');
  const samples = decoded(Buffer.from(await (await fetch(url!)).arrayBuffer()));
  t.ok(duration_ms! > 0 && soundsIn(samples).length > 0, 'it can be heard up to there');
});

t.test('on several machines, and later', async (t) => {
  const { sql, clock, on, dataDir, session, end } = await machines(t);
  const [here, there] = [on('here'), on('there')];
  const START = new Date('2026-01-01T12:00:00.000Z');
  const id = await session();
  t.equal(await here.read(id, 'http://gateway'), undefined, 'never recorded');

  const listed = async (recorded: string) =>
    until('it is listed', async () => (await here.read(recorded, 'http://gateway')) !== undefined);
  here.began(id, START, 1);
  await listed(id);
  const growing = (await here.read(id, ''))!;
  exactly(t, growing, { status: 'processing' });
  t.strictSame(statesOf(growing), [
    ['agent', 'active', null],
    ['user', 'active', null],
  ]);
  await end(id, 1);
  exactly(t, await here.read(id, ''), { status: 'processing' }, 'it is being finished');
  await end(id, 3600);
  const missing = (await here.read(id, ''))!;
  exactly(t, missing, { status: 'failed', error_code: 'missing' }, 'it never was');
  t.strictSame(lostBy(missing), Array(2).fill([null, 'The recording was not kept']));

  const bytes = writeTrack(dataDir('here'), id, 'agent', 3600);
  writeTrack(dataDir('here'), id, 'user', 12.5, false);
  const recording = (await here.read(id, 'http://gateway'))!;
  const agent = trackOf(recording, 'agent');
  exactly(t, agent, {
    status: 'complete',
    started_at: '2026-01-01T12:00:00.000Z',
    ended_at: '2026-01-01T12:59:59.994Z',
    duration_ms: 3_599_994,
  });
  exactly(t, trackOf(recording, 'user'), {
    status: 'failed',
    error_code: 'interrupted',
    duration_ms: 11_994,
  });
  exactly(t, recording, { status: 'failed', error_code: 'interrupted' });

  const elsewhere = (await there.read(id, 'http://gateway'))!;
  exactly(t, elsewhere, { status: 'failed', error_code: 'elsewhere' });
  const where = 'The recording lies on the machine "here": ask a gateway there';
  t.strictSame(lostBy(elsewhere), Array(2).fill([null, where]), 'another machine says where it lies');

  const token = new URL(agent.url!).pathname.replace('/v1/agent/recordings/', '');
  const file = (await here.open(token))!;
  const read: Uint8Array[] = [];
  for await (const piece of file.read(0, file.bytes)) read.push(piece);
  t.same(Buffer.concat(read), bytes);
  t.ok(read.length > 1, 'read by pieces');
  let ranged = 0;
  for await (const piece of file.read(100, 300_000)) {
    t.same(Buffer.from(piece), bytes.subarray(100, 100 + piece.length));
    ranged += piece.length;
    break;
  }
  t.ok(ranged > 0, 'a part of it comes as well');
  t.equal(await there.open(token), undefined, 'it is not there');
  const forged = [token.replace('.agent.', '.user.'), token.replace(/\.\d+\./, '.9999999999.'), `${token}x`];
  for (const other of forged) t.equal(await here.open(other), undefined, 'its signature is for nothing else');
  const flipped = token.slice(0, -2) + (token.at(-2) === 'A' ? 'B' : 'A') + token.at(-1)!;
  t.equal(await here.open(flipped), undefined);
  clock.advance(HOUR_MS - 1000);
  t.ok(await here.open(token), 'an hour long');
  clock.advance(1000);
  t.equal(await here.open(token), undefined, 'and no longer');

  there.began(id, START, 1);
  await until('it is listed anew', async () => {
    const [row] = await sql<{ host: string }[]>`select host from recordings where session_id = ${id}`;
    return row?.host === 'there';
  });
  await sql`delete from sessions where id = ${id}`;
  t.equal(await there.read(id, ''), undefined, 'it is forgotten with its session');
  t.ok(readFileSync(join(dataDir('here'), 'recordings', id, 'agent.ogg')).length > 0);
  t.doesNotThrow(() => here.began('sess_unknown', START, 1), 'what cannot be listed is said in the log');
});

t.test('a call that another machine took over is recorded in parts', async (t) => {
  const { sql, clock, on, dataDir, session, end } = await machines(t);
  const [here, there] = [on('here'), on('there')];
  const id = await session();
  const began = new Date(clock.now() - 8 * 24 * HOUR_MS);
  here.began(id, began, 1);
  there.began(id, new Date(began.getTime() + 30_000), 2);
  there.began(id, new Date(began.getTime() + 60_000), 3);
  await until('all parts are listed', async () => (await there.read(id, ''))?.tracks.length === 6);
  writeTrack(dataDir('here'), id, 'agent', 20, false);
  for (const role of ['agent', 'user']) {
    writeTrack(dataDir('there'), id, `${role}-2`, 20, false);
    writeTrack(dataDir('there'), id, `${role}-3`, 30);
  }
  await end(id, 3600);
  const recording = (await there.read(id, 'http://gateway'))!;
  exactly(t, recording, { status: 'failed', error_code: 'elsewhere' }, 'the first part is to be had there');
  const [first] = (await here.read(id, ''))!.tracks;
  exactly(t, first, { part: 1, status: 'failed', error_code: 'interrupted', duration_ms: 18_994 });
  t.strictSame(partsOf(recording).slice(2), [
    [2, 'agent', 'failed', 'interrupted'],
    [2, 'user', 'failed', 'interrupted'],
    [3, 'agent', 'complete', null],
    [3, 'user', 'complete', null],
  ]);
  const addresses = recording.tracks.map(({ url }) => url && new URL(url).pathname.split('/').at(-1)!);
  const sizes = addresses.map(async (token) => token && (await there.open(token))?.bytes);
  const [none, gone, second, , third] = await Promise.all(sizes);
  t.strictSame([none, gone], [null, null]);
  t.ok(Number(second) > 0 && Number(third) > Number(second), 'each address leads to its own part');
  t.equal(await there.open(addresses[4]!.replace('-3', '-2')), undefined, 'and to no other');
  t.equal(await there.open(addresses[4]!.replace('-3', '')), undefined);

  const lies = (host: string) => existsSync(join(dataDir(host), 'recordings', id));
  const config = { dataDir: dataDir('here'), recordingDays: 7 };
  await removeOldRecordings({ config, sql, clock });
  t.equal((await sql`select from recording_parts where session_id = ${id}`).length, 0, 'they go together');
  for (const host of ['here', 'there']) await removeDeletedRecordings({ sql, dataDir: dataDir(host), host });
  t.strictSame([lies('here'), lies('there')], [false, false], 'from all machines');
});

t.test('recordings are kept for RECORDING_DAYS', async (t) => {
  const { sql, clock, on, dataDir, session, end } = await machines(t);
  const here = on('here');
  const DAY_MS = 24 * HOUR_MS;
  const began = async (daysAgo: number, host = 'here'): Promise<string> => {
    const id = await session();
    on(host).began(id, new Date(clock.now() - daysAgo * DAY_MS), 1);
    await until('it is listed', async () => (await here.read(id, '')) !== undefined);
    writeTrack(dataDir('here'), id, 'agent', 1);
    return id;
  };
  const [old, young, renamed, going] = [
    await began(8),
    await began(6),
    await began(8, 'there'),
    await began(8),
  ];
  for (const id of [old, young, renamed]) await end(id, 1);
  const config = { dataDir: dataDir('here'), recordingDays: 7 };
  await removeOldRecordings({ config, sql, clock });
  for (const id of [old, renamed]) t.equal(await here.read(id, ''), undefined);
  const lies = (id: string) => existsSync(join(dataDir('here'), 'recordings', id));
  await removeDeletedRecordings({ sql, dataDir: dataDir('here'), host: 'here' });
  t.strictSame([lies(old), lies(renamed)], [false, true], 'by the name of its machine');
  await removeRenamed(sql, dataDir('there'), 'here');
  t.ok(lies(renamed), 'another data folder is not concerned');
  await sql`update deleted_recordings set deleted_at = now() - interval '2 minutes'`;
  await removeRenamed(sql, dataDir('here'), 'here');
  t.notOk(lies(renamed), 'then by where it lies');
  t.equal((await sql`select from deleted_recordings where session_id = ${renamed}`).length, 0);
  for (const id of [young, going]) {
    t.ok(await here.read(id, ''));
    t.ok(lies(id), 'younger, or of a call that goes on');
  }
});
