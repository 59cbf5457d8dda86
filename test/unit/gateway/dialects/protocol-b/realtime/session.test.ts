/**
 * The host of protocol B's realtime transcription: partial transcripts, commits that wait, the effects of failures, and
 * frames of any content, with a transcription port that follows the test's orders.
 */
import { setImmediate as turn } from 'node:timers/promises';
import t from '../../../../../fixtures/tap.js';
import { CLOSE, type CloseReason } from '../../../../../../contracts/close-codes.js';
import { type ErrorCode, ERRORS, ServiceError } from '../../../../../../contracts/errors.js';
import { LIMITS } from '../../../../../../contracts/limits.js';
import { faultOf } from '../../../../../../gateway/dialects/protocol-b/realtime/errors.js';
import { exactly } from '../../../../../fixtures/exactly.js';
import { pick, seeded } from '../../../../../fixtures/random.js';
import {
  commitFrame,
  count,
  openSession,
  second,
} from '../../../../../fixtures/protocol-b/transcription-session-host.js';

t.test('one commit more than may wait is refused with `queue_overflow`', async (t) => {
  const { send, chunk, frames, jobs } = openSession();
  chunk(second());
  for (let index = 0; index < LIMITS.realtimeTranscription.pendingCommits + 2; index++) send(commitFrame);
  exactly(t, frames.at(-1), { message_type: 'queue_overflow' });
  t.equal(frames.length, 2, 'the others wait for their turn');
  jobs.at(-1)!.hear({});
  await turn();
  t.equal(count(frames.map(({ message_type }) => message_type), 'commit_throttled'), 1024); // oxfmt-ignore
});

t.test('partial transcripts come one at a time, with new audio, and not during a commit', async (t) => {
  const { send, chunk, jobs, frames } = openSession();
  const tenth = new Uint8Array(3200);
  const chunks = (count: number): void => {
    for (let index = 0; index < count; index++) chunk(tenth);
  };
  const shown = (job: number) => [jobs[job]?.bytes.length, jobs[job]?.request.interim];
  chunks(6);
  t.equal(jobs.length, 0, 'too little');
  chunks(1);
  exactly(t, shown(0), [7 * 3200, true]);
  chunks(20);
  t.equal(jobs.length, 1, 'one at a time');
  jobs[0]!.hear({ segments: [{ text: 'hello', start: 0, end: 1 }] });
  await turn();
  exactly(t, frames.at(-1), { message_type: 'partial_transcript', text: 'hello' });
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
  exactly(t, frames.slice(2), [{ message_type: 'committed_transcript', text: 'hello' }]);
  exactly(t, shown(5), [20 * 3200, true]);
});

t.test('a client that leaves, or whose time is over, leaves no job behind', async (t) => {
  const left = openSession();
  left.chunk(second());
  left.leave();
  t.ok(left.jobs[0]?.signal.aborted);
  t.equal(left.clock.pending, 0);
  const late = openSession();
  late.chunk(second(), { commit: true });
  late.session.mustEnd(new ServiceError('connection_expired'));
  t.ok(late.jobs[0]?.signal.aborted);
  exactly(t, late.frames.at(-1), {
    message_type: 'session_time_limit_exceeded',
    error: String,
    message: String,
  });
  exactly(t, late.closes, [{ code: 1008, reason: /limit of 3600 seconds/ }]);
  late.jobs[0]!.fail(new Error('aborted'));
  await turn();
  t.equal(late.frames.length, 2);
});

t.test('a failed transcription ends the session if the failure is not about its audio', async (t) => {
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
    exactly(t, frames.at(-1), {
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

t.test('options in a header make every commit fail, and nothing else', (t) => {
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

t.test('no fuzzed frame throws, closes the session or gets an unknown answer', async (t) => {
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
