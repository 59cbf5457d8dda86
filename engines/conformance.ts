/**
 * Conformance tests, which every backend must pass. They use the ports
 * only, so they run equally against an engine in this process and one in a child.
 */
import { RECOGNITION_RATE } from '../contracts/audio.js';
import type { SttEngine } from '../contracts/ports/speech/stt.js';
import type { TimedWord, TtsEngine, TtsRequest } from '../contracts/ports/speech/tts.js';
import { joinSamples } from '../contracts/audio.js';

/** The part of a test runner that is needed here; tap's `t` has it. */
export interface Checks {
  test(name: string, body: (t: Checks) => Promise<unknown>): Promise<unknown>;
  ok(value: unknown, message: string): unknown;
  same(found: unknown, wanted: unknown, message: string): unknown;
}

export interface TtsCase {
  /** A sentence of three words or more that the engine can speak. */
  readonly sentence: string;
  /** The voice for texts that are long and may be anyone's, if the first one takes much more work. */
  readonly quickVoice?: string;
  /** Whether the same request gives the same samples. */
  readonly deterministic?: boolean;
  /** Whether the same request may give slightly longer or shorter speech. */
  readonly varies?: boolean;
}

export interface SttCase {
  /** 16 kHz audio and the text in it; `heard` says whether a transcript is that text. */
  readonly samples: Int16Array;
  readonly heard: (text: string) => boolean;
  /** Other audio, whose text `heard` rejects. */
  readonly other: Int16Array;
}

interface Speech {
  readonly samples: Int16Array;
  readonly words: readonly TimedWord[];
}

/** Texts that have broken synthesisers: none may crash or hang an engine, or be taken for markup or options. */
export const HOSTILE_TEXTS: readonly string[] = [
  '-o /tmp/stolen.wav hello',
  '--help',
  '-t',
  '-voice nobody',
  '<speak><break time="9999s"/>hello</speak> & <!-- x -->',
  'a\u0000b\u0007c\u001b[31m d\ufffe',
  '\ud83d lone surrogate \udc00',
  '👩‍👩‍👧‍👦 🏳️‍🌈 🤷🏽‍♀️',
  'สวัสดี مرحبا שלום नमस्ते 你好 こんにちは 안녕',
  'e\u0301'.repeat(100) + '\u202e' + 'a' + '\u0300'.repeat(200),
  'a'.repeat(300),
  'supercalifragilistic'.repeat(15),
  '9'.repeat(60),
  '3.14e-999 1/0 $1,000,000.99 00:00 #$%^&*()_+{}|:"<>?',
  '%s%n%x %d ${HOME} $(id) `id` ; rm -rf / \\ \' "',
  "'''''''''' a",
  '. '.repeat(100),
  '\n\r\t\v\f',
];

const NOTHING_TO_SAY = ['', ' ', '\n\t', '.', '...', '?!', '—', '"…"', '。！？', '()', '-'];
const SILENCE_RMS = 50;
/** Most chunks after an abort: a child or a loop must not stay busy for long. */
const LATE_CHUNKS = 3;

const idle = (): AbortSignal => new AbortController().signal;

/** An engine's whole answer: samples and words. */
export async function speakAll(engine: TtsEngine, request: TtsRequest, signal = idle()): Promise<Speech> {
  const parts: Int16Array[] = [];
  const words: TimedWord[] = [];
  for await (const event of engine.synthesize(request, signal)) {
    if (event.kind === 'audio') parts.push(event.samples);
    else words.push(event.word);
  }
  return { samples: joinSamples(parts), words };
}

const rms = (samples: Int16Array): number =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length));

function requestFor(engine: TtsEngine, text: string, voice = engine.voices[0]?.name ?? ''): TtsRequest {
  const language = engine.capabilities.languages[0] ?? 'en';
  return { text, voice, language, speed: 1, timing: true };
}

const wasAborted = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError';

/** Number of audio chunks that arrive after the reader has aborted at the first one. */
async function chunksAfterAbort(engine: TtsEngine, text: string): Promise<number> {
  const abort = new AbortController();
  let chunks = 0;
  try {
    for await (const event of engine.synthesize(requestFor(engine, text), abort.signal)) {
      if (event.kind !== 'audio') continue;
      if (abort.signal.aborted) chunks += 1;
      abort.abort();
    }
  } catch (error) {
    if (!wasAborted(error)) throw error;
  }
  return chunks;
}

