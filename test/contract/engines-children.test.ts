/** Engines in real speech children, over their sockets, as in a gateway. */
import t from 'tap';
import { RECOGNITION_RATE } from '../../contracts/audio.js';
import type { TtsRequest } from '../../contracts/ports/speech/tts.js';
import { fliteDescription } from '../../engines/backends/flite/description.js';
import { moonshineDescription } from '../../engines/backends/moonshine/description.js';
import { sttInChild, ttsInChild } from '../../engines/child-engines.js';
import { speakAll, ttsConformance } from '../../engines/conformance.js';
import { heardBy, joined, silence, spoken, streamed, wordErrors } from '../fixtures/engines-listening.js';
import { runs } from '../fixtures/processes-tools.js';
import { until } from '../fixtures/until.js';
import { productChild } from '../fixtures/product-child.js';

async function childrenOf(role: 'tts' | 'stt') {
  const waits = { jobs: 0, pieces: 0 };
  const child = await productChild(t, role, 'speech', { waited: (of) => void (waits[of] += 1) });
  return { ...child, waits };
}

const [tts, stt] = await Promise.all([childrenOf('tts'), childrenOf('stt')]);
const flite = ttsInChild(tts.pool, fliteDescription);
const moonshine = sttInChild(stt.pool, moonshineDescription);
const neverAborted = new AbortController().signal;
const sentence = 'The package was delivered to the front door this morning.';
/** The last voice takes a tenth of the work of the others; conformance is tested with the first one. */
const quickFirst = { ...flite, voices: flite.voices.toReversed() };
const voice = quickFirst.voices[0]!.name;
const request: TtsRequest = { text: sentence, voice, language: 'en', speed: 1 };

const idle = (pool: typeof tts.pool) => () =>
  pool.state().every(({ running, queued }) => running + queued === 0);

t.test('flite conforms from a child too', (t) =>
  ttsConformance(t, quickFirst, { sentence, deterministic: true }),
);

t.test('speech of one child is transcribed by another', async (t) => {
  const heard = await heardBy(moonshine, await spoken(flite, sentence));
  t.ok(wordErrors(sentence, heard) <= 2, heard);
  t.equal(await heardBy(moonshine, silence(3)), '');
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

t.test('several long transcriptions at once keep their own words', async (t) => {
  const texts = [sentence, 'There are two flights to London that match your request.'];
  const audio = await Promise.all(texts.map((text) => spoken(flite, text)));
  const heard = await Promise.all(
    [0, 1, 0, 1].map((index) => heardBy(moonshine, joined(audio[index]!, silence(1), audio[index]!))),
  );
  heard.forEach((text, index) => {
    const wanted = texts[index % 2]!;
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
  await t.rejects(hearing, { name: 'AbortError' });
  await t.rejects(speaking, { name: 'AbortError' });
  await until('both slots are free', () => idle(tts.pool)() && idle(stt.pool)());
  await until('the audio is left', () => left);
  t.pass('nothing runs');
});

t.test('refusals of an engine arrive as they are', async (t) => {
  await t.rejects(speakAll(flite, { ...request, voice: 'nobody' }), { code: 'voice_not_found' });
  const absent = ttsInChild(tts.pool, { ...fliteDescription, name: 'absent' });
  await t.rejects(speakAll(absent, request), { code: 'engine_failed' });
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
  await t.rejects(segments.next(), { code: 'engine_lost' });
  t.ok((await speakAll(flite, request)).samples.length > 0, 'the other role goes on');
  await until('a new child is ready', () =>
    stt.pool.state().every(({ connected, pid: now }) => connected && now !== pid),
  );
  t.ok(wordErrors(sentence, await heardBy(moonshine, await spoken(flite, sentence))) <= 2, 'it hears again');
});
