/** Voice selection: voices and languages of configured engines, before there is a text, and for a text. */
import t from '../../fixtures/tap.js';
import { resolveOutput } from '../../../codecs/formats.js';
import { bytesOf } from '../../../contracts/audio.js';
import type { ServiceError } from '../../../contracts/errors.js';
import { LANGUAGES } from '../../../contracts/speech/languages.js';
import type { Admission } from '../../../contracts/ports/accounts/identity.js';
import type {
  SpeechOptions,
  SynthesisRequest,
  TextPart,
  VoiceWish,
} from '../../../contracts/ports/speech/speech.js';
import type { TtsEngine } from '../../../contracts/ports/speech/tts.js';
import { hasSound } from '../../../engines/backends/sound.js';
import { espeakDescription } from '../../../engines/backends/espeak/description.js';
import { fliteDescription } from '../../../engines/backends/flite/description.js';
import { createRegistry } from '../../../engines/registry.js';
import { createSpeech } from '../../../engines/synthesize.js';
import { engineVoices, voiceId } from '../../../engines/voices.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';

const neverAborted = new AbortController().signal;
const caller = { workspaceId: 'w', keyId: 'k' };
const free: Admission = {
  reserve: () => Promise.resolve(() => undefined),
  enter: () => Promise.resolve(() => undefined),
  check: () => Promise.resolve(),
  use: () => undefined,
};

/** An engine with these capabilities that yields no audio. */
const silent = (description: Omit<TtsEngine, 'synthesize'>): TtsEngine => ({
  ...description,
  async *synthesize() {},
});

const speechOf = (...engines: TtsEngine[]) =>
  createSpeech({
    registry: createRegistry({ tts: engines, stt: [] }),
    voices: engineVoices(engines),
    admission: free,
    encode: async function* (pcm) {
      for await (const samples of pcm) yield bytesOf(samples);
    },
  });

const flite = silent(fliteDescription);
const espeak = silent(espeakDescription);

const german: TtsEngine = {
  ...flite,
  name: 'sherpa/thorsten',
  capabilities: { ...flite.capabilities, languages: ['de'] },
  voices: [{ name: 'thorsten', title: 'thorsten', languages: ['de'] }],
};

t.test('alloy is the first voice that speaks English, else the first', async (t) => {
  exactly(t, await engineVoices([german, flite]).findVoice('alloy', 'w'), { engine: 'flite' });
  exactly(t, await engineVoices([german]).findVoice('alloy', 'w'), { engine: 'sherpa/thorsten' });
});

t.test('the name of an engine with several models stands for all of them', async (t) => {
  const routes = { s1: ['sherpa'], '*': ['flite', 'sherpa/thorsten'] };
  const anna = { ...german, name: 'sherpa/anna' };
  const registry = createRegistry({ tts: [german, flite, anna], stt: [], routes });
  const names = (model: 's1' | 's2.1-pro') => registry.speakersFor(model).map(({ name }) => name);
  t.strictSame(names('s1'), ['sherpa/thorsten', 'sherpa/anna']);
  t.strictSame(names('s2.1-pro'), ['flite', 'sherpa/thorsten']);
});

t.test('a voice is checked before there is anything to say', async (t) => {
  const speech = speechOf(flite, espeak);
  const check = (wish: Partial<VoiceWish>) =>
    speech.checkVoice({ model: 's2.1-pro', voice: '', ...wish }, caller);
  const german = voiceId('espeak', 'de');
  const fine: Partial<VoiceWish>[] = [
    {},
    { voice: 'default', language: 'ja' },
    { voice: 'alloy' },
    { voice: german },
    { voice: german, language: 'de' },
  ];
  for (const wish of fine) await t.resolves(check(wish), JSON.stringify(wish));
  const refused: [Partial<VoiceWish>, string][] = [
    [{ voice: 'Alloy' }, 'voice_not_found'],
    [{ voice: 'nobody', language: 'en' }, 'voice_not_found'],
    [{ voice: german, language: 'ja' }, 'voice_language'],
    [{ voice: voiceId('flite', 'rms'), language: 'de' }, 'voice_language'],
  ];
  for (const [wish, code] of refused) await rejectsExactly(t, check(wish), { code }, JSON.stringify(wish));
  await rejectsExactly(
    t,
    speechOf(flite).checkVoice({ model: 's1', voice: '', language: 'de' }, caller),
    { code: 'language_unavailable' },
    'the default voice speaks what any engine speaks',
  );
});

t.test('a checked voice tells whether its engine follows style tags', async (t) => {
  const acting = { ...espeak, capabilities: { ...espeak.capabilities, styleTags: true } };
  const check = (wish: Partial<VoiceWish>) =>
    speechOf(flite, acting).checkVoice({ model: 's2.1-pro', voice: '', ...wish }, caller);
  t.strictSame(await check({ language: 'ja' }), { styleTags: true });
  t.strictSame(await check({ language: 'en' }), { styleTags: false }, 'the default voice: by the language');
  t.strictSame(await check({ voice: voiceId('espeak', 'de') }), { styleTags: true });
  t.strictSame(await speechOf(flite).checkVoice({ model: 's1', voice: '' }, caller), { styleTags: false });
});

