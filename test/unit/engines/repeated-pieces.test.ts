/** Short pieces of agents' speech, for which the engine is asked twice and no more (engines/repeated-pieces.ts). */
import t from '../../fixtures/tap.js';
import { createEncode } from '../../../codecs/encode/encoder.js';
import { encodeJobs } from '../../../codecs/encode/jobs.js';
import { resolveOutput } from '../../../codecs/formats.js';
import { UNBOUNDED_MEMORY } from '../../../contracts/ports/accounts/memory.js';
import { KEPT } from '../../../contracts/ports/speech/kept-speech.js';
import type { SpeechOptions, TimedAudio } from '../../../contracts/ports/speech/speech.js';
import type { TtsEngine } from '../../../contracts/ports/speech/tts.js';
import type { VoiceLibrary } from '../../../contracts/ports/speech/voices.js';
import { createToneSpeech } from '../../../engines/backends/tone/index.js';
import { SpeechShelves } from '../../../engines/kept-speech.js';
import { createRegistry } from '../../../engines/registry.js';
import { createSpeech } from '../../../engines/synthesize.js';
import { engineVoices } from '../../../engines/voices.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { rejectsExactly } from '../../fixtures/exactly.js';
import { inProcess } from '../../fixtures/in-process.js';

const OPTIONS: SpeechOptions = {
  model: 's1',
  voice: '',
  references: [],
  output: resolveOutput({ format: 'pcm', sampleRate: undefined }),
  latency: 'low',
  speed: 1,
  volume: 0,
  // The level of a sound follows the lengths in which it comes.
  normalizeLoudness: false,
  chunkLength: 200,
  sampling: {},
  keepsRepeated: true,
};
const WORDS = 'Sure. I will look for your order at once.';

/** An engine that notes what it is asked to say. */
function noting(asked: string[]): TtsEngine {
  const tone = createToneSpeech();
  return {
    ...tone,
    synthesize: (request, signal) => {
      asked.push(request.text);
      return tone.synthesize(request, signal);
    },
  };
}

function scene(library?: VoiceLibrary, engine?: (asked: string[]) => TtsEngine) {
  const asked: string[] = [];
  const used: number[] = [];
  const tts = (engine ?? noting)(asked);
  const registry = createRegistry({ tts: [tts], stt: [] });
  const keptSpeech = new SpeechShelves(UNBOUNDED_MEMORY, new SimulatedClock());
  const speech = createSpeech({
    registry,
    voices: library ?? engineVoices([tts]),
    admission: {
      reserve: () => Promise.resolve(() => undefined),
      enter: () => Promise.resolve(() => undefined),
      check: () => Promise.resolve(),
      use: (_workspace, _kind, amount) => void used.push(amount),
    },
    encode: createEncode(inProcess(encodeJobs)),
    keptSpeech,
  });
  async function say(text: string, options: Partial<SpeechOptions> = {}, workspaceId = 'w') {
    const request = { ...OPTIONS, ...options, text };
    const caller = { workspaceId, keyId: 'k' };
    const heard: TimedAudio[] = [];
    for await (const chunk of speech.synthesizeTimed(request, caller, new AbortController().signal))
      heard.push(chunk);
    return heard;
  }
  return { say, asked, used, registry, keptSpeech };
}

const soundOf = (heard: readonly TimedAudio[]) => Buffer.concat(heard.map(({ audio }) => audio));
/** Each piece as it is known at last. */
const piecesOf = (heard: readonly TimedAudio[]) => [
  ...new Map(heard.map(({ piece }) => [piece.index, piece])).values(),
];
const saysTwice = async ({ say }: ReturnType<typeof scene>, ...more: [Partial<SpeechOptions>?, string?]) => {
  await say(WORDS, ...more);
  return say(WORDS, ...more);
};

t.test('from the third time on a short piece is as it was, and no engine is asked', async (t) => {
  const world = scene();
  const made = await saysTwice(world);
  const both = world.asked.slice(0, world.asked.length / 2);
  t.ok(both.length > 1, 'a first clause of its own');
  t.strictSame(world.asked, [...both, ...both]);
  const kept = await world.say(WORDS);
  t.equal(world.asked.length, 2 * both.length, 'nobody was asked');
  t.ok(soundOf(kept).equals(soundOf(made)));
  const times = (heard: readonly TimedAudio[]) =>
    piecesOf(heard).map(({ text, at, offset, duration, complete, words }) => ({
      ...{ text, at, offset, duration, complete, words },
    }));
  t.strictSame(times(kept), times(made), 'with the same times');
  t.strictSame(
    piecesOf(made).map(({ by }) => by?.engine),
    both.map(() => 'tone'),
  );
  t.strictSame(
    piecesOf(kept).map(({ by }) => by),
    both.map(() => KEPT),
    'done by no engine',
  );
  t.strictSame(world.used, [WORDS.length, WORDS.length, WORDS.length], 'counted as ever');
});

t.test('what sounds otherwise is another piece', async (t) => {
  const world = scene();
  await saysTwice(world);
  const before = world.asked.length / 2;
  const others: readonly [string, Partial<SpeechOptions>, string?][] = [
    ['another workspace', {}, 'other'],
    ['another language', { likelyLanguage: 'de' }],
    ['numbers as they are', { normalize: false }],
  ];
  for (const [name, options, workspace] of others) {
    world.asked.length = 0;
    await world.say(WORDS, options, workspace);
    t.equal(world.asked.length, before, name);
  }
});

t.test('requests that are no agent’s, and long pieces, are never kept', async (t) => {
  const world = scene();
  await saysTwice(world, { keepsRepeated: false });
  t.equal(world.keptSpeech.bytes, 0);
  const long = `${'word '.repeat(15)}sentence.`;
  t.ok(long.length > 80 && long.length < 200);
  for (let time = 0; time < 3; time++) await world.say(long, { latency: 'normal' });
  t.equal(world.keptSpeech.bytes, 0);
  t.equal(world.asked.filter((text) => text.includes('sentence')).length, 3);
});

t.test('other reference audio, or another engine, is another voice', async (t) => {
  const asked: string[] = [];
  const cloning = () => {
    const engine = noting(asked);
    return { ...engine, capabilities: { ...engine.capabilities, cloning: true } };
  };
  let references = [{ audio: new Uint8Array(8), text: 'hello' }];
  const world = scene({ findVoice: () => Promise.resolve({ kind: 'cloned', references }) }, cloning);
  await saysTwice(world, { voice: 'ada' });
  const twice = asked.length;
  await world.say(WORDS, { voice: 'ada' });
  t.equal(asked.length, twice, 'kept');
  references = [{ audio: new Uint8Array(9), text: 'hello' }];
  await world.say(WORDS, { voice: 'ada' });
  t.equal(asked.length, twice * 1.5, 'the voice was changed');
  world.registry.use({ tts: [cloning()], stt: [] });
  await world.say(WORDS, { voice: 'ada' });
  t.equal(asked.length, twice * 2, 'the engines were');
});

t.test('a piece whose engine fails is not kept', async (t) => {
  const failing = (asked: string[]): TtsEngine => {
    const engine = noting(asked);
    return {
      ...engine,
      async *synthesize(request, signal) {
        yield* engine.synthesize(request, signal);
        throw new Error('away');
      },
    };
  };
  const world = scene(undefined, failing);
  for (let time = 0; time < 3; time++) await rejectsExactly(t, world.say('Sure.'), { message: 'away' });
  t.equal(world.asked.length, 3);
  t.equal(world.keptSpeech.bytes, 0);
});
