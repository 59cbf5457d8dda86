/** From protocol B's wire to the speech ports, without a server: formats, mapping, refusals, voices, errors. */
import t from '../../../../fixtures/tap.js';
import { ERRORS, type ErrorCode, ServiceError } from '../../../../../contracts/errors.js';
import type { Voice } from '../../../../../contracts/ports/speech/voices.js';
import { B_TRANSCRIPTION } from '../../../../../contracts/options/protocol-b.js';
import { refuseOptions } from '../../../../../contracts/options/reading.js';
import { defaultVocabulary } from '../../../../../contracts/vocabulary.js';
import { languageCode } from '../../../../../gateway/dialects/protocol-b/catalogue.js';
import { errorReply } from '../../../../../gateway/dialects/protocol-b/errors.js';
import { outputFormat } from '../../../../../gateway/dialects/protocol-b/output-formats.js';
import { refuseReferences, speechOptions } from '../../../../../gateway/dialects/protocol-b/speech-params.js';
import { formFields } from '../../../../../gateway/dialects/protocol-b/transcription.js';
import { pageOf, voiceQuery } from '../../../../../gateway/dialects/protocol-b/voice-search.js';
import { providerOptionsOf } from '../../../../../gateway/server/bodies/form-options.js';
import { exactly, throwsExactly } from '../../../../fixtures/exactly.js';

const mp3 = (mp3Bitrate: number, sampleRate = 44_100) => ({ format: 'mp3', sampleRate, mp3Bitrate });

t.test('output_format: every name of the protocol, and what becomes of it (rules 8 to 10)', async (t) => {
  const named: Record<string, object> = {
    '': mp3(128),
    mp3_44100: mp3(128),
    mp3_44100_32: mp3(64),
    mp3_44100_64: mp3(64),
    mp3_44100_96: mp3(128),
    mp3_44100_128: mp3(128),
    mp3_44100_192: mp3(192),
    mp3_32000_64: mp3(64, 32_000),
    pcm_8000: { format: 'pcm', sampleRate: 8000 },
    pcm_16000: { format: 'pcm', sampleRate: 16_000 },
    pcm_24000: { format: 'pcm', sampleRate: 24_000 },
    pcm_32000: { format: 'pcm', sampleRate: 32_000 },
    pcm_44100: { format: 'pcm', sampleRate: 44_100 },
    wav_8000: { format: 'wav', sampleRate: 8000 },
    wav_16000: { format: 'wav', sampleRate: 16_000 },
    wav_24000: { format: 'wav', sampleRate: 24_000 },
    wav_32000: { format: 'wav', sampleRate: 32_000 },
    wav_44100: { format: 'wav', sampleRate: 44_100 },
    opus_48000_32: { format: 'opus', sampleRate: 48_000 },
    opus_48000_64: { format: 'opus', sampleRate: 48_000 },
    opus_48000_96: { format: 'opus', sampleRate: 48_000 },
    opus_48000_128: { format: 'opus', sampleRate: 48_000 },
    opus_48000_192: { format: 'opus', sampleRate: 48_000 },
  };
  for (const [name, format] of Object.entries(named)) t.strictSame(outputFormat(name), format, name);
  const refused = [
    'ulaw_8000',
    'alaw_8000',
    'pcm_016000',
    'mp3_044100_128',
    'mp3_44100_0128',
    'mp3_22050_32',
    'mp3_24000_48',
    'mp3_44100_193',
    'mp3_44100_320',
    'mp3_44100_0',
    'pcm_22050',
    'pcm_48000',
    'pcm_16000_64',
    'wav_22050',
    'wav_48000',
    'opus_44100_64',
    'flac_44100',
    'mp3',
    'MP3_44100_128',
    'nonsense',
  ];
  for (const name of refused)
    throwsExactly(
      t,
      () => outputFormat(name),
      { code: 'unsupported_format', status: 400, param: 'output_format' },
      name,
    );
});