async function checkVoices(t: Checks, engine: TtsEngine, sentence: string): Promise<void> {
  t.ok(engine.voices.length > 0, 'it has a voice');
  for (const voice of engine.voices) {
    t.ok(voice.title.length > 0 && voice.languages.length > 0, `${voice.name} has a title and languages`);
    const { samples } = await speakAll(engine, requestFor(engine, sentence, voice.name));
    const seconds = samples.length / engine.capabilities.sampleRate;
    t.ok(seconds > 0.2 && seconds < sentence.length, `${voice.name} speaks for a likely time: ${seconds} s`);
    t.ok(rms(samples) > SILENCE_RMS, `${voice.name} is not silent`);
  }
}

async function checkWords(t: Checks, engine: TtsEngine, sentence: string): Promise<void> {
  const { samples, words } = await speakAll(engine, requestFor(engine, sentence));
  if (engine.capabilities.timing === 'none') return void t.same(words, [], 'no words without the claim');
  const seconds = samples.length / engine.capabilities.sampleRate;
  const spelled = words.map(({ text }) => text);
  t.same(spelled, sentence.split(/\s+/u), 'the words are those of the text');
  let last = 0;
  for (const { text, start, end } of words) {
    t.ok(start >= last && end > start && end <= seconds, `"${text}" lies in order within the audio`);
    last = end;
  }
  const untimed = await speakAll(engine, { ...requestFor(engine, sentence), timing: false });
  t.same(untimed.words, [], 'no words come where none are wanted');
}

/** Largest relative difference in length of an engine that varies. */
const MOST_VARIATION = 0.25;

const isLike = (length: number, other: number, varies: boolean): boolean =>
  Math.abs(length - other) <= (varies ? MOST_VARIATION * other : 0);

async function checkConcurrency(
  t: Checks,
  engine: TtsEngine,
  { sentence, varies = false }: TtsCase,
): Promise<void> {
  const texts = [sentence, sentence.split(' ').reverse().join(' '), `${sentence} ${sentence}`];
  const apart: Speech[] = [];
  for (const text of texts) apart.push(await speakAll(engine, requestFor(engine, text)));
  const together = await Promise.all(texts.map((text) => speakAll(engine, requestFor(engine, text))));
  together.forEach((speech, index) => {
    const [length, wanted] = [speech.samples.length, apart[index]?.samples.length ?? 0];
    t.ok(isLike(length, wanted, varies), `text ${index} has its own length: ${length}, ${wanted}`);
    t.same(speech.words, apart[index]?.words, `text ${index} has its own words`);
  });
}

async function checkHostile(t: Checks, engine: TtsEngine, { sentence, quickVoice }: TtsCase): Promise<void> {
  for (const text of HOSTILE_TEXTS) {
    const { samples, words } = await speakAll(engine, requestFor(engine, text, quickVoice));
    const seconds = samples.length / engine.capabilities.sampleRate;
    t.ok(seconds <= 1 + text.length * 2, `${JSON.stringify(text.slice(0, 24))} takes a likely time`);
    t.ok(
      words.every(({ start, end }) => start >= 0 && end >= start && end <= seconds + 0.001),
      'its words lie within the audio',
    );
  }
  const { samples } = await speakAll(engine, requestFor(engine, sentence));
  t.ok(rms(samples) > SILENCE_RMS, 'and it still speaks');
}

/** Tests that a synthesis engine keeps its port's promises. */
export async function ttsConformance(t: Checks, engine: TtsEngine, wanted: TtsCase): Promise<void> {
  const { sentence } = wanted;
  const named = (rule: string, body: (t: Checks) => Promise<unknown>) =>
    t.test(`${engine.name}: ${rule}`, body);
  await named('each voice gives audio at its rate', (s) => checkVoices(s, engine, sentence));
  await named('words are timed where that is claimed and wanted', (s) => checkWords(s, engine, sentence));
  await named('concurrent calls do not mix', (s) => checkConcurrency(s, engine, wanted));
  await named('hostile texts neither crash it nor are interpreted', (s) => checkHostile(s, engine, wanted));
  await named('nothing to say gives no audio', async (s) => {
    for (const text of NOTHING_TO_SAY) {
      const { samples, words } = await speakAll(engine, requestFor(engine, text));
      s.same([samples.length, words.length], [0, 0], JSON.stringify(text));
    }
  });
  await named('an abort stops it promptly', async (s) => {
    const late = await chunksAfterAbort(engine, Array(8).fill(sentence).join(' '));
    s.ok(late <= LATE_CHUNKS, `${late} chunks came after the abort`);
  });
  await named('a call that is aborted before does nothing', async (s) => {
    const spoken = speakAll(engine, requestFor(engine, sentence), AbortSignal.abort());
    const outcome = await spoken.then(({ samples }) => samples.length, wasAborted);
    s.ok(outcome === 0 || outcome === true, 'it gives no audio');
  });
  if (engine.capabilities.speed)
    await named('speed changes the length', (s) => checkSpeed(s, engine, sentence));
  if (wanted.deterministic) {
    await named('the same text gives the same audio', async (s) => {
      const [one, two] = [
        await speakAll(engine, requestFor(engine, sentence)),
        await speakAll(engine, requestFor(engine, sentence)),
      ];
      s.ok(Buffer.from(one.samples.buffer).equals(Buffer.from(two.samples.buffer)), 'sample for sample');
    });
  }
}

