/** Text that changes its language: the default voice gives each sentence to an engine for its language, a named voice speaks all. */
import t from '../../fixtures/tap.js';
import { resolveOutput } from '../../../codecs/formats.js';
import { bytesOf } from '../../../contracts/audio.js';
import type { ServiceError } from '../../../contracts/errors.js';
import type {
  SpeechOptions,
  SpokenPiece,
  SynthesisRequest,
  TextPart,
} from '../../../contracts/ports/speech/speech.js';
import type { TtsEngine, TtsRequest } from '../../../contracts/ports/speech/tts.js';
import { hasSound } from '../../../engines/backends/sound.js';
import { espeakDescription } from '../../../engines/backends/espeak/description.js';
import { fliteDescription } from '../../../engines/backends/flite/description.js';
import { createRegistry } from '../../../engines/registry.js';
import { createSpeech } from '../../../engines/synthesize.js';
import { engineVoices, voiceId } from '../../../engines/voices.js';
import { exactly } from '../../fixtures/exactly.js';

const { signal } = new AbortController();
const caller = { workspaceId: 'w', keyId: 'k' };

const options: SpeechOptions = {
  model: 's2.1-pro',
  voice: '',
  references: [],
  output: resolveOutput({ format: 'pcm', sampleRate: 16_000 }),
  latency: 'normal',
  speed: 1,
  volume: 0,
  normalizeLoudness: false,
  chunkLength: 300,
  sampling: {},
};

/** An engine that speaks Polish and reports no times of words. */
const polish = {
  name: 'polish',
  capabilities: { ...fliteDescription.capabilities, languages: ['pl'], timing: 'none' as const },
  voices: [{ name: 'ewa', title: 'Ewa', languages: ['pl'] }],
};
const OURS = [fliteDescription, espeakDescription];

/** An engine that speaks one second for each text. It reports times for the text's first word. */
function engineOf(
  description: Omit<TtsEngine, 'synthesize'>,
  asked: (request: TtsRequest) => void,
): TtsEngine {
  return {
    ...description,
    async *synthesize(request) {
      await Promise.resolve();
      asked(request);
      const [text = ''] = request.text.split(' ');
      if (request.timing) yield { kind: 'word', word: { text, start: 0, end: 1 } };
      if (!hasSound(request.text)) return;
      yield { kind: 'audio', samples: new Int16Array(description.capabilities.sampleRate).fill(100) };
    },
  };
}

interface Said {
  /** Spoken texts, each after its language. */
  readonly said: readonly string[];
  readonly speeds: readonly number[];
  readonly seconds: number;
  readonly pieces: readonly SpokenPiece[];
  readonly error: Partial<ServiceError> | undefined;
}

async function say(
  text: string | AsyncIterable<TextPart>,
  more: Partial<SpeechOptions> = {},
  descriptions: readonly Omit<TtsEngine, 'synthesize'>[] = OURS,
): Promise<Said> {
  const asked: TtsRequest[] = [];
  const engines = descriptions.map((each) => engineOf(each, (request) => asked.push(request)));
  const speech = createSpeech({
    registry: createRegistry({ tts: engines, stt: [] }),
    voices: engineVoices(engines),
    admission: {
      reserve: () => Promise.resolve(() => undefined),
      enter: async () => () => undefined,
      check: async () => undefined,
      use: () => undefined,
    },
    encode: async function* (pcm) {
      for await (const samples of pcm) yield bytesOf(samples);
    },
  });
  let bytes = 0;
  const pieces = new Map<number, SpokenPiece>();
  let error: Partial<ServiceError> | undefined;
  const request = { ...options, ...more, text } as SynthesisRequest;
  try {
    for await (const { audio, piece } of speech.synthesizeTimed(request, caller, signal)) {
      bytes += audio.length;
      pieces.set(piece.index, piece);
    }
  } catch (thrown) {
    error = thrown as ServiceError;
  }
  return {
    said: asked.map(({ text, language }) => `${language}: ${text}`),
    speeds: asked.map(({ speed }) => speed),
    seconds: bytes / 2 / fliteDescription.capabilities.sampleRate,
    pieces: [...pieces.values()],
    error,
  };
}

t.test('sentences in another script are spoken by a voice that reads it', async (t) => {
  const { said, seconds, pieces } = await say(
    'He said this to me. ありがとうございます。 It means thank you. Good!',
  );
  t.strictSame(said, [
    'en: He said this to me.',
    'ja: ありがとうございます。',
    'en: It means thank you. Good!',
  ]);
  t.equal(seconds, 3, 'at one rate, whatever their engines have');
  const places = pieces.map(({ at, text, words }) => [at, text, words?.[0]?.text]);
  t.strictSame(places, [
    [0, 'He said this to me.', 'He'],
    [20, 'ありがとうございます。', 'ありがとうございます。'],
    [32, 'It means thank you. Good!', 'It'],
  ]);
  t.strictSame(pieces.map(({ offset, duration }) => [offset, duration]), [[0, 1], [1, 1], [2, 1]]); // oxfmt-ignore
});

