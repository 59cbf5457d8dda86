/** Protocol B's realtime transcription: its machine, its host, the guesses, and what clients may send. */
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { createActor } from 'xstate';
import { actorClock } from '../../actors/clock.js';
import {
  type SessionEffect,
  type SessionEvent,
  type SessionFault,
  transcriptionSession,
} from '../../actors/transcription-session.js';
import { type ErrorCode, ERRORS, ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import { silentLog } from '../../contracts/log.js';
import type {
  RawAudio,
  Transcript,
  Transcription,
  TranscriptionRequest,
} from '../../contracts/ports/speech.js';
import { defaultVocabulary } from '../../contracts/vocabulary.js';
import { FrameFault, readFrame } from '../../gateway/dialects/protocol-b/realtime/client-frames.js';
import { faultOf } from '../../gateway/dialects/protocol-b/realtime/errors.js';
import { sessionOptions } from '../../gateway/dialects/protocol-b/realtime/options.js';
import { TranscriptionSession } from '../../gateway/dialects/protocol-b/realtime/session.js';
import { Tail } from '../../gateway/dialects/protocol-b/realtime/tail.js';
import { wordEntries } from '../../gateway/dialects/protocol-b/words.js';
import type { Socket } from '../../gateway/server/port.js';
import { Observation } from '../../gateway/server/trace-requests.js';
import { SimulatedClock } from '../fixtures/edge-clock.js';
import { pick, seeded } from '../fixtures/random.js';

const transcriptOf = (text: string): Transcript => ({ text, duration: 1, segments: [] });
const audioOf = (tag: number): readonly Uint8Array[] => [Uint8Array.of(tag & 255, tag >> 8)];
const tagOf = ([chunk]: readonly Uint8Array[]): number => chunk![0]! + (chunk![1]! << 8);
const refusal: SessionFault = { type: 'commit_throttled', message: 'too short' };
const fatal: SessionFault = { type: 'transcriber_error', message: 'no engine', close: 'internal' };

function startActor() {
  const clock = new SimulatedClock();
  const actor = createActor(transcriptionSession, { clock: actorClock(clock) });
  const effects: SessionEffect[] = [];
  actor.on('*', (effect) => void effects.push(effect));
  actor.start();
  return { actor, effects, clock, send: (event: SessionEvent) => actor.send(event) };
}

t.test('commits are answered one after the other, refused ones in their turn', (t) => {
  const { send, effects } = startActor();
  send({ type: 'commit', audio: audioOf(1) });
  send({ type: 'refusal', fault: refusal });
  send({ type: 'commit', audio: audioOf(2) });
  send({ type: 'refusal', fault: refusal });
  t.match(effects, [{ type: 'transcribe', job: 1 }], 'one job at a time');
  send({ type: 'heard', job: 2, transcript: transcriptOf('of no job') });
  send({ type: 'heard', job: 1, transcript: transcriptOf('one') });
  send({ type: 'heard', job: 1, transcript: transcriptOf('one again') });
  send({ type: 'failed', job: 2, fault: { type: 'input_error', message: 'too long' } });
  t.match(effects.slice(1), [
    { type: 'committed', transcript: { text: 'one' } },
    { type: 'error', fault: refusal },
    { type: 'transcribe', job: 2 },
    { type: 'error', fault: { message: 'too long' } },
    { type: 'error', fault: refusal },
  ]);
  send({ type: 'commit', audio: audioOf(3) });
  t.match(effects.at(-1), { type: 'transcribe', job: 3 });
  t.end();
});

t.test('a guess is told until its audio is committed', (t) => {
  const { send, effects } = startActor();
  send({ type: 'audio' });
  send({ type: 'audio' });
  send({ type: 'guessed', job: 1, text: 'hel' });
  send({ type: 'audio' });
  send({ type: 'commit', audio: audioOf(1) });
  send({ type: 'guessed', job: 2, text: 'hello' });
  send({ type: 'audio' });
  send({ type: 'heard', job: 3, transcript: transcriptOf('hello') });
  send({ type: 'audio' });
  t.match(effects, [
    { type: 'guess', job: 1 },
    { type: 'partial', text: 'hel' },
    { type: 'guess', job: 2 },
    { type: 'cancel' },
    { type: 'transcribe', job: 3 },
    { type: 'committed' },
    { type: 'guess', job: 4 },
  ]);
  t.equal(effects.length, 7);
  t.end();
});

t.test('after 3600 s the client is told, and the session ends', (t) => {
  const { send, effects, clock, actor } = startActor();
  send({ type: 'commit', audio: audioOf(1) });
  clock.advance(LIMITS.socket.connectionMs - 1);
  t.equal(effects.length, 1);
  clock.advance(1);
  t.match(effects.slice(1), [
    { type: 'cancel' },
    { type: 'error', fault: { type: 'session_time_limit_exceeded' } },
    { type: 'close', reason: 'policy' },
  ]);
  t.equal(actor.getSnapshot().status, 'done');
  t.equal(clock.pending, 0);
  t.end();
});

/** What must hold after every effect of one session, whatever is sent. */
function checked() {
  const session = startActor();
  const owed: (number | 'refusal')[] = [];
  let running: { readonly job: number; readonly guess: boolean } | undefined;
  let closed = false;
  let commits = 0;
  const problems: string[] = [];
  const must = (so: boolean, what: string): void => void (so || problems.push(what));
  const answered = (by: number | 'refusal'): void => must(owed.shift() === by, `answer ${by} out of turn`);
  const rules: { readonly [T in SessionEffect['type']]: (e: Extract<SessionEffect, { type: T }>) => void } = {
    transcribe: ({ job, audio }) => {
      must(!running, 'two jobs at once');
      must(tagOf(audio) === owed[0], 'transcribed out of turn');
      running = { job, guess: false };
    },
    guess: ({ job }) => {
      must(!running && owed.length === 0, 'a guess beside other work');
      running = { job, guess: true };
    },
    cancel: () => void (running = undefined),
    partial: ({ text }) => must(text === `guess after ${commits}`, 'a guess at committed audio'),
    committed: ({ transcript }) => answered(Number(transcript.text)),
    error: ({ fault }) => {
      if (fault === refusal) answered('refusal');
    },
    close: () => {
      must(!running, 'closed while a job runs');
      closed = true;
    },
  };
  session.actor.on('*', (effect) => {
    must(!closed, `${effect.type} after close`);
    (rules[effect.type] as (effect: SessionEffect) => void)(effect);
  });
  const ended = (job: number): void => void (running?.job === job && (running = undefined));
  const commit = (): void => {
    owed.push(++commits);
    session.send({ type: 'commit', audio: audioOf(commits) });
  };
  const refuse = (): void => {
    owed.push('refusal');
    session.send({ type: 'refusal', fault: refusal });
  };
  return { ...session, problems, commit, refuse, ended, owed, state: () => ({ running, commits, closed }) };
}

for (const seed of [1, 7, 42, 1234, 99_999]) {
  t.test(`a random walk of 10,000 steps (seed ${seed})`, (t) => {
    const random = seeded(seed);
    let session = checked();
    let answers = 0;
    let sessions = 0;
    for (let step = 0; step < 10_000; step++) {
      const { running, commits, closed } = session.state();
      // A job that was superseded may still speak.
      const job = random() < 0.8 ? (running?.job ?? 0) : Math.floor(random() * 20);
      const isCurrent = running?.job === job;
      const tell = (event: SessionEvent): void => {
        session.ended(job);
        session.send(event);
      };
      pick(random, [
        session.commit,
        session.refuse,
        () => session.send({ type: 'audio' }),
        () => session.send({ type: 'audio' }),
        () => running?.guess !== true || !isCurrent || tell({ type: 'guessed', job, text: `guess after ${commits}` }),
        () => isCurrent || tell({ type: 'guessed', job, text: 'stale' }),
        () => !(running?.guess ?? true) || tell({ type: 'notGuessed', job }),
        () => (running?.guess ?? isCurrent) || tell({ type: 'heard', job, transcript: transcriptOf(isCurrent ? String(session.owed[0]) : 'stale') }),
        () => (running?.guess ?? isCurrent) || tell({ type: 'heard', job, transcript: transcriptOf(isCurrent ? String(session.owed[0]) : 'stale') }),
        () => random() < 0.05 && !running?.guess && isCurrent && tell({ type: 'failed', job, fault: fatal }),
        () => session.send({ type: 'fault', fault: { type: 'input_error', message: 'no JSON' } }),
        () => random() < 0.02 && session.send({ type: 'fault', fault: fatal }),
        () => random() < 0.02 && session.send({ type: 'gone' }),
        () => random() < 0.02 && session.clock.advance(LIMITS.socket.connectionMs * random()),
      ])(); // prettier-ignore
      if (session.problems.length > 0) {
        t.fail(`step ${step}: ${session.problems.join(', ')}`);
        break;
      }
      if (session.actor.getSnapshot().status === 'done' || closed) {
        answers += session.effects.filter(({ type }) => type === 'committed').length;
        sessions += 1;
        session = checked();
      }
    }
    t.ok(answers > 100 && sessions > 10, `${answers} answers in ${sessions} sessions`);
    t.end();
  });
}

interface ToldJob {
  readonly request: TranscriptionRequest & { readonly audio: RawAudio };
  readonly signal: AbortSignal;
  readonly bytes: Buffer;
  hear(transcript: Partial<Transcript>): void;
  fail(error: unknown): void;
}

/** A session whose transcription port does what the test says. */
function openSession(query = '', refused?: SessionFault) {
  const jobs: ToldJob[] = [];
  const transcription: Transcription = {
    transcribe: (request, _caller, signal) =>
      new Promise((resolve, reject) => {
        const audio = request.audio as RawAudio;
        jobs.push({
          request: { ...request, audio },
          signal,
          bytes: Buffer.concat(audio.chunks),
          hear: (transcript) => resolve({ ...transcriptOf(''), ...transcript }),
          fail: reject,
        });
      }),
  };
  const clock = new SimulatedClock();
  const gone = new AbortController();
  const frames: Record<string, unknown>[] = [];
  const closes: unknown[] = [];
  const socket: Socket = {
    send: (data) => void frames.push(JSON.parse(String(data)) as Record<string, unknown>),
    queuedBytes: 0,
    drained: () => Promise.resolve(),
    close(reason) {
      if (!gone.signal.aborted) closes.push(reason);
      gone.abort();
    },
    signal: gone.signal,
  };
  const options = sessionOptions(new URLSearchParams(query), defaultVocabulary);
  const request = { headers: new Map<string, string>(), generationId: 'g', method: 'GET' };
  const observation = new Observation(request, '/realtime', { log: silentLog, clock });
  const caller = { workspaceId: 'w', keyId: 'k' };
  const client = { caller, options, generationId: 'g', refused, observation };
  const session = new TranscriptionSession(socket, client, {
    transcription,
    clock,
    vocabulary: defaultVocabulary,
    log: silentLog,
  });
  const send = (frame: unknown): void => {
    if (!gone.signal.aborted) session.message(typeof frame === 'string' ? frame : JSON.stringify(frame));
  };
  const chunk = (audio: Uint8Array, fields: object = {}): void =>
    send({
      message_type: 'input_audio_chunk',
      audio_base_64: Buffer.from(audio).toString('base64'),
      ...fields,
    });
  const types = (): unknown[] => frames.map(({ message_type }) => message_type);
  return { jobs, clock, frames, closes, session, send, chunk, types, gone };
}

const second = (value = 0): Uint8Array => new Uint8Array(32_000).fill(value);
const commitFrame = {
  message_type: 'input_audio_chunk',
  audio_base_64: '',
  commit: true,
  sample_rate: 16_000,
};
const count = (all: readonly unknown[], one: unknown): number => all.filter((item) => item === one).length;

t.test('a commit takes all that was sent before it, in every spelling', async (t) => {
  const { chunk, send, jobs, types } = openSession();
  chunk(second(1));
  chunk(second(2), { commit: true });
  chunk(second(3));
  send(commitFrame);
  chunk(second(4), { commit: 'False' });
  send({ message_type: 'commit' });
  const values: number[][] = [];
  for (let job = 0; job < 3; job++) {
    const complete = jobs.filter(({ request }) => !request.interim);
    values.push([...new Set(complete[job]!.bytes)]);
    complete[job]!.hear({ text: `text ${job}` });
    await turn();
  }
  t.strictSame(values, [[1, 2], [3], [4]]);
  t.equal(count(types(), 'committed_transcript'), 3);
});

t.test('a sample that a commit cuts in two belongs to the next one', async (t) => {
  const { chunk, send, jobs } = openSession();
  chunk(new Uint8Array(10_001).fill(1));
  send(commitFrame);
  chunk(new Uint8Array(10_001).fill(2));
  jobs[0]!.hear({});
  await turn();
  send(commitFrame);
  const next = jobs.findLast(({ request }) => !request.interim)!;
  t.equal(next.bytes.length, 10_002);
  t.strictSame([...next.bytes.subarray(0, 3)], [1, 2, 2]);
});

t.test('waiting audio has one budget, which a transcript gives back', async (t) => {
  const { chunk, send, jobs, types } = openSession();
  const large = new Uint8Array(20 * 1024 * 1024);
  for (let index = 0; index < 5; index++) chunk(large);
  t.equal(count(types(), 'input_error'), 0, '100 MiB are held');
  chunk(new Uint8Array(2));
  t.equal(count(types(), 'input_error'), 1, 'one sample more is dropped');
  send(commitFrame);
  chunk(new Uint8Array(2));
  t.equal(count(types(), 'input_error'), 2, 'what is being transcribed still counts');
  jobs.at(-1)!.hear({ text: 'all of it' });
  await turn();
  chunk(large);
  t.equal(count(types(), 'input_error'), 2, 'it was given back');
  t.match(types().at(-1), 'committed_transcript');
});

t.test('audio that is no base64 changes nothing, and commits nothing', (t) => {
  const { chunk, send, jobs, types } = openSession();
  chunk(second());
  for (const audio_base_64 of ['A', '!!!!', 'AA=A'])
    send({ message_type: 'input_audio_chunk', audio_base_64, commit: true });
  t.strictSame(types(), ['session_started', 'input_error', 'input_error', 'input_error']);
  send(commitFrame);
  t.equal(jobs.at(-1)?.bytes.length, 32_000);
  t.end();
});

t.test('many small chunks become few large ones, in their order', (t) => {
  const { chunk, send, jobs } = openSession();
  for (let index = 0; index < 20_000; index++) chunk(Uint8Array.of(index & 255, index >> 8, 7));
  send(commitFrame);
  const { bytes, request } = jobs.at(-1)!;
  t.equal(bytes.length, 60_000);
  t.ok(bytes.every((byte, at) => byte === [Math.floor(at / 3) & 255, Math.floor(at / 3) >> 8, 7][at % 3]));
  t.ok(request.audio.chunks.length < 50, `${request.audio.chunks.length} chunks`);
  t.end();
});

t.test('commits that wait are bounded in number', async (t) => {
  const { send, chunk, frames, jobs } = openSession();
  chunk(second());
  for (let index = 0; index < LIMITS.realtimeTranscription.pendingCommits + 2; index++) send(commitFrame);
  t.match(frames.at(-1), { message_type: 'queue_overflow' });
  t.equal(frames.length, 2, 'the others wait for their turn');
  jobs.at(-1)!.hear({});
  await turn();
  t.equal(count(frames.map(({ message_type }) => message_type), 'commit_throttled'), 1024); // prettier-ignore
});

t.test('guesses: only with new audio, one at a time, none while a commit is unanswered', async (t) => {
  const { send, chunk, jobs, frames } = openSession();
  const tenth = new Uint8Array(3200);
  const chunks = (count: number): void => {
    for (let index = 0; index < count; index++) chunk(tenth);
  };
  const shown = (job: number) => [jobs[job]?.bytes.length, jobs[job]?.request.interim];
  chunks(6);
  t.equal(jobs.length, 0, 'too little');
  chunks(1);
  t.match(shown(0), [7 * 3200, true]);
  chunks(20);
  t.equal(jobs.length, 1, 'one at a time');
  jobs[0]!.hear({ segments: [{ text: 'hello', start: 0, end: 1 }] });
  await turn();
  t.match(frames.at(-1), { message_type: 'partial_transcript', text: 'hello' });
  t.equal(jobs[1]?.bytes.length, 27 * 3200, 'the next one begins at once');
  jobs[1]!.fail(new ServiceError('engine_busy'));
  await turn();
  chunks(6);
  t.equal(jobs.length, 2, 'a busy engine is left alone until there is more');
  chunks(1);
  jobs[2]!.hear({ segments: [{ text: 'hello', start: 0, end: 1 }] });
  await turn();
  t.equal(frames.length, 2, 'the same is not told twice');
  chunks(7);
  send(commitFrame);
  t.ok(jobs[3]?.signal.aborted && jobs[3].request.interim, 'a commit cancels a guess');
  chunks(20);
  t.equal(jobs.length, 5, 'no guess while it is transcribed');
  jobs[3]!.hear({ segments: [{ text: 'late', start: 0, end: 1 }] });
  jobs[4]!.hear({ text: 'hello' });
  await turn();
  t.match(frames.slice(2), [{ message_type: 'committed_transcript', text: 'hello' }]);
  t.match(shown(5), [20 * 3200, true]);
});

t.test('whoever leaves, or runs out of time, leaves no job behind', async (t) => {
  const left = openSession();
  left.chunk(second());
  left.gone.abort();
  t.ok(left.jobs[0]?.signal.aborted);
  t.equal(left.clock.pending, 0);
  const late = openSession();
  late.chunk(second(), { commit: true });
  late.clock.advance(LIMITS.socket.connectionMs);
  t.ok(late.jobs[0]?.signal.aborted);
  t.match(late.frames.at(-1), {
    message_type: 'session_time_limit_exceeded',
    error: String,
    message: String,
  });
  t.strictSame(late.closes, ['policy']);
  late.jobs[0]!.fail(new Error('aborted'));
  await turn();
  t.equal(late.frames.length, 2);
});

t.test('a failed transcription ends the session where the failure is not about this audio', async (t) => {
  const cases: readonly [ErrorCode, string, unknown][] = [
    ['audio_too_long', 'input_error', undefined],
    ['quota_exceeded', 'quota_exceeded', 'policy'],
    ['concurrency_exceeded', 'rate_limited', 'policy'],
    ['language_unavailable', 'invalid_request', 'policy'],
    ['engine_busy', 'resource_exhausted', undefined],
    ['engine_lost', 'transcriber_error', 'internal'],
    ['provider_failed', 'transcriber_error', 'internal'],
    ['internal', 'transcriber_error', 'internal'],
  ];
  for (const [code, type, close] of cases) {
    const { chunk, jobs, frames, closes } = openSession();
    chunk(second(), { commit: true });
    jobs[0]!.fail(code === 'internal' ? new Error('secret') : new ServiceError(code));
    await turn();
    t.match(frames.at(-1), {
      message_type: type,
      error: ERRORS[code].message,
      message: ERRORS[code].message,
    });
    t.strictSame(closes, close === undefined ? [] : [close], code);
  }
  const recoverable = new Set(['input_error', 'resource_exhausted']);
  for (const code of Object.keys(ERRORS) as ErrorCode[]) {
    const { type, close } = faultOf(new ServiceError(code));
    t.equal(close === undefined, recoverable.has(type), code);
  }
});

t.test('options in a header refuse every commit and nothing else', (t) => {
  const refused = { type: 'input_error', message: 'X-Svc-* headers are for synthesis only' };
  const { chunk, send, jobs, frames, closes } = openSession('', refused);
  for (let index = 0; index < 3; index++) chunk(second(), { commit: index > 0 });
  send(commitFrame);
  t.strictSame(
    frames.slice(1).map(({ message_type, error }) => ({ type: message_type, message: error })),
    [refused, refused, refused],
  );
  t.equal(jobs.length + closes.length, 0);
  t.end();
});

t.test('a guess covers what may still change, so that the work stays linear', (t) => {
  const rate = 8000;
  const audioOfSeconds = (seconds: number) => {
    const bytes = Math.round(seconds * rate) * 2;
    return { chunks: [new Uint8Array(bytes)], bytes };
  };
  const lengthOf = ({ chunks }: RawAudio): number =>
    chunks.reduce((sum, { byteLength }) => sum + byteLength, 0) / 2 / rate;
  const tail = new Tail(rate);
  /** A guess `at` seconds that hears words, each with its start and end in the whole audio. */
  let covered = 0;
  const guess = (at: number, words: readonly (readonly [text: string, start: number, end: number])[]) => {
    const seconds = lengthOf(tail.take(audioOfSeconds(at)));
    covered += seconds;
    const from = at - seconds;
    const heard = words.filter(([, start]) => start >= from - 0.01);
    return { seconds, text: tail.heard(heard.map(([text, start, end]) => ({ text, start: start - from, end: end - from }))) }; // prettier-ignore
  };
  t.notOk(tail.isDue(0.69 * rate * 2));
  t.ok(tail.isDue(0.7 * rate * 2));
  t.same(guess(5, []), { seconds: 5, text: '' });
  t.same(guess(6, [['one', 5, 6]]), { seconds: 2, text: 'one' }, 'of silence, a second is kept');
  t.notOk(tail.isDue(6.6 * rate * 2));
  t.same(guess(8, [['one two', 5, 7.5]]), { seconds: 3, text: 'one two' }, 'a segment that goes on');
  t.same(guess(9, [['one two', 5, 7.5]]), { seconds: 4, text: 'one two' });
  t.same(guess(10, []), { seconds: 2, text: 'one two' }, 'one that is over');
  t.same(guess(12, [['three', 10, 10.5], ['four', 11, 12]]), { seconds: 3, text: 'one two three four' }); // prettier-ignore
  t.same(guess(33, [['four goes on', 11, 33]]), { seconds: 22, text: 'one two three four goes on' });
  t.same(guess(34, []), { seconds: 1, text: 'one two three four goes on' }, 'one that never ends is cut');
  tail.reset();
  t.same(guess(1, [['new', 0, 1]]), { seconds: 1, text: 'new' });
  t.same(lengthOf(tail.take({ chunks: [], bytes: 0 })), 0);
  tail.reset();
  covered = 0;
  for (let at = 1; at < 600; at++) guess(at, at % 3 > 0 ? [['word', at - (at % 3), at]] : []);
  t.ok(covered < 600 * 4, `${covered} s of work for 600 s`);
  t.end();
});

t.test('words and spacing, whose texts joined are the text', (t) => {
  const word = (text: string, start: number, end: number) => ({ text, start, end });
  const cases: readonly Pick<Transcript, 'text' | 'words' | 'duration'>[] = [
    { text: 'Hello world', words: [word('Hello', 0.1, 0.5), word('world', 0.6, 1)], duration: 1.2 },
    { text: ' Hello,\nworld! ', words: [word('Hello', 0, 0.5), word('world', 0.6, 1)], duration: 1.2 },
    {
      text: '日本語です',
      words: [word('日', 0, 0.2), word('本', 0.2, 0.4), word('語', 0.4, 0.6)],
      duration: 1,
    },
    { text: 'going to go', words: [word('gonna', 0, 0.4), word('go', 0.5, 0.7)], duration: 1 },
    { text: 'no times at all', duration: 2 },
    { text: 'backward times', words: [word('backward', 1, 0.5), word('times', 0.2, 0.3)], duration: 0.1 },
    { text: 'words beside', words: [word('', 0, 1), word('x'.repeat(200), 0, 1)], duration: 3 },
    { text: '', words: [], duration: 0 },
    { text: '   ', duration: 1 },
  ];
  for (const transcript of cases) {
    const entries = wordEntries(transcript);
    t.equal(entries.map(({ text }) => text).join(''), transcript.text);
    let last = 0;
    for (const { text, type, start, end, speaker_id, logprob } of entries) {
      t.ok(start >= last && end >= start, `${text} from ${start} to ${end}`);
      t.equal(type, text.trim() === '' ? 'spacing' : 'word');
      t.strictSame([speaker_id, logprob], [null, 0]);
      last = end;
    }
  }
  t.match(wordEntries(cases[0]!), [
    { text: 'Hello', type: 'word', start: 0.1, end: 0.5 },
    { text: ' ', type: 'spacing', start: 0.5, end: 0.6 },
    { text: 'world', type: 'word', start: 0.6, end: 1 },
  ]);
  const many = Array.from({ length: 20_000 }, (_, index) => word(`w${index}`, index, index + 1));
  const text = many.map((one) => one.text).join(' ');
  t.equal(wordEntries({ text: text.toUpperCase(), words: many, duration: 20_000 }).length, 39_999);
  t.end();
});

t.test('options: what the query may say', (t) => {
  const optionsOf = (query: string) => sessionOptions(new URLSearchParams(query), defaultVocabulary);
  t.match(optionsOf(''), { model: 'transcribe-1', sampleRate: 16_000, language: '', timestamps: false });
  t.match(
    optionsOf(
      'model_id=scribe_v2_realtime&audio_format=pcm_22050&commit_strategy=manual&language_code=eng&include_timestamps=true' +
        '&include_language_detection=1&enable_logging=true&no_verbatim=false&entity_detection=&keyterms=a&keyterms=b&vad_threshold=0.3',
    ),
    { sampleRate: 22_050, language: 'eng', timestamps: true, languageDetection: true },
  );
  t.match(optionsOf('model_id=svc/transcribe-1&audio_format=ulaw_8000&audio_format=pcm_48000'), {
    sampleRate: 48_000,
  });
  const refusals: readonly [string, ErrorCode][] = [
    ['commit_strategy=vad', 'unsupported_option'],
    ['enable_logging=false', 'unsupported_option'],
    ['enable_logging=False', 'unsupported_option'],
    ['no_verbatim=true', 'unsupported_option'],
    ['entity_detection=all&entity_detection=', 'unsupported_option'],
    ['diarize=1', 'unsupported_option'],
    ['audio_format=ulaw_8000', 'unsupported_format'],
    ['audio_format=pcm_32000', 'unsupported_format'],
    ['audio_format=__proto__', 'unsupported_format'],
    ['model_id=whisper-9', 'model_not_found'],
    ['model_id=eleven_flash_v2_5', 'model_not_found'],
  ];
  for (const [query, code] of refusals) t.throws(() => optionsOf(query), { code }, query);
  t.end();
});

const faultIn = (data: string | Uint8Array): SessionFault | undefined => {
  try {
    readFrame(data, 16_000);
    return undefined;
  } catch (error) {
    if (error instanceof FrameFault) return error.fault;
    throw error;
  }
};

t.test('frames: what is taken and what is told', (t) => {
  const chunk = (fields: object): string => JSON.stringify({ message_type: 'input_audio_chunk', ...fields });
  for (const fields of [
    {},
    { audio_base_64: '' },
    { audio_base_64: null, commit: null, sample_rate: null, previous_text: null },
    { audio_base_64: 'AAA=', commit: 'true', sample_rate: '16000' },
    { audio_base_64: 'data:audio/pcm;base64,AAAA', unknown: [1] },
  ])
    t.equal(faultIn(chunk(fields)), undefined, JSON.stringify(fields));
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  const wrong: readonly (string | Uint8Array)[] = [
    '', 'null', '[]', '{', '"x"', '{"message_type":"session.update"}', '{"message_type":"__proto__"}',
    chunk({ audio_base_64: 7 }), chunk({ audio_base_64: ['AAAA'] }),
    chunk({ sample_rate: 8000 }), chunk({ sample_rate: [8000] }), chunk({ commit: 'perhaps' }),
    deep, chunk({ junk: deep }).replace(/"\[/, '[').replace(/\]"/, ']'), Uint8Array.of(1, 2),
  ]; // prettier-ignore
  for (const data of wrong) {
    const fault = faultIn(data);
    t.match(fault, { type: 'input_error', message: String }, String(data).slice(0, 60));
    t.equal(fault?.close, undefined);
  }
  t.match(faultIn(chunk({ audio_base_64: 'A'.repeat(LIMITS.socket.frameBytes) })), { close: 'tooBig' });
  t.end();
});

t.test('fuzzed frames never throw, and only what is told changes anything', async (t) => {
  const random = seeded(2024);
  const session = openSession();
  const base = JSON.stringify({
    ...commitFrame,
    audio_base_64: Buffer.from(second(5)).toString('base64').slice(0, 400),
  });
  const values: readonly [unknown, ...unknown[]] = [
    null,
    true,
    false,
    0,
    -1,
    16_000,
    1e308,
    '',
    'true',
    'AAAA',
    '=',
    [],
    {},
    'x'.repeat(5000),
    '\u0000',
  ];
  const names: readonly [string, ...string[]] = [
    'message_type',
    'audio_base_64',
    'commit',
    'sample_rate',
    'previous_text',
    'x',
  ];
  const mutated = (): string => {
    const at = Math.floor(random() * base.length);
    const cut = base.slice(0, at) + String.fromCharCode(Math.floor(random() * 256)) + base.slice(at + 1);
    return random() < 0.5 ? cut : base.slice(0, at);
  };
  const built = (): string =>
    JSON.stringify({
      message_type: 'input_audio_chunk',
      ...Object.fromEntries(Array.from({ length: 3 }, () => [pick(random, names), pick(random, values)])),
    });
  for (let step = 0; step < 5000; step++) {
    session.send(random() < 0.5 ? mutated() : built());
    if (step % 100 > 0) continue;
    for (const job of session.jobs.splice(0)) job.hear({ text: 'x' });
    await turn();
  }
  const known = [
    'session_started',
    'input_error',
    'commit_throttled',
    'committed_transcript',
    'partial_transcript',
  ];
  t.strictSame(session.types().filter((type) => !known.includes(String(type))), []); // prettier-ignore
  t.ok(count(session.types(), 'input_error') > 1000);
  t.equal(session.closes.length, 0);
});