t.test('an exact tier in a header wins over the name, and must be a tier (rule 9)', async (t) => {
  t.strictSame(outputFormat('mp3_44100_64', { mp3_bitrate: 192 }), mp3(192));
  t.strictSame(outputFormat('mp3_44100_320', { mp3_bitrate: 128 }), mp3(128));
  const headers = { 'x-svc-mp3-bitrate': '96' };
  throwsExactly(t, () => options({}, headers), { code: 'invalid_request', param: 'X-Svc-Mp3-Bitrate' });
});

type Wish = Partial<Parameters<typeof speechOptions>[0]>;

const options = (wish: Wish, headers: Record<string, string> = {}) =>
  speechOptions({ voiceId: '', ...wish }, new Map(Object.entries(headers)), defaultVocabulary);

t.test('a request that says nothing gets the default voice, mp3 and low latency (rule 7)', async (t) => {
  const usual = {
    model: 's2.1-pro',
    voice: '',
    references: [],
    output: mp3(128),
    latency: 'low',
    speed: 1,
    volume: 0,
    chunkLength: 300,
    sampling: {},
  };
  t.strictSame(options({}), usual);
  const empty = { modelId: '', languageCode: '', outputFormat: '', fields: { voice_settings: null } };
  t.strictSame(options(empty), usual, 'empty and null are absent');
  t.strictSame(options({}, { 'x-svc-latency': 'normal' }).latency, 'normal', 'an explicit value wins');
});

t.test(
  'voice_settings: stability is 1 - temperature, speed is speed, the rest is ignored (rule 2)',
  async (t) => {
    const settings = {
      stability: 0.25,
      speed: 0.7,
      similarity_boost: 7,
      style: 'loud',
      use_speaker_boost: 'maybe',
    };
    const spoken = (voice_settings: unknown) => options({ fields: { voice_settings } });
    const given = (settings: object) => {
      const { sampling, speed } = spoken(settings);
      return { sampling, speed };
    };
    t.strictSame(given(settings), { sampling: { temperature: 0.75 }, speed: 0.7 });
    t.strictSame(given({ stability: null, speed: null }), { sampling: {}, speed: 1 });
    t.equal(spoken({ speed: 1.2 }).speed, 1.2);
    const refused: [unknown, string][] = [
      [{ speed: 0.69 }, 'voice_settings.speed'],
      [{ speed: 1.21 }, 'voice_settings.speed'],
      [{ stability: 1.1 }, 'voice_settings.stability'],
      [{ stability: 'high' }, 'voice_settings.stability'],
      ['calm', 'voice_settings'],
    ];
    for (const [voiceSettings, param] of refused)
      throwsExactly(t, () => spoken(voiceSettings), { code: 'invalid_request', status: 400, param }, param);
    throwsExactly(t, () => spoken('calm'), { message: 'voice_settings must be of type object' });
  },
);

t.test('native options come as headers and win over the fields (rule 4)', async (t) => {
  const headers = {
    'x-svc-temperature': '0.1',
    'x-svc-prosody': '{"speed":2,"volume":-3}',
    'x-svc-chunk-length': '150',
    'x-svc-top-p': '0.5',
    'x-svc-reference-id': 'alloy',
    'x-svc-references': JSON.stringify([{ audio: 'QUJD', text: 'abc' }]),
  };
  const wanted = options(
    { voiceId: 'other', fields: { voice_settings: { stability: 0.5, speed: 1.1 } } },
    headers,
  );
  exactly(t, wanted, {
    sampling: { temperature: 0.1, topP: 0.5 },
    speed: 2,
    volume: -3,
    chunkLength: 150,
    voice: 'alloy',
    references: [{ text: 'abc' }],
  });
  t.equal(wanted.references?.length, 1);
  const refusal = { code: 'unsupported_option', param: 'X-Svc-References' };
  throwsExactly(t, () => refuseReferences(wanted, defaultVocabulary), refusal, 'rule 5');
  refuseReferences(options({}), defaultVocabulary);
});