/** An engine that yields one sample for each text, and records the texts. */
function told(description: Omit<TtsEngine, 'synthesize'>) {
  const texts: string[] = [];
  const engine: TtsEngine = {
    ...description,
    async *synthesize({ text }) {
      await Promise.resolve();
      texts.push(text);
      if (hasSound(text)) yield { kind: 'audio', samples: new Int16Array(100) };
    },
  };
  return { engine, texts };
}

const capabilities = (languages: readonly string[], more: Partial<TtsEngine['capabilities']> = {}) => ({
  ...fliteDescription.capabilities,
  timing: 'none' as const,
  languages,
  ...more,
});
const russian = {
  name: 'piper',
  capabilities: capabilities(['ru']),
  voices: [{ name: 'irina', title: 'Irina', languages: ['ru'] }],
};
const service = {
  name: 'service',
  capabilities: capabilities(LANGUAGES, { anyScript: true }),
  voices: [{ name: 'nova', title: 'Nova', languages: LANGUAGES }],
};

const options: SpeechOptions = {
  model: 's2.1-pro',
  voice: '',
  references: [],
  output: resolveOutput({ format: 'pcm', sampleRate: 16_000 }),
  latency: 'balanced',
  speed: 1,
  volume: 0,
  normalizeLoudness: false,
  chunkLength: 300,
  sampling: {},
};

async function say(
  descriptions: readonly Omit<TtsEngine, 'synthesize'>[],
  text: string | AsyncIterable<TextPart>,
  more: Partial<SpeechOptions> = {},
) {
  const engines = descriptions.map(told);
  const speech = speechOf(...engines.map(({ engine }) => engine));
  let bytes = 0;
  const request = { ...options, ...more, text } as SynthesisRequest;
  const speaking = (async () => {
    for await (const audio of speech.synthesize(request, caller, neverAborted)) bytes += audio.length;
  })();
  const error = await speaking.then(
    () => undefined,
    (thrown: unknown) => thrown as ServiceError,
  );
  return { error, bytes, texts: engines.map(({ texts }) => texts.join('|')) };
}

const SCRIPTS: readonly (readonly [string, string, string])[] = [
  ['Cyrillic', 'Привет, мир', 'Hello Привет'],
  ['Arabic', 'مرحبا بالعالم', 'Hello مرحبا'],
  ['Hebrew', 'שלום עולם', 'Hello שלום'],
  ['Greek', 'Γειά σου Κόσμε', 'Hello κόσμε'],
  ['Thai', 'สวัสดีชาวโลก', 'Hello สวัสดี'],
  ['Devanagari', 'नमस्ते दुनिया', 'Call १२३'],
  ['Georgian', 'გამარჯობა', 'Hello გამარჯობა'],
  ['Arabic', '٣٤٥', 'Room ٣'],
];

t.test(
  'text in a script that nobody reads is refused before the first sound, alone and among other text',
  async (t) => {
    for (const [script, ...texts] of SCRIPTS) {
      for (const text of texts) {
        const { error, bytes, texts: given } = await say([fliteDescription, espeakDescription], text);
        exactly(t, error, { code: 'language_unavailable', status: 400 }, text);
        t.match(error?.message, new RegExp(`^Language not supported: .*${script}`), text);
        t.same([bytes, given], [0, ['', '']], 'no engine was asked');
      }
    }
    const cherokee = await say([fliteDescription], 'Hello ᏣᎳᎩ');
    exactly(t, cherokee.error, { code: 'language_unavailable', message: /script of this text/ });
    const late = `${'Many words of English. '.repeat(10_000)}Привет.`;
    exactly(t, await say([fliteDescription], late), { error: { code: 'language_unavailable' }, bytes: 0 });
  },
);

t.test(
  'a voice is not given what it would leave out, whoever names it and whatever the hint says',
  async (t) => {
    const voice = voiceId('espeak', 'de');
    exactly(t, (await say([espeakDescription], 'Guten Tag, Москва', { voice })).error, {
      code: 'voice_language',
      message: /^Language not supported: this voice cannot read Cyrillic/,
    });
    exactly(t, (await say([espeakDescription], '你好', { language: 'en' })).error, {
      code: 'language_unavailable',
    });
    exactly(t, (await say([espeakDescription], 'Hello', { voice: voiceId('espeak', 'ja') })).error, {
      code: 'voice_language',
    });
  },
);

t.test('punctuation, symbols, emoji and Latin letters belong to every script', async (t) => {
  const fine = [
    'Hello 😀 — “world”… ½ № 5 €',
    '我用 iPhone 打电话。',
    'コーヒーを1杯',
    '한국어 漢字 OK',
    '東京',
    'Ａ１',
    'naïve ß œuvre',
  ];
  for (const text of fine)
    t.equal((await say([fliteDescription, espeakDescription], text)).error, undefined, text);
});

