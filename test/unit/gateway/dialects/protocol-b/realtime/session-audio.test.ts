/** The audio of protocol B's realtime transcription: what a commit takes, what counts in the budget, and what is put back. */
import { setImmediate as turn } from 'node:timers/promises';
import t from '../../../../../fixtures/tap.js';
import { ServiceError } from '../../../../../../contracts/errors.js';
import {
  chunkFrame,
  commitFrame,
  count,
  openSession,
  second,
} from '../../../../../fixtures/protocol-b/transcription-session-host.js';

t.test('a commit takes all audio that was sent before it, in every spelling', async (t) => {
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

t.test('a sample that a commit cuts in two belongs to the next commit', async (t) => {
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
  'words are timed from the start of the session, whatever became of the commits before them',
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

t.test('audio of a commit refused for want of resources is put first in the next commit', async (t) => {
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

t.test('waiting audio and audio in transcription share one budget of 100 MiB', async (t) => {
  const { chunk, send, jobs, types } = openSession();
  const errors = (): number => count(types(), 'input_error');
  const large = JSON.stringify(chunkFrame(new Uint8Array(20 * 1024 * 1024)));
  for (let index = 0; index < 5; index++) send(large);
  t.equal(errors(), 0, '100 MiB are held');
  chunk(new Uint8Array(2));
  t.equal(errors(), 1, 'one sample more is dropped');
  send(commitFrame);
  chunk(new Uint8Array(2));
  t.equal(errors(), 2, 'what is being transcribed still counts');
  jobs.at(-1)!.fail(new ServiceError('engine_busy'));
  await turn();
  send(commitFrame);
  t.equal(jobs.at(-1)?.bytes.length, 100 * 1024 * 1024, 'what is committed again counts once');
  t.equal(errors(), 2);
  jobs.at(-1)!.hear({ text: 'all of it' });
  await turn();
  send(large);
  t.equal(errors(), 2, 'it was given back');
  t.match(types().at(-1), 'committed_transcript');
});

t.test('a chunk that is not base64 is refused, and commits nothing', (t) => {
  const { chunk, send, jobs, types } = openSession();
  chunk(second());
  for (const audio_base_64 of ['A', '!!!!', 'AA=A'])
    send({ message_type: 'input_audio_chunk', audio_base_64, commit: true });
  t.strictSame(types(), ['session_started', 'input_error', 'input_error', 'input_error']);
  send(commitFrame);
  t.equal(jobs.at(-1)?.bytes.length, 32_000);
  t.end();
});

t.test('many small chunks reach the recogniser as few large ones, in order', (t) => {
  const { chunk, send, jobs } = openSession();
  for (let index = 0; index < 20_000; index++) chunk(Uint8Array.of(index & 255, index >> 8, 7));
  send(commitFrame);
  const { bytes, request } = jobs.at(-1)!;
  t.equal(bytes.length, 60_000);
  t.ok(bytes.every((byte, at) => byte === [Math.floor(at / 3) & 255, Math.floor(at / 3) >> 8, 7][at % 3]));
  t.ok(request.audio.chunks.length < 50, `${request.audio.chunks.length} chunks`);
  t.end();
});