t.test('a value that a header overrules is not validated (rule 4)', async (t) => {
  const fields = { voice_settings: { stability: 5, speed: 9 }, apply_text_normalization: 'maybe' };
  const headers = {
    'x-svc-temperature': '0.5',
    'x-svc-prosody': '{"speed":1.5}',
    'x-svc-normalize': 'false',
  };
  exactly(t, options({ fields }, headers), { sampling: { temperature: 0.5 }, speed: 1.5, normalize: false });
  throwsExactly(t, () => options({ fields: { voice_settings: { stability: 5 } } }), {
    code: 'invalid_request',
  });
});

t.test('numbers of voice_settings may be text', async (t) => {
  const voice_settings = { speed: '1.2', stability: '0.25' };
  exactly(t, options({ fields: { voice_settings } }), { speed: 1.2, sampling: { temperature: 0.75 } });
  throwsExactly(t, () => options({ fields: { voice_settings: { speed: '9' } } }), {
    code: 'invalid_request',
    param: 'voice_settings.speed',
  });
});

t.test('apply_text_normalization is normalize', async (t) => {
  const normalize = (apply_text_normalization: unknown, headers = {}) =>
    options({ fields: { apply_text_normalization } }, headers).normalize;
  t.equal(normalize('on'), true);
  t.equal(normalize('off'), false);
  for (const usual of ['auto', '', null, undefined]) t.equal(normalize(usual), undefined);
  t.equal(normalize('off', { 'x-svc-normalize': 'true' }), true, 'a header wins');
  for (const wrong of ['maybe', '__proto__', 7])
    throwsExactly(t, () => normalize(wrong), { code: 'invalid_request', param: 'apply_text_normalization' });
});

t.test('options that would change the transcript are refused when set', async (t) => {
  for (const option of [
    'transcript_edit',
    'detect_speaker_roles',
    'use_speaker_library',
    'filter_background_audio',
    'secondary_languages',
  ]) {
    const refusal = { code: 'unsupported_option', param: option };
    for (const value of ['true', 'es', '["es"]', '{"a":1}']) {
      const fields = formFields(new Map([[option, [value]]]));
      throwsExactly(t, () => refuseOptions(fields, B_TRANSCRIPTION), refusal, `${option} ${value}`);
    }
    for (const unset of ['false', '', 'null', '[]'])
      refuseOptions(formFields(new Map([[option, [unset]]])), B_TRANSCRIPTION);
  }
});

t.test('models, voices and languages', async (t) => {
  const models: [string, string][] = [
    ['eleven_multilingual_v2', 's2.1-pro'],
    ['eleven_flash_v2_5', 's2.1-pro'],
    ['svc/s1', 's1'],
    ['s2-pro', 's2-pro'],
  ];
  for (const [modelId, model] of models) t.equal(options({ modelId }).model, model);
  throwsExactly(t, () => options({ modelId: 'scribe_v1' }), {
    code: 'model_not_found',
    message: /cannot speak/,
  });
  throwsExactly(t, () => options({ modelId: 'nobody' }), { code: 'model_not_found', param: 'model_id' });
  throwsExactly(t, () => options({ voiceId: 'v'.repeat(129) }), { code: 'voice_not_found' });
  t.equal(options({ languageCode: 'de' }).language, 'de');
  t.equal(options({ languageCode: 'en-US' }).language, 'en');
  t.equal(options({ languageCode: 'jpn' }).language, 'ja');
  throwsExactly(t, () => options({ languageCode: 'tlh' }), {
    code: 'language_unavailable',
    param: 'language_code',
  });
  t.equal(languageCode('PT_br'), 'pt');
});

