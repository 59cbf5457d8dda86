/** The synthesis fields of the native API, in any protocol: their bounds, their sources, and what engines get of them. */
import t from '../../../fixtures/tap.js';
import { resolveOutput } from '../../../../codecs/formats.js';
import { checker } from '../../../../contracts/schemas/check.js';
import { NativeOptions, toNativeSynthesis } from '../../../../contracts/schemas/native-options.js';
import {
  mergeOptions,
  optionsFromHeaders,
  optionsFromObject,
  withDecodedReferences,
} from '../../../../contracts/schemas/option-sources.js';
import { exactly, throwsExactly } from '../../../fixtures/exactly.js';
import { standIn } from '../../../fixtures/stand-in.js';

const PATH = 'provider.options.svc';
const read = (options: unknown): NativeOptions => optionsFromObject(options, PATH);
const fromHeaders = (headers: Record<string, string>): NativeOptions =>
  optionsFromHeaders(new Map(Object.entries(headers)), 'X-Svc-');

const refused = (param: string) => ({ code: 'invalid_request', param });

const many = (count: number, item: string): readonly string[] => Array.from({ length: count }, () => item);

type Row = readonly [field: string, good: readonly unknown[], bad: readonly unknown[]];

/** docs/contract/native.md 1.2, at the edges of each bound. */
const BOUNDS: readonly Row[] = [
  ['reference_id', ['', 'a', `A-z_9${'a'.repeat(123)}`, ['a'], many(16, 'a')], ['a b', 'ä', 'a'.repeat(129), [], many(17, 'a'), [''], ['a b'], ['a'.repeat(129)], true]],
  ['temperature', [0, 1], [-0.01, 1.01, '1']],
  ['top_p', [0, 1], [-0.01, 1.01]],
  ['repetition_penalty', [0, 10], [-0.01, 10.01]],
  ['chunk_length', [100, 300], [99, 301, 100.5]],
  ['min_chunk_length', [0, 100], [-1, 101, 0.5]],
  ['early_stop_threshold', [0, 1], [-0.01, 1.01]],
  ['max_new_tokens', [1, 1_000_000], [0, 1_000_001, 1.5]],
  ['features', [[], many(32, 'a')], [many(33, 'a'), [1], 'a']],
  ['mp3_bitrate', [64, 128, 192], [96, '128']],
  ['latency', ['low', 'normal', 'balanced'], ['fast', 1]],
  ['normalize', [true, false], ['perhaps', 2]],
  ['condition_on_previous_chunks', [true, false], ['perhaps']],
]; // oxfmt-ignore

t.test('each option has its bounds, and both ends are within', async (t) => {
  for (const [field, good, bad] of BOUNDS) {
    for (const value of good) t.strictSame(read({ [field]: value }), { [field]: value }, field);
    for (const value of bad)
      throwsExactly(t, 
        () => read({ [field]: value }),
        standIn({ code: 'invalid_request', param: new RegExp(`^${PATH}.${field}(\\.0)?$`) }),
        `${field}: ${JSON.stringify(value).slice(0, 40)}`,
      );
  }
  for (const [field, good, bad] of [['speed', [0.5, 2], [0.49, 2.01]], ['volume', [-20, 20], [-20.5, 20.5]], ['normalize_loudness', [true, false], ['perhaps']]] as const) {
    for (const value of good) t.strictSame(read({ prosody: { [field]: value } }), { prosody: { [field]: value } });
    for (const value of bad) throwsExactly(t, () => read({ prosody: { [field]: value } }), refused(`${PATH}.prosody.${field}`));
  }
}); // oxfmt-ignore

t.test('parts of prosody that nobody knows do no harm', async (t) => {
  exactly(t, read({ prosody: { speed: 2, pitch: 1 } }), { prosody: { speed: 2 } });
});

t.test('everything that was asked for reaches the engine, and nothing else', async (t) => {
  const sampling = {
    temperature: 0,
    top_p: 0.5,
    repetition_penalty: 1.1,
    min_chunk_length: 0,
    condition_on_previous_chunks: false,
    early_stop_threshold: 0,
    max_new_tokens: 9,
    features: [],
  };
  t.strictSame(toNativeSynthesis({ ...sampling, normalize: false, latency: 'low' }, { latency: 'normal' }), {
    voice: '',
    references: [],
    latency: 'low',
    speed: 1,
    volume: 0,
    chunkLength: 300,
    normalize: false,
    sampling: {
      temperature: 0,
      topP: 0.5,
      repetitionPenalty: 1.1,
      minChunkLength: 0,
      conditionOnPreviousChunks: false,
      earlyStopThreshold: 0,
      maxNewTokens: 9,
      features: [],
    },
  });
  const prosody = { speed: 2, volume: -3, normalize_loudness: false };
  const asked = toNativeSynthesis({ prosody, chunk_length: 150 }, { latency: 'normal', speed: 0.5 });
  exactly(t, asked, { latency: 'normal', speed: 2, volume: -3, normalizeLoudness: false, chunkLength: 150 });
  t.strictSame([asked.sampling, 'normalize' in asked], [{}, false]);
  t.equal(toNativeSynthesis({}, { latency: 'normal', speed: 0.5 }).speed, 0.5);
});

t.test('the defaults that are described are those that apply', async (t) => {
  const { properties } = NativeOptions;
  const described = { ...properties, ...properties.prosody.properties };
  const defaultOf = (name: keyof typeof described) => (described[name] as { default?: unknown }).default;
  const { speed, volume, normalizeLoudness, chunkLength } = toNativeSynthesis({}, { latency: 'normal' });
  t.strictSame(
    [defaultOf('speed'), defaultOf('volume'), defaultOf('normalize_loudness'), defaultOf('chunk_length')],
    [speed, volume, normalizeLoudness, chunkLength],
  );
  t.strictSame(defaultOf('mp3_bitrate'), resolveOutput({ format: 'mp3' }).mp3Bitrate);
  t.strictSame([defaultOf('latency'), defaultOf('opus_bitrate')], ['normal', -1000]);
});

