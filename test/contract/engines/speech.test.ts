/** The embedded engines on real models: Flite speaks, Silero finds the speech, Moonshine transcribes it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { CHECKOUT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';
import { type OutputFormat, RECOGNITION_RATE } from '../../../contracts/audio.js';
import { createDecode } from '../../../codecs/decode/decoder.js';
import { createEncode } from '../../../codecs/encode/encoder.js';
import { encodeJobs } from '../../../codecs/encode/jobs.js';
import { createFlite } from '../../../engines/backends/flite/index.js';
import { defaultModelsFolder, modelFile } from '../../../engines/backends/model-files.js';
import { createMoonshine } from '../../../engines/backends/moonshine/index.js';
import { floatsOf } from '../../../engines/backends/samples.js';
import { createDetectors } from '../../../engines/backends/silero/detector.js';
import { createSilero } from '../../../engines/backends/silero/index.js';
import { DETECTOR_FRAME } from '../../../media/detector-frame.js';
import { createToneSpeech, createToneTranscriber } from '../../../engines/backends/tone/index.js';
import { speakAll, sttConformance, ttsConformance } from '../../fixtures/engine-conformance.js';
import { createTranscriber } from '../../../engines/long-audio.js';
import { inProcess } from '../../fixtures/in-process.js';
import {
  heardBy,
  heardCase,
  joined,
  quickFirst,
  segmentsOf,
  silence,
  spoken,
  streamed,
  wordErrors,
  wordsOf,
} from '../../fixtures/engines/listening.js';
import { rejectsExactly } from '../../fixtures/exactly.js';
import { shortOrLong } from '../../fixtures/long.js';
import { productUrl } from '../../fixtures/processes/product.js';
import { seeded } from '../../fixtures/random.js';

const fixture = new URL('test/fixtures/engines/sentences.json', CHECKOUT);
const sentences = JSON.parse(readFileSync(fixture, 'utf8')) as string[];
const [flite, moonshine] = await Promise.all([createFlite(), createMoonshine()]);
const silero = createSilero();
const detectors = createDetectors();
const transcriber = createTranscriber({ engine: moonshine, voiceActivity: silero });
const decodeOnce = productUrl('gateway/workers/decode-once');
const neverAborted = new AbortController().signal;

const MOST_ERRORS = 0.1;

t.test('flite conforms', (t) =>
  ttsConformance(t, flite, {
    sentence: 'It came today, at 10:30.',
    quickVoice: quickFirst(flite).voices[0]!.name,
    deterministic: true,
  }),
);

t.test('moonshine conforms', async (t) => {
  await sttConformance(t, moonshine, await heardCase(flite));
});

/** Sentences of a longer text, each as the default voice says it. */
const paragraph = sentences.slice(0, 6);
const parts = await Promise.all(paragraph.map((sentence) => spoken(flite, sentence)));

/** How many sentences are listened to. */
const UNDERSTOOD = { normal: shortOrLong(3, sentences.length), low: shortOrLong(2, sentences.length) };

for (const latency of ['normal', 'low'] as const) {
  t.test(`sentences of the default voice are understood (${latency} latency)`, async (t) => {
    let errors = 0;
    let words = 0;
    for (const [index, sentence] of sentences.slice(0, UNDERSTOOD[latency]).entries()) {
      const known = latency === 'normal' ? parts[index] : undefined;
      const samples = known ?? (await spoken(flite, sentence, latency));
      errors += wordErrors(sentence, await heardBy(transcriber, samples));
      words += wordsOf(sentence).length;
    }
    t.ok(errors <= MOST_ERRORS * words, `${errors} errors in ${words} words`);
  });
}

