/**
 * The host of protocol B's realtime transcription: the audio of a commit, budgets, partial transcripts, and the effects of
 * failures, with a transcription port that follows the test's orders.
 */
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import type { SessionFault } from '../../actors/transcription-session.js';
import { CLOSE, type CloseReason } from '../../contracts/close-codes.js';
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
import { faultOf } from '../../gateway/dialects/protocol-b/realtime/errors.js';
import { sessionOptions } from '../../gateway/dialects/protocol-b/realtime/options.js';
import { TranscriptionSession } from '../../gateway/dialects/protocol-b/realtime/session.js';
import type { Socket } from '../../gateway/server/port.js';
import { Observation } from '../../gateway/server/tracing/trace-requests.js';
import { SimulatedClock } from '../fixtures/edge-clock.js';
import { pick, seeded } from '../fixtures/random.js';
import { transcriptOf } from '../fixtures/transcript.js';

interface ToldJob {
  readonly request: TranscriptionRequest & { readonly audio: RawAudio };
  readonly signal: AbortSignal;
  readonly bytes: Buffer;
  hear(transcript: Partial<Transcript>): void;
  fail(error: unknown): void;
}

/** A session whose transcription port follows the test's orders. */
function openSession(query = '', refused?: SessionFault) {
  const jobs: ToldJob[] = [];
  const transcription: Transcription = {
    count: () => undefined,
    checkLanguage: () => undefined,
    reducesNoise: true,
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
  let isClosed = false;
  const frames: Record<string, unknown>[] = [];
  const closes: unknown[] = [];
  const socket: Socket = {
    send: (data) => void frames.push(JSON.parse(String(data)) as Record<string, unknown>),
    queuedBytes: 0,
    drained: () => Promise.resolve(),
    close(reason) {
      if (!isClosed) closes.push(reason);
      leave();
    },
    authenticated: () => undefined,
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
  const leave = (): void => {
    if (!isClosed) session.gone();
    isClosed = true;
  };
  const send = (frame: unknown): void => {
    if (!isClosed) session.message(typeof frame === 'string' ? frame : JSON.stringify(frame));
  };
  const chunk = (audio: Uint8Array, fields: object = {}): void =>
    send({
      message_type: 'input_audio_chunk',
      audio_base_64: Buffer.from(audio).toString('base64'),
      ...fields,
    });
  const types = (): unknown[] => frames.map(({ message_type }) => message_type);
  return { jobs, clock, frames, closes, session, send, chunk, types, leave };
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

t.test(
  'words are timed from the start of the session, whatever became of what was committed before',
  async (t) => {
    const { chunk, send, jobs, frames } = openSession('include_timestamps=true');
    const words = [{ text: 'word', start: 0.25, end: 0.5 }];
    const started: unknown[] = [];
    const answer = async (job: number): Promise<void> => {
      jobs.filter(({ request }) => !request.interim)[job]!.hear({ text: 'word', words });
      await turn();
      const [first] = frames.at(-1)!['words'] as { start: number; end: number }[];
      started.push([first?.start, first?.end]);
    };
    chunk(second(), { commit: true });
    chunk(new Uint8Array(31_999), { commit: true });
    chunk(new Uint8Array(32_001));
    send(commitFrame);
    await answer(0);
    await answer(1);
    await answer(2);
    chunk(new Uint8Array(3200), { commit: true });
    chunk(second(), { commit: true });
    jobs.at(-1)!.fail(new ServiceError('engine_busy'));
    await turn();
    chunk(second(), { commit: true });
    await answer(4);
    t.strictSame(started, [
      [0.25, 0.5],
      [1.25, 1.5],
      [2.25, 2.5],
      [3.25, 3.5],
    ]);
  },
);

t.test('audio of a commit that was refused for want of resources comes first in the next one', async (t) => {
  const { chunk, send, jobs, types } = openSession();
  const complete = () => jobs.filter(({ request }) => !request.interim);
  chunk(new Uint8Array(10_001).fill(1));
  send(commitFrame);
  chunk(new Uint8Array(10_001).fill(2));
  send(commitFrame);
  complete()[0]!.fail(new ServiceError('engine_busy'));
  await turn();
  t.equal(complete()[1]!.bytes.length, 20_002, 'a commit that waits already has it');
  complete()[1]!.fail(new ServiceError('overloaded'));
  await turn();
  chunk(second(3), { commit: true });
  const { bytes } = complete()[2]!;
  t.strictSame([bytes.length, bytes.indexOf(2), bytes.indexOf(3)], [52_002, 10_001, 20_002]);
  complete()[2]!.hear({ text: 'all of it' });
  await turn();
  t.equal(types().at(-1), 'committed_transcript');
  chunk(second(), { commit: true });
  complete()[3]!.fail(new ServiceError('audio_too_long'));
  await turn();
  chunk(second(), { commit: true });
  t.equal(complete()[4]!.bytes.length, 32_000, 'audio that is refused for itself is dropped');
});

t.test('audio that waits to be committed again counts once in the budget', async (t) => {
  const { chunk, send, jobs, types } = openSession();
  for (let index = 0; index < 5; index++) chunk(new Uint8Array(20 * 1024 * 1024));
  send(commitFrame);
  jobs.at(-1)!.fail(new ServiceError('engine_busy'));
  await turn();
  send(commitFrame);
  t.equal(jobs.at(-1)?.bytes.length, 100 * 1024 * 1024);
  t.equal(count(types(), 'input_error'), 0);
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
  t.equal(count(frames.map(({ message_type }) => message_type), 'commit_throttled'), 1024); // oxfmt-ignore
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
  left.leave();
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
  t.match(late.closes, [{ code: 1008, reason: /limit of 3600 seconds/ }]);
  late.jobs[0]!.fail(new Error('aborted'));
  await turn();
  t.equal(late.frames.length, 2);
});

t.test('a failed transcription ends the session where the failure is not about this audio', async (t) => {
  const cases: readonly [ErrorCode, string, CloseReason | undefined][] = [
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
    t.strictSame(
      closes,
      close === undefined ? [] : [{ code: CLOSE[close].code, reason: ERRORS[code].message }],
      code,
    );
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
  t.strictSame(session.types().filter((type) => !known.includes(String(type))), []); // oxfmt-ignore
  t.ok(count(session.types(), 'input_error') > 1000);
  t.equal(session.closes.length, 0);
});