t.test('a bitrate of Opus is in bit/s, in kbit/s, or automatic', async (t) => {
  const check = checker(NativeOptions);
  for (const opus_bitrate of [-1000, 24_000, 32_000, 48_000, 64_000, 24, 32, 48, 64])
    t.ok(check({ opus_bitrate }).ok, String(opus_bitrate));
  for (const opus_bitrate of [0, 25, 96_000, 24.5, '24'])
    t.notOk(check({ opus_bitrate }).ok, String(opus_bitrate));
});

t.test('a voice of the options goes before that of the protocol, which is not even looked up', async (t) => {
  const defaults = {
    latency: 'low',
    voice: () => t.fail('looked up') as never,
  } as const;
  t.equal(toNativeSynthesis({ reference_id: 'a' }, defaults).voice, 'a');
  t.equal(toNativeSynthesis({ reference_id: '' }, defaults).voice, '');
  const reference = { audio: Uint8Array.of(1), text: '' };
  t.equal(toNativeSynthesis({ references: [reference], reference_id: 'a' }, defaults).voice, 'a');
  t.equal(toNativeSynthesis({ references: [reference] }, defaults).voice, '', 'reference audio is a voice');
  t.equal(toNativeSynthesis({ references: [] }, { latency: 'low', voice: () => 'v' }).voice, 'v');
});

t.test('a header is read without the blanks around it, and an empty one is absent', async (t) => {
  const headers = { 'x-svc-temperature': ' 0.5 ', 'x-svc-top-p': '', 'x-svc-latency': ' ', 'x-svc-prosody': 'null' };
  t.strictSame(fromHeaders(headers), { temperature: 0.5 });
  t.strictSame(fromHeaders({ 'x-svc-prosody': '{"normalize_loudness":"off","speed":null}' }), {
    prosody: { normalize_loudness: false },
  });
  throwsExactly(t, () => fromHeaders({ 'x-svc-prosody': '{"speed":9}' }), refused('X-Svc-Prosody.speed'));
  t.strictSame(fromHeaders({ 'x-svc-opus-bitrate': '7' }), {}, 'Opus chooses by itself (rule 9)');
  t.strictSame(fromHeaders({ 'x-svc-reference-id': '["a","b"]' }), { reference_id: ['a', 'b'] });
  throwsExactly(t, () => fromHeaders({ 'x-svc-temperature': 'warm' }), refused('X-Svc-Temperature'));
}); // oxfmt-ignore

t.test('a voice id of digits stays text, in any other option they are a number', async (t) => {
  const options = fromHeaders({ 'x-svc-reference-id': '0123', 'x-svc-max-new-tokens': '123' });
  t.strictSame(options, { reference_id: '0123', max_new_tokens: 123 });
  t.strictSame(fromHeaders({ 'x-svc-reference-id': '123' }), { reference_id: '123' });
});

t.test('a header that opens more than a thousand brackets is no JSON', async (t) => {
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const features = (text: string) => () => fromHeaders({ 'x-svc-features': text });
  const long = many(20, 'a'.repeat(200));
  t.strictSame(features(JSON.stringify(long))(), { features: long }, 'however long it is');
  throwsExactly(t, features(nested(1000)), refused('X-Svc-Features.0'), 'read, and of another type');
  for (const text of [nested(1001), '{'.repeat(1001), nested(100_000)])
    throwsExactly(t, features(text), { ...refused('X-Svc-Features'), message: /must be of type array/ });
});

t.test('a fault at the top level of a body is named as the client spelled it', async (t) => {
  throwsExactly(t, () => optionsFromObject({ latency: 'fast' }, ''), refused('latency'));
});

t.test('the stronger source wins for each option, and for each part of prosody', async (t) => {
  const [strong, weak] = [
    { latency: 'low', prosody: { speed: 2 } },
    { latency: 'normal', temperature: 0, prosody: { speed: 1, volume: 3 } },
  ] as const;
  t.strictSame(mergeOptions(strong, {}, weak), {
    latency: 'low',
    temperature: 0,
    prosody: { speed: 2, volume: 3 },
  });
  const own = JSON.parse('{"__proto__":{"latency":"low"}}') as NativeOptions;
  t.equal(mergeOptions(own).latency, undefined, 'a member __proto__ is no prototype');
});

t.test('reference audio is base64 in JSON; a fault in it is named as the client spelled the field', async (t) => {
  const good = { audio: 'QUJD', text: 'a', more: 1 };
  const references = [{ audio: Buffer.from('ABC'), text: 'a' }];
  t.strictSame(read({ references: [good] }), { references });
  t.strictSame(fromHeaders({ 'x-svc-references': JSON.stringify([good]) }), { references });
  t.strictSame(read({ references: [] }), { references: [] });
  const message = 'Reference Audio is not valid, please check your reference audio';
  for (const bad of ['QUJD', good, [good, 'x'], [null], [{ audio: 7, text: 'a' }], [{ audio: '!!', text: 'a' }], [{ audio: '', text: 'a' }], [{ audio: 'QUJD' }], [[good]]]) {
    throwsExactly(t, () => read({ references: bad }), { ...refused(`${PATH}.references`), message }, JSON.stringify(bad));
    throwsExactly(t, () => fromHeaders({ 'x-svc-references': JSON.stringify(bad) }), { ...refused('X-Svc-References'), message });
  }
  throwsExactly(t, () => withDecodedReferences({ references: [{}] }, 'input_references'), { ...refused('input_references'), message });
}); // oxfmt-ignore