t.test('a sentence is not divided, and names are no sentences', async (t) => {
  t.strictSame((await say('「ありがとう」 means thank you.')).said, ['ja: 「ありがとう」 means thank you.']);
  t.strictSame((await say('これはペンです。Sony! とても便利です。')).said, [
    'ja: これはペンです。Sony! とても便利です。',
  ]);
});

t.test('Han is read as the text around it', async (t) => {
  t.strictSame((await say('東京大学。これはペンです。')).said, ['ja: 東京大学。これはペンです。']);
  t.strictSame((await say('This is Chinese. 东京大学。')).said, ['en: This is Chinese.', 'zh: 东京大学。']);
});

t.test(
  'in Latin letters words change the voice if they are certain and a voice speaks their language',
  async (t) => {
    const german = 'Guten Morgen, wie kann ich Ihnen heute helfen?';
    t.strictSame((await say(`This is how we begin a call. ${german} And then we wait.`)).said, [
      'en: This is how we begin a call.',
      `de: ${german}`,
      'en: And then we wait.',
    ]);
    const text = 'They say that in Warsaw. Dzień dobry, dziękuję bardzo. It is polite.';
    t.strictSame(
      (await say(text)).said,
      [`en: ${text}`],
      'nobody speaks Polish, and Latin letters are read by all',
    );
    const { pieces, said } = await say(text, {}, [...OURS, polish]);
    t.equal(said[1], 'pl: Dzień dobry, dziękuję bardzo.');
    t.strictSame(pieces.map(({ words }) => words?.length), [1, undefined, 1], 'no times, where an engine has none'); // oxfmt-ignore
    t.strictSame(
      (await say(`Hallo! ${german}`)).said,
      [`de: Hallo! ${german}`],
      'the whole text says what is likely',
    );
  },
);

t.test('a requested voice or language speaks all of the text or none', async (t) => {
  const text = 'They say it in Japan. ありがとうございます。';
  const japanese = await say(text, { voice: voiceId('espeak', 'ja') });
  t.strictSame(japanese.said, [`ja: ${text}`]);
  const english = await say(text, { voice: voiceId('flite', 'rms') });
  exactly(t, [english.said, english.error], [[], { code: 'voice_language', status: 400 }]);
  const asked = await say(text, { language: 'en' });
  exactly(t, [asked.said, asked.error], [[], { code: 'language_unavailable', status: 400 }]);
});

t.test('one sentence that no voice speaks refuses the text, before the first sound', async (t) => {
  const { said, error } = await say(`${'Some English words. '.repeat(99)}これはペンです。 Привет, мир.`);
  exactly(t, [said, error?.message], [[], /^Language not supported: .* Cyrillic/]);
});

async function* arriving(...texts: string[]): AsyncGenerator<TextPart> {
  for (const text of texts) {
    yield { kind: 'text', text };
    yield { kind: 'flush' };
    await Promise.resolve();
  }
}

t.test('arriving text changes the voice as well, and fails if no voice speaks it', async (t) => {
  const { said, error } = await say(
    arriving('😀', 'Here it comes. ', 'ありがとう。', 'OK. ', 'So it goes on. ', 'Привет.'),
  );
  t.strictSame(said.filter((text) => /\p{L}{3}/u.test(text)), ['en: Here it comes.', 'ja: ありがとう。', 'en: So it goes on.']); // oxfmt-ignore
  t.ok(said.includes('ja: OK.'), 'a word is no sentence');
  exactly(t, error, { code: 'language_unavailable' });
});

t.test('ambiguous text is in its likely language', async (t) => {
  const likely = async (likelyLanguage: string, text: string) => (await say(text, { likelyLanguage })).said;
  t.strictSame(await likely('de', 'Berlin. 12. London.'), ['de: Berlin. 12. London.']);
  t.strictSame(await likely('de', 'Das ist so. これはペンです。'), [
    'de: Das ist so.',
    'ja: これはペンです。',
  ]);
  t.strictSame(await likely('ja', '東京'), ['ja: 東京']);
  t.strictSame(await likely('ja', 'Sony'), ['ja: Sony']);
  const named = await say('これは', { likelyLanguage: 'en', voice: voiceId('flite', 'slt') });
  exactly(t, named.error, { code: 'voice_language' }, 'a voice that was asked for speaks that one alone');
});

t.test('all parts have the pace of the request', async (t) => {
  const { speeds } = await say('Here it comes. ありがとう。', { speed: 1.5 });
  t.strictSame(speeds, [1.5, 1.5]);
});
