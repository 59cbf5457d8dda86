/**
 * Engines in real speech children, over their sockets, as in a gateway: they speak, hear raw audio, time its words, and share
 * their time. One file, since each child that hears loads its model, which takes a second.
 */
import { setMaxListeners } from 'node:events';
import t from '../../fixtures/tap.js';
import { RECOGNITION_RATE } from '../../../contracts/audio.js';
import type { JobOwner } from '../../../contracts/ports/jobs.js';
import type { TranscriptSegment } from '../../../contracts/ports/speech/speech.js';
import type { TimedWord, TtsRequest } from '../../../contracts/ports/speech/tts.js';
import { fliteDescription } from '../../../engines/backends/flite/description.js';
import { moonshineDescription } from '../../../engines/backends/moonshine/description.js';
import { sttInChild, ttsInChild } from '../../../engines/child-engines.js';
import { speakAll, ttsConformance } from '../../fixtures/engine-conformance.js';
import {
  heardBy,
  joined,
  quickFirst,
  silence,
  spoken,
  streamed,
  wordErrors,
  wordsOf,
} from '../../fixtures/engines/listening.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { runs } from '../../fixtures/processes/tools.js';
import { until } from '../../fixtures/until.js';
import { productChild } from '../../fixtures/processes/product-child.js';
import { atRate, cutBy, raw, transcriptionBy } from '../../fixtures/engines/raw-audio.js';
import { isClose } from '../../fixtures/engines/word-times.js';

async function childrenOf(role: 'tts' | 'stt') {
  const waits = { jobs: 0, pieces: 0 };
  const child = await productChild(t, role, 'speech', { waited: (of) => void (waits[of] += 1) });
  return { ...child, waits };
}

const [tts, stt] = await Promise.all([childrenOf('tts'), childrenOf('stt')]);
const flite = ttsInChild(tts.pool, fliteDescription);
const moonshine = sttInChild(stt.pool, moonshineDescription);
const neverAborted = new AbortController().signal;
const sentence = 'The package was delivered this morning.';
const quick = quickFirst(flite);
const voice = quick.voices[0]!.name;
const request: TtsRequest = { text: sentence, voice, language: 'en', speed: 1 };

const idle = (pool: typeof tts.pool) => () =>
  pool.state().every(({ running, queued }) => running + queued === 0);

t.test('flite conforms from a child too', (t) => ttsConformance(t, quick, { sentence, deterministic: true }));

t.test('speech of one child is transcribed by another', async (t) => {
  const heard = await heardBy(moonshine, await spoken(flite, sentence));
  t.ok(wordErrors(sentence, heard) <= 2, heard);
  t.equal(await heardBy(moonshine, silence(3)), '');
});

const TIMED = [
  'I am sorry, but I could not find an order with that number.',
  'I have sent a confirmation message to your phone.',
];
const saidTimed = (text: string) =>
  speakAll(flite, { text, voice: flite.voices[0]!.name, language: 'en', speed: 1, timing: true });

t.test('a child times the words that it recognises, where that is wanted', async (t) => {
  const clips = await Promise.all(TIMED.map(saidTimed));
  let offset = 0;
  const truth = clips.flatMap(({ samples, words }) => {
    offset += 1;
    const placed = words.map(({ text, start, end }) => ({ text, start: start + offset, end: end + offset }));
    offset += samples.length / RECOGNITION_RATE;
    return placed;
  });
  const audio = joined(...clips.flatMap(({ samples }) => [silence(1), samples]), silence(1));
  const heard: TimedWord[] = [];
  for await (const segment of moonshine.transcribe(streamed(audio), { words: true }, neverAborted)) {
    t.equal(segment.words?.map(({ text }) => text).join(' '), segment.text);
    heard.push(...(segment.words ?? []));
  }
  const isSame = (a: TimedWord, b: TimedWord): boolean => wordsOf(a.text).join() === wordsOf(b.text).join();
  const found = truth.filter((word) => heard.some((other) => isSame(word, other) && isClose(other, word)));
  t.ok(found.length >= 0.9 * truth.length, `${found.length} of ${truth.length}`);
  for await (const { words } of moonshine.transcribe(streamed(clips[0]!.samples), {}, neverAborted))
    t.equal(words, undefined);
});

t.test('a child hears raw audio of any rate, and makes guesses', async (t) => {
  const samples = await spoken(flite, sentence);
  const { hear, ledger } = transcriptionBy(moonshine);
  for (const sampleRate of [8000, 48_000]) {
    const chunks = cutBy(atRate(samples, sampleRate), 1921);
    const segments: TranscriptSegment[] = [];
    const { text, words } = await hear({ chunks, sampleRate }, { words: true }, neverAborted, (s) =>
      segments.push(s),
    );
    t.ok(wordErrors(sentence, text) <= 2, `${sampleRate} Hz: ${text}`);
    t.ok(words!.length > 5 && segments.length > 0);
  }
  exactly(t, ledger, { entered: 2, left: 2, checked: 0 });
  const complete = hear(raw(joined(samples, silence(1), samples)));
  await until('the child works', () => stt.pool.state().some(({ running }) => running === 1));
  await rejectsExactly(t, hear(raw(samples), { interim: true }), { code: 'engine_busy' });
  t.ok(wordErrors(`${sentence} ${sentence}`, (await complete).text) <= 4);
  const guess = await hear(raw(samples), { interim: true });
  t.ok(wordErrors(sentence, guess.text) <= 2, guess.text);
  exactly(t, ledger, { entered: 3, left: 3, checked: 2 });
});