t.test(
  'engines of other languages read their scripts, services that list no language read all',
  async (t) => {
    t.same((await say([fliteDescription, russian], 'Привет, iPhone')).texts, ['', 'Привет, iPhone']);
    t.same((await say([fliteDescription, russian], 'Hello')).texts, ['Hello', '']);
    t.same((await say([fliteDescription, russian], 'Привет', { language: 'ru' })).texts, ['', 'Привет']);
    exactly(t, (await say([russian], 'Привет 你好')).error, { code: 'language_unavailable' });
    for (const text of ['Привет 你好', 'ᏣᎳᎩ', 'สวัสดี'])
      t.same((await say([fliteDescription, service], text)).texts, ['', text], text);
    t.same(
      (await say([fliteDescription, service], 'Hello')).texts,
      ['Hello', ''],
      'in the order of preference',
    );
  },
);

t.test('numbers and names tell no language: a voice that is named reads them in its own', async (t) => {
  const voice = voiceId('espeak', 'cmn');
  for (const text of ['123', '22:30', '25%', 'OK', 'iPhone 15'])
    t.same((await say([fliteDescription, espeakDescription], text, { voice })).texts, ['', text]);
  t.same(
    (await say([fliteDescription, espeakDescription], '22:30')).texts,
    ['22:30', ''],
    'no voice is named',
  );
  t.same((await say([russian], '22:30')).texts, ['22:30'], 'nobody speaks another language');
  exactly(t, (await say([russian], 'Hello')).error, { code: 'language_unavailable' });
  exactly(t, (await say([espeakDescription], '22:30', { voice, language: 'de' })).error, {
    code: 'voice_language',
  });
});

t.test('what stands in a tag is in no script', async (t) => {
  const text = 'I <phoneme alphabet="ipa" ph="θɪŋk">think</phoneme> so.';
  t.same((await say([fliteDescription], text)).texts, ['I think so.']);
});

t.test('the default voice speaks the language of a text, which its words tell', async (t) => {
  const spokenBy = async (text: string, more: Partial<SpeechOptions> = {}) => {
    const { texts, error } = await say([fliteDescription, espeakDescription], text, more);
    return error ? (error as Partial<ServiceError>).code : texts.findIndex((each) => each !== '');
  };
  t.equal(await spokenBy('Your order was sent this morning.'), 0);
  t.equal(await spokenBy('Ihre Bestellung wurde heute verschickt.'), 1);
  t.equal(await spokenBy('Zoë Müller lives in São Paulo.'), 0);
  t.equal(
    await spokenBy('Vorrei un tavolo per due, grazie.'),
    'language_unavailable',
    'nobody speaks Italian',
  );
  t.equal(await spokenBy('Un momento, per favore.'), 0, 'too little to refuse it');
  t.equal(
    await spokenBy('Vorrei un tavolo per due, grazie.', { language: 'en' }),
    0,
    'who says the language, gets it',
  );
  t.equal(await spokenBy('Ihre Bestellung wurde heute verschickt.', { voice: voiceId('flite', 'rms') }), 0);
});

t.test('where nobody speaks English, Latin letters are read by whoever is written in them', async (t) => {
  const german = { ...russian, name: 'de', voices: [{ name: 'eva', title: 'Eva', languages: ['de'] }] };
  t.same((await say([russian, german], 'Guten Tag')).texts, ['', 'Guten Tag']);
  exactly(t, (await say([russian], 'Guten Tag')).error, { code: 'language_unavailable' });
});

async function* parts(...texts: string[]): AsyncGenerator<TextPart> {
  for (const text of texts) {
    yield { kind: 'text', text };
    yield { kind: 'flush' };
    await Promise.resolve();
  }
}

t.test('a text that arrives may begin in Latin letters, as one that is there may', async (t) => {
  const voice = voiceId('espeak', 'ja');
  const whole = await say([fliteDescription, espeakDescription], 'Hello! これはペンです。', { voice });
  t.same(whole.texts, ['', 'Hello!|これはペンです。']);
  const arriving = await say([fliteDescription, espeakDescription], parts('Hello! ', 'これはペンです。'), {
    voice,
  });
  t.same([arriving.error, arriving.texts], [undefined, whole.texts]);
});

t.test('text that arrives is checked piece by piece, and what was complete before is spoken', async (t) => {
  const half = await say([fliteDescription], parts('Hello there. ', 'Привет. ', 'Bye.'));
  exactly(t, half.error, { code: 'language_unavailable' });
  t.same(half.texts, ['Hello there.']);
  t.ok(half.bytes > 0);
  const smile = await say([fliteDescription, espeakDescription], parts('😀', '你好。', '!'));
  t.same([smile.error, smile.texts[0]], [undefined, ''], 'what can be heard decides who speaks');
  t.match(smile.texts[1], /你好。/);
});

t.test(
  'a text of which nothing can be heard is a short silence, and one that is empty is nothing',
  async (t) => {
    for (const text of ['😀', '…', '?!', '👍🏽 ❤️', '**', '<br>']) {
      const { error, bytes } = await say([fliteDescription], text);
      t.same([error, bytes], [undefined, 0.2 * fliteDescription.capabilities.sampleRate * 2], text);
    }
    for (const text of ['', ' \n'])
      t.same(await say([fliteDescription], text), { error: undefined, bytes: 0, texts: [''] });
  },
);