t.test('long audio gives all its words, with times that fit', async (t) => {
  const pauses = parts.map((_, index) => silence(index % 3));
  const samples = joined(...parts.flatMap((part, index) => [pauses[index]!, part]));
  const segments = await segmentsOf(transcriber, samples);
  const wanted = paragraph.join(' ');
  const heard = segments.map(({ text }) => text).join(' ');
  t.ok(samples.length > 20 * RECOGNITION_RATE, 'longer than any piece');
  t.ok(wordErrors(wanted, heard) <= MOST_ERRORS * wordsOf(wanted).length, heard);
  let last = 0;
  for (const { start, end } of segments) {
    t.ok(start >= last && end > start && end - start <= 15, `${start} to ${end}`);
    last = end;
  }
  t.ok(last <= samples.length / RECOGNITION_RATE + 0.1, 'none passes the end');
  const begin = (pauses[0]!.length + parts[0]!.length + pauses[1]!.length) / RECOGNITION_RATE;
  t.ok(
    segments.some(({ start }) => Math.abs(start - begin) < 0.6),
    'one begins with the second sentence',
  );
});

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const value of values) found.push(value);
  return found;
}

const collected = async (chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> =>
  Buffer.concat(await all(chunks));

/** The speech without its silent frames of 20 ms. */
function withoutPauses(samples: Int16Array): Int16Array {
  const length = RECOGNITION_RATE / 50;
  const frames = Array.from({ length: Math.ceil(samples.length / length) }, (_, index) =>
    samples.subarray(index * length, (index + 1) * length),
  );
  return joined(...frames.filter((frame) => frame.some((sample) => Math.abs(sample) > 300)));
}

t.test('speech without a pause is cut into pieces that lose no word', async (t) => {
  const dense = withoutPauses(joined(...parts));
  const spans = [];
  for await (const span of silero.spans(streamed(dense), { maxSpanSeconds: 5 }, neverAborted))
    spans.push(span);
  t.ok(spans.length >= 4, `${spans.length} spans`);
  t.ok(
    spans.every((span) => span.samples.length <= 5 * RECOGNITION_RATE),
    'none longer than asked',
  );
  const covered = spans.reduce((sum, span) => sum + span.samples.length, 0);
  t.ok(covered > 0.97 * dense.length, `${covered} of ${dense.length} samples are in spans`);
});

t.test('silence and quiet noise give no segments', async (t) => {
  t.same(await segmentsOf(transcriber, silence(shortOrLong(5, 20))), []);
  let seed = 7;
  const noise = silence(10).map(() => (seed = (seed * 75 + 74) % 65_537) % 40);
  t.same(await segmentsOf(transcriber, noise), []);
  t.same(await segmentsOf(transcriber, new Int16Array(0)), []);
});

t.test('detectors that are used again keep nothing of the stream before', async (t) => {
  const samples = joined(silence(0.5), await spoken(flite, sentences[11]!));
  const starts = [];
  for (let run = 0; run < 3; run++) {
    // Leaves the iteration in the middle of speech.
    for await (const span of silero.spans(streamed(samples), { maxSpanSeconds: 1 }, neverAborted)) {
      if (span) break;
    }
    for await (const { start } of silero.spans(streamed(samples), { maxSpanSeconds: 15 }, neverAborted))
      starts.push(start);
  }
  t.equal(starts.length, 3, String(starts));
  t.equal(new Set(starts).size, 1, String(starts));
});

t.test('a long text is bounded run by run, and a cancel is seen between', async (t) => {
  const abort = new AbortController();
  const text = sentences.join(' ').repeat(20);
  let seconds = 0;
  const speaking = async () => {
    for await (const event of flite.synthesize(
      { text, voice: quickFirst(flite).voices[0]!.name, language: 'en', speed: 1 },
      abort.signal,
    )) {
      if (event.kind === 'audio') seconds += event.samples.length / RECOGNITION_RATE;
      if (seconds > 1) setImmediate(() => abort.abort());
    }
  };
  await rejectsExactly(t, speaking(), { name: 'AbortError' });
  t.ok(seconds < 120, `${seconds} s were spoken`);
});

t.test(
  'the detector of calls detects a voice in its third frame, and its end within a third of a second',
  async (t) => {
    const isSound = (sample: number): boolean => Math.abs(sample) > 100;
    const said = await spoken(flite, 'No, stop that right now please.');
    const voice = said.subarray(said.findIndex(isSound), said.findLastIndex(isSound) + 1);
    const before = 32 * DETECTOR_FRAME;
    const audio = joined(new Int16Array(before), voice, silence(1));
    const detector = detectors();
    const told: number[] = [];
    for (let at = 0, active = false; at + DETECTOR_FRAME <= audio.length; at += DETECTOR_FRAME)
      if (detector.push(audio.subarray(at, at + DETECTOR_FRAME)) !== active) {
        active = !active;
        told.push(at + DETECTOR_FRAME - before);
      }
    const [begins = Infinity, ends = Infinity, ...more] = told;
    t.ok(begins <= 3 * DETECTOR_FRAME, `${begins / DETECTOR_FRAME} frames`);
    t.ok(ends - voice.length <= 0.32 * RECOGNITION_RATE, `${(ends - voice.length) / RECOGNITION_RATE} s`);
    t.same(more, [], 'and nothing in between');
  },
);

/** The network on ONNX Runtime, which is known to be right: what sherpa-onnx makes of the same file. */
interface Reference {
  acceptWaveform(samples: Float32Array): void;
  isDetected(): boolean;
}
type MakeReference = new (config: object, bufferSeconds: number) => Reference;
const { Vad } = createRequire(import.meta.url)('sherpa-onnx-node') as { readonly Vad: MakeReference };

function reference(): (frame: Int16Array) => boolean {
  const sileroVad = {
    model: modelFile(defaultModelsFolder, 'silero', 'silero_vad_v6.onnx'),
    ...{ threshold: 0.5, minSpeechDuration: 0.06, minSilenceDuration: 0.22 },
    ...{ windowSize: DETECTOR_FRAME, maxSpeechDuration: 20 },
  };
  const detector = new Vad({ sileroVad, sampleRate: RECOGNITION_RATE, numThreads: 1, debug: false }, 30);
  // The first frame's context, which it would otherwise take from that frame.
  detector.acceptWaveform(new Float32Array(64));
  return (frame) => {
    detector.acceptWaveform(floatsOf(frame));
    return detector.isDetected();
  };
}

/** Of a voice that begins by the number of its frames alone, as the reference counts. */
const counting = createDetectors(undefined, { begin: 3, end: 8, long: 625 });

t.test(
  'the detector of calls tells of every frame what ONNX Runtime tells, in silence and in noise',
  async (t) => {
    const random = seeded(3);
    const voices = flite.voices.slice(0, shortOrLong(1, 4));
    // Two streams in turns: each has a memory of its own.
    const [one, other] = [counting(), counting()];
    const references = [reference(), reference()];
    for (const { name } of voices)
      for (const noise of [0, 300, 3000]) {
        const request = { text: paragraph[0]!, voice: name, language: 'en', speed: 1 };
        const said = joined(silence(0.7), (await speakAll(flite, request)).samples, silence(1));
        const heard = said.map((sample) =>
          Math.max(-32_768, Math.min(32_767, sample + noise * (random() * 2 - 1))),
        );
        const told: boolean[][] = [[], [], [], []];
        for (let at = 0; at + 2 * DETECTOR_FRAME <= heard.length; at += DETECTOR_FRAME) {
          const [now, later] = [0, 1].map((offset) =>
            heard.subarray(at + offset * DETECTOR_FRAME, at + (offset + 1) * DETECTOR_FRAME),
          ) as [Int16Array, Int16Array];
          told[0]!.push(one.push(now));
          told[1]!.push(other.push(later));
          told[2]!.push(references[0]!(now));
          told[3]!.push(references[1]!(later));
        }
        t.same(told.slice(0, 2), told.slice(2), `${name}, noise of ${noise}`);
        t.ok(told[0]!.includes(true) && told[0]!.includes(false), 'a voice and silence');
      }
  },
);

t.test('detectors of many calls share one model: a thousand take less than 4 MB', async (t) => {
  const before = process.memoryUsage();
  const many = Array.from({ length: 1000 }, detectors);
  for (const detector of many) detector.push(new Int16Array(DETECTOR_FRAME));
  const { arrayBuffers, external } = process.memoryUsage();
  t.ok(arrayBuffers - before.arrayBuffers < 4e6, `${arrayBuffers - before.arrayBuffers} bytes of arrays`);
  t.ok(external - before.external < 4e6, `${external - before.external} bytes outside of the heap`);
});

const STEADY_SECONDS = shortOrLong(2, 10);
/** Steady sounds; amplitude by time in seconds. */
const STEADY: Readonly<Record<string, (at: number) => number>> = {
  'a hum of the mains': (at) => Math.sin(100 * Math.PI * at) + 0.3 * Math.sin(300 * Math.PI * at),
  'a tone of 440 Hz': (at) => Math.sin(880 * Math.PI * at),
  'a tone of 1 kHz': (at) => Math.sin(2000 * Math.PI * at),
  'a buzz': (at) => 2 * ((150 * at) % 1) - 1,
  'the noise of a fan': (at) => 2 * ((Math.sin(at * 12_989.8) * 43_758.5453) % 1),
};
for (const [name, sound] of Object.entries(STEADY))
  t.test(`the detector of calls takes ${name} for a voice for a second at most`, async (t) => {
    for (const amplitude of [600, 6000, 20_000]) {
      const audio = Int16Array.from({ length: STEADY_SECONDS * RECOGNITION_RATE }, (_, at) =>
        Math.max(-32_768, Math.min(32_767, amplitude * sound(at / RECOGNITION_RATE))),
      );
      const detector = detectors();
      let voiced = 0;
      for (let at = 0; at + DETECTOR_FRAME <= audio.length; at += DETECTOR_FRAME)
        if (detector.push(audio.subarray(at, at + DETECTOR_FRAME))) voiced += 1;
      const seconds = (voiced * DETECTOR_FRAME) / RECOGNITION_RATE;
      t.ok(seconds <= 1, `${seconds} s at ${amplitude}`);
    }
  });

t.test('an unknown voice is refused', async (t) => {
  for (const voice of ['', 'nobody', '/etc/passwd', 'awb_time']) {
    const request = { text: 'Hello', voice, language: 'en', speed: 1 } as const;
    await rejectsExactly(t, speakAll(flite, request), { code: 'voice_not_found' });
  }
});

t.test('a missing model file is named, with what fetches it, and one that is another', async (t) => {
  const empty = t.testdir();
  await t.rejects(createMoonshine(empty), /encoder_model\.onnx is missing.*npm start/);
  t.throws(() => createSilero(empty), /silero_vad_v6\.onnx is missing.*npm start/);
  const other = t.testdir({ silero: { 'silero_vad_v6.onnx': 'something else' } });
  t.throws(() => createDetectors(other), /silero_vad_v6\.onnx cannot be used/);
});

t.test("tones survive MP3 at its lowest bit rate and a telephone's sample rate", async (t) => {
  const encode = createEncode(inProcess(encodeJobs));
  const decode = createDecode({
    tempFolder: `${t.testdir()}/uploads`,
    decodeOnce: fileURLToPath(decodeOnce),
  });
  const text = 'Hello, World: 3 Ünïcödé words — 日本語 👍!';
  const { samples } = await speakAll(createToneSpeech(), { text, voice: 'tone', language: 'en', speed: 1 });
  const hardest: readonly OutputFormat[] = [
    { format: 'mp3', sampleRate: 32_000, mp3Bitrate: 64 },
    { format: 'wav', sampleRate: 8000 },
    { format: 'opus', sampleRate: 48_000 },
  ];
  const easier: readonly OutputFormat[] = [
    { format: 'mp3', sampleRate: 44_100, mp3Bitrate: 64 },
    { format: 'mp3', sampleRate: 44_100, mp3Bitrate: 128 },
    { format: 'wav', sampleRate: 44_100 },
  ];
  for (const output of [...hardest, ...shortOrLong([], easier)]) {
    const file = await collected(encode(streamed(samples), 16_000, output, neverAborted));
    const heard = await heardBy(
      createToneTranscriber(),
      joined(...(await all(decode(file, { workspaceId: 'ws' }, neverAborted)))),
    );
    t.equal(heard, text, JSON.stringify(output));
  }
});