t.test('children report how long pieces waited for their engine', async () => {
  for (const { waits } of [tts, stt])
    await until('both kinds are told', () => waits.jobs > 0 && waits.pieces > 0);
});

t.test("a piece of one workspace does not wait for all of another's", async (t) => {
  const order: string[] = [];
  const speak = async (workspaceTag: string): Promise<void> => {
    const demand = { workspaceTag, aheadSeconds: 0 };
    const { signal } = new AbortController();
    for await (const event of flite.synthesize({ ...request, demand }, signal)) {
      void event;
      break;
    }
    order.push(workspaceTag);
  };
  await Promise.all([...Array.from({ length: 12 }, () => speak('many')), speak('one')]);
  t.ok(order.indexOf('one') < 4, order.join(' '));
});

t.test(
  'fifty files of one workspace keep neither the words nor the files of another one waiting',
  async (t) => {
    const audio = await spoken(flite, 'Yes.');
    const uploads = new AbortController();
    setMaxListeners(0, uploads.signal);
    const over: string[] = [];
    const hear = async (
      name: string,
      owner: JobOwner,
      signal: AbortSignal,
      interim = false,
    ): Promise<void> => {
      const asked = {
        seconds: audio.length / RECOGNITION_RATE,
        interim,
        demand: { ...owner, aheadSeconds: 0 },
      };
      for await (const segment of moonshine.transcribe(streamed(audio), asked, signal)) void segment;
      over.push(name);
    };
    const many = Array.from({ length: 50 }, () =>
      hear('upload', { workspaceTag: 'many' }, uploads.signal).catch(() => undefined),
    );
    await until('the child is full of them', () => stt.pool.state().some(({ queued }) => queued > 0));
    await Promise.all([
      hear('file', { workspaceTag: 'one' }, neverAborted),
      hear('words', { workspaceTag: 'two', isLive: true }, neverAborted),
    ]);
    const before = over.filter((name) => name === 'upload').length;
    await hear('guess', { workspaceTag: 'two', isLive: true }, neverAborted, true);
    t.ok(before < 20, `${before} of 50 before them`);
    t.ok(over.indexOf('words') < over.indexOf('file') + 3, over.join(' '));
    t.ok(over.includes('guess'), 'guesses of live speech go on beside them');
    uploads.abort();
    await Promise.all(many);
    await until('their slots are free', idle(stt.pool));
  },
);

t.test('several long transcriptions at once keep their own words', async (t) => {
  const texts = [sentence, 'There are two flights to London that match your request.'];
  const audio = await Promise.all(texts.map((text) => spoken(flite, text)));
  const heard = await Promise.all(
    [0, 1].map((index) => heardBy(moonshine, joined(audio[index]!, silence(1), audio[index]!))),
  );
  heard.forEach((text, index) => {
    const wanted = texts[index]!;
    t.ok(wordErrors(`${wanted} ${wanted}`, text) <= 4, text);
  });
});

t.test('a reader that stands still keeps no other waiting', async (t) => {
  const long = { ...request, text: sentence.repeat(40) };
  const stalled = Array.from({ length: 4 }, () =>
    flite.synthesize(long, neverAborted)[Symbol.asyncIterator](),
  );
  for (const iterator of stalled) await iterator.next();
  const { samples } = await speakAll(flite, request);
  t.ok(samples.length > 0, 'another is served');
  for (const iterator of stalled) await iterator.return?.();
  await until('their slots are free', idle(tts.pool));
});

t.test('jobs whose callers go leave nothing behind', async (t) => {
  const abort = new AbortController();
  let left = false;
  async function* endless() {
    try {
      for (;;) yield silence(1);
    } finally {
      left = true;
    }
  }
  const hearing = moonshine.transcribe(endless(), {}, abort.signal)[Symbol.asyncIterator]().next();
  const speaking = speakAll(flite, { ...request, text: sentence.repeat(200) }, abort.signal);
  await until('both run', () => !idle(tts.pool)() && !idle(stt.pool)());
  abort.abort();
  await rejectsExactly(t, hearing, { name: 'AbortError' });
  await rejectsExactly(t, speaking, { name: 'AbortError' });
  await until('both slots are free', () => idle(tts.pool)() && idle(stt.pool)());
  await until('the audio is left', () => left);
  t.pass('nothing runs');
});

t.test('refusals of an engine arrive as they are', async (t) => {
  await rejectsExactly(t, speakAll(flite, { ...request, voice: 'nobody' }), { code: 'voice_not_found' });
  const absent = ttsInChild(tts.pool, { ...fliteDescription, name: 'absent' });
  await rejectsExactly(t, speakAll(absent, request), { code: 'engine_failed' });
});

t.test('a killed child costs its own work and is back for the next', async (t) => {
  const [pid] = stt.supervision.pids();
  async function* audioThatKills() {
    yield* streamed(silence(2));
    process.kill(pid!, 'SIGKILL');
    await until('the child is gone', async () => !(await runs(pid!)));
    for (;;) yield new Int16Array(RECOGNITION_RATE);
  }
  const segments = moonshine.transcribe(audioThatKills(), {}, neverAborted)[Symbol.asyncIterator]();
  await rejectsExactly(t, segments.next(), { code: 'engine_lost' });
  t.ok((await speakAll(flite, request)).samples.length > 0, 'the other role goes on');
  await until('a new child is ready', () =>
    stt.pool.state().every(({ connected, pid: now }) => connected && now !== pid),
  );
  t.ok(wordErrors(sentence, await heardBy(moonshine, await spoken(flite, sentence))) <= 2, 'it hears again');
});