const form = (...entries: [string, string][]): Map<string, string[]> => {
  const fields = new Map<string, string[]>();
  for (const [name, value] of entries) fields.set(name, [...(fields.get(name) ?? []), value]);
  return fields;
};

const refuse = (...entries: [string, string][]) => {
  refuseOptions(formFields(form(...entries)), B_TRANSCRIPTION);
};

/** Options of protocol B's transcription that the specification refuses, each with a value that asks for it. */
const REFUSED: Record<string, string> = {
  diarize: 'true',
  entity_redaction: 'pii',
  entity_detection: 'pii',
  entity_redaction_mode: 'redacted',
  use_multi_channel: 'true',
  additional_formats: '[{"format":"srt"}]',
  tag_audio_events: 'true',
  no_verbatim: 'True',
  transcript_edit: 'true',
  detect_speaker_roles: 'true',
  use_speaker_library: 'True',
  filter_background_audio: '1',
  secondary_languages: 'es',
  webhook: '1',
  webhook_id: 'wh_1',
  source_url: 'https://example.com/a.mp3',
  cloud_storage_url: 'https://example.com/a.mp3',
  timestamps_granularity: 'character',
};

for (const [option, value] of Object.entries(REFUSED)) {
  t.test(`transcription refuses ${option}`, async (t) => {
    throwsExactly(t, () => refuse([option, value]), {
      code: 'unsupported_option',
      status: 400,
      param: option,
    });
    for (const unset of ['false', 'False', '0', 'none', 'off', 'null', '', '[]', '{}'])
      t.doesNotThrow(() => refuse([option, unset]), `${unset} is unset (rule 3)`);
  });
}

t.test('the refusal table has no rows but those of the specification', async (t) => {
  const refused = Object.entries(B_TRANSCRIPTION).filter(([, row]) => 'refusal' in row);
  t.strictSame(refused.map(([name]) => name).sort(), [...Object.keys(REFUSED), 'enable_logging'].sort());
});

t.test('transcription refuses enable_logging=false, and nothing else of it', async (t) => {
  for (const value of ['false', 'False', '0', 'off'])
    throwsExactly(
      t,
      () => refuse(['enable_logging', value]),
      { code: 'unsupported_option', param: 'enable_logging' },
      value,
    );
  for (const values of [[], ['true'], [''], ['null'], ['false', 'true']])
    refuse(...values.map((value): [string, string] => ['enable_logging', value]));
});

t.test('form fields: of a repeated scalar the last, of a list all', async (t) => {
  refuse(['diarize', 'true'], ['diarize', 'false']);
  throwsExactly(t, () => refuse(['diarize', 'false'], ['diarize', 'true']), {
    code: 'unsupported_option',
    param: 'diarize',
  });
  throwsExactly(t, () => refuse(['entity_detection', 'pii'], ['entity_detection', 'null']), {
    code: 'unsupported_option',
    param: 'entity_detection',
  });
  throwsExactly(t, () => refuse(['entity_detection[]', 'pii']), {
    code: 'unsupported_option',
    param: 'entity_detection',
  });
  t.strictSame(
    formFields(form(['timestamps_granularity', 'none'], ['language_code', 'null'], ['seed', '7'])),
    {
      timestamps_granularity: 'none',
      seed: '7',
    },
  );
});

t.test('provider.options of a form, as JSON and spelled out', async (t) => {
  t.strictSame(providerOptionsOf(form(['provider', '{"options":{"svc":{"top_p":1}}}'])), {
    svc: { top_p: 1 },
  });
  t.strictSame(providerOptionsOf(form(['provider[options][svc][top_p]', '1'])), { svc: ['1'] });
  t.equal(providerOptionsOf(form(['provider', 'not JSON'])), undefined);
  t.equal(providerOptionsOf(form()), undefined);
});