async function checkSpeed(t: Checks, engine: TtsEngine, sentence: string): Promise<void> {
  const lengthAt = async (speed: number) =>
    (await speakAll(engine, { ...requestFor(engine, sentence), speed })).samples.length;
  const normal = await lengthAt(1);
  for (const speed of [0.5, 0.8, 1.25, 2]) {
    const ratio = normal / (await lengthAt(speed));
    t.ok(Math.abs(ratio / speed - 1) < 0.15, `at ${speed} it is ${ratio.toFixed(2)} times as fast`);
  }
}

/** Noise as quiet as a room's, in which no engine may hear words. */
const hiss = (seconds: number): Int16Array => {
  let seed = 1;
  return Int16Array.from({ length: seconds * RECOGNITION_RATE }, () => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fff_ffff;
    return (seed >> 16) % 16;
  });
};

/** Tests that a transcription engine keeps its port's promises. */
export async function sttConformance(t: Checks, engine: SttEngine, wanted: SttCase): Promise<void> {
  const named = (rule: string, body: (t: Checks) => Promise<unknown>) =>
    t.test(`${engine.name}: ${rule}`, body);
  const transcribe = async (samples: Int16Array, signal = idle()) => engine.transcribe(samples, {}, signal);
  const text = async (samples: Int16Array) => (await transcribe(samples)).text;
  const longest = Math.min(engine.capabilities.maxPieceSeconds, 15);

  await named('speech becomes its text', async (s) => {
    const heard = await text(wanted.samples);
    s.ok(wanted.heard(heard), heard);
  });
  await named('silence, noise and crumbs of audio give no text', async (s) => {
    const rate = RECOGNITION_RATE;
    for (const length of [0, 1, 160, rate / 10, rate, rate * longest]) {
      s.same(await text(new Int16Array(length)), '', `${length} samples of silence`);
    }
    s.same(await text(hiss(3)), '', 'a quiet hiss');
    s.same(await text(wanted.samples.subarray(0, 400)), '', 'a crumb of speech');
  });
  await named('concurrent calls do not mix', async (s) => {
    const [one, other, again] = await Promise.all([wanted.samples, wanted.other, wanted.samples].map(text));
    s.ok(wanted.heard(one ?? '') && wanted.heard(again ?? ''), 'each has its own text');
    s.ok(!wanted.heard(other ?? ''), 'and not another one');
  });
  await named('a call that is aborted ends as aborted', async (s) => {
    const abort = new AbortController();
    const running = transcribe(wanted.samples, abort.signal).then(() => false, wasAborted);
    const before = transcribe(wanted.samples, AbortSignal.abort()).then(() => false, wasAborted);
    abort.abort();
    // A fast engine may have finished already.
    s.ok((await running) || engine.capabilities.words, 'while it runs');
    s.ok(await before, 'before it runs');
    s.ok(wanted.heard(await text(wanted.samples)), 'and it still transcribes');
  });
  await named('the longest piece is taken', async (s) => {
    const samples = new Int16Array(longest * RECOGNITION_RATE);
    samples.set(wanted.samples.subarray(0, samples.length));
    s.ok(wanted.heard(await text(samples)), 'speech and then silence');
  });
  await named('words are timed where that is claimed', async (s) => {
    const { words } = await transcribe(wanted.samples);
    if (!engine.capabilities.words) return s.same(words, undefined, 'no words without the claim');
    const seconds = wanted.samples.length / RECOGNITION_RATE;
    return s.ok(
      words?.length && words.every(({ start, end }) => start >= 0 && end > start && end <= seconds),
      'each lies within the audio',
    );
  });
}