t.test('every code of the table has the protocol’s error shape', async (t) => {
  for (const code of Object.keys(ERRORS) as ErrorCode[]) {
    const reply = errorReply(new ServiceError(code, { param: 'text' }), 'gen-1');
    t.equal(reply.status, ERRORS[code].status);
    const { detail } = JSON.parse(String(reply.body)) as { detail: Record<string, string> };
    const list = code === 'voice_not_found' ? '; GET /v1/voices lists the voices' : '';
    exactly(t, detail, { message: ERRORS[code].message + list, request_id: 'gen-1', param: 'text' });
    t.ok(detail['type'] && detail['code'] && detail['code'] === detail['status'], code);
    exactly(t, reply.headers, { 'request-id': 'gen-1', 'x-request-id': 'gen-1' });
  }
  const slug = (code: ErrorCode) =>
    (JSON.parse(String(errorReply(new ServiceError(code), 'g').body)) as { detail: object }).detail;
  exactly(t, slug('invalid_key'), { type: 'authentication_error', code: 'invalid_api_key' });
  exactly(t, slug('concurrency_exceeded'), {
    type: 'rate_limit_error',
    code: 'too_many_concurrent_requests',
  });
  exactly(t, slug('quota_exceeded'), { status: 'quota_exceeded' });
  exactly(t, slug('engine_failed'), { type: 'internal_error' });
  t.notOk('param' in slug('internal'));
});

const voice = (id: string, title: string, over: object = {}): Voice =>
  ({
    kind: 'engine',
    id,
    title,
    description: `About ${title}`,
    tags: ['bright'],
    languages: ['en'],
    aliases: [],
    createdAt: new Date(1000 * id.length),
    ...over,
  }) as unknown as Voice;

t.test('voices are filtered, ordered and paged', async (t) => {
  const library = [
    voice('aaa', 'Cleo', { aliases: ['alloy'] }),
    voice('bb', 'Anna', { languages: ['de', 'en'], tags: ['dark'] }),
    voice('c', 'Bert', { kind: 'cloned', languages: ['en'] }),
  ];
  const ids = (query: string) =>
    pageOf(library, voiceQuery(new URLSearchParams(query))).voices.map(({ id }) => id);
  const found: Record<string, string[]> = {
    '': ['aaa', 'bb', 'c'],
    'search=cleo': ['aaa'],
    'search=about%20b': ['c'],
    'search=dark': ['bb'],
    'search=clone': ['c'],
    'category=premade': ['aaa', 'bb'],
    'category=professional': [],
    'voice_type=default': ['aaa', 'bb'],
    'voice_type=personal': ['c'],
    'voice_type=community': [],
    'language=deu&language=fr': ['bb'],
    'voice_ids=c&voice_ids=alloy&voice_ids=nobody': ['aaa', 'c'],
    'gender=female': [],
    'use_cases=narration': [],
    'sort=name': ['bb', 'c', 'aaa'],
    'sort=name&sort_direction=desc': ['aaa', 'c', 'bb'],
    'sort=created_at_unix': ['aaa', 'bb', 'c'],
    'sort=created_at_unix&sort_direction=asc': ['c', 'bb', 'aaa'],
    'page_size=2': ['aaa', 'bb'],
    'page_size=2&next_page_token=bb': ['c'],
    'page_size=': ['aaa', 'bb', 'c'],
    'collection_id=x&high_quality=true': ['aaa', 'bb', 'c'],
  };
  for (const [query, expected] of Object.entries(found)) t.strictSame(ids(query), expected, query);
  const page = (query: string) => pageOf(library, voiceQuery(new URLSearchParams(query)));
  exactly(t, page('page_size=2'), { total: 3, next: 'bb' });
  t.equal(page('page_size=2&next_page_token=bb').next, undefined);
  t.equal(page('page_size=3').next, undefined, 'no empty page follows');
  for (const query of ['page_size=0', 'page_size=101', 'page_size=many', 'sort=age', 'next_page_token=zz'])
    throwsExactly(t, () => page(query), { code: 'invalid_request', status: 400 }, query);
});
