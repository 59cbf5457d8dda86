/** From protocol A's wire to the speech port, without a server: mapping, precedence, model ids, error shapes. */
import t from '../../../../fixtures/tap.js';
import { ERRORS, type ErrorCode, ServiceError } from '../../../../../contracts/errors.js';
import { findSynthesisModel, findTranscriptionModel } from '../../../../../contracts/speech/models.js';
import {
  hasOptionHeaders,
  mergeOptions,
  optionsFromHeaders,
} from '../../../../../contracts/schemas/option-sources.js';
import { defaultVocabulary } from '../../../../../contracts/vocabulary.js';
import { basesOf } from '../../../../../gateway/dialects/protocol-a/bases.js';
import { errorReply } from '../../../../../gateway/dialects/protocol-a/errors.js';
import { speechRequest } from '../../../../../gateway/dialects/protocol-a/speech-params.js';
import { formFields } from '../../../../../gateway/dialects/protocol-a/uploads.js';
import { exactly, throwsExactly } from '../../../../fixtures/exactly.js';

type Fields = Record<string, unknown>;

const [PLAIN, AGGREGATOR] = basesOf(defaultVocabulary);
const BODY = { model: 'svc/s2.1-pro', input: 'Hello' };

const request = (
  fields: Fields,
  headers: Record<string, string> = {},
  base = PLAIN,
  vocabulary = defaultVocabulary,
) =>
  speechRequest(
    { body: { ...BODY, ...fields }, headers: new Map(Object.entries(headers)) },
    base!,
    vocabulary,
  );

const options = (svc: Fields): Fields => ({ provider: { options: { svc } } });

t.test('defaults', async (t) => {
  t.strictSame(request({}), {
    text: 'Hello',
    model: 's2.1-pro',
    voice: '',
    references: [],
    output: { format: 'mp3', sampleRate: 44_100, mp3Bitrate: 128 },
    latency: 'low',
    speed: 1,
    volume: 0,
    chunkLength: 300,
    sampling: {},
  });
  t.strictSame(request({}, {}, AGGREGATOR).output, { format: 'pcm', sampleRate: 44_100 });
});

t.test('every native option reaches the request', async (t) => {
  const native = {
    reference_id: 'alloy',
    prosody: { speed: 1.5, volume: -3, normalize_loudness: 'False' },
    temperature: 0,
    top_p: 0.5,
    repetition_penalty: 1.1,
    chunk_length: 150,
    mp3_bitrate: 192,
    latency: 'normal',
    references: [{ audio: 'QUJD', text: 'abc' }],
  };
  const wanted = {
    voice: 'alloy',
    speed: 1.5,
    volume: -3,
    normalizeLoudness: false,
    sampling: { temperature: 0, topP: 0.5, repetitionPenalty: 1.1 },
    chunkLength: 150,
    latency: 'normal',
    output: { format: 'mp3', mp3Bitrate: 192 },
    references: [{ audio: Buffer.from('ABC'), text: 'abc' }],
  };
  const headers = Object.entries(native).map(([name, value]) => [
    `x-svc-${name.replaceAll('_', '-')}`,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  exactly(t, request(options(native)), wanted);
  exactly(t, request({}, Object.fromEntries(headers) as Record<string, string>), wanted);
});

t.test('rule 4: header over provider.options over top level, prosody member by member', async (t) => {
  const fields = {
    speed: 3,
    ...options({ prosody: { speed: 2, volume: 1 }, temperature: 0.2 }),
    temperature: 0.1,
  };
  t.equal(request({ speed: 3 }).speed, 3);
  exactly(t, request(fields), { speed: 2, volume: 1, sampling: { temperature: 0.2 } });
  exactly(t, request(fields, { 'x-svc-prosody': '{"volume":5}', 'x-svc-temperature': '0.3' }, AGGREGATOR), {
    speed: 2,
    volume: 5,
    sampling: { temperature: 0.3 },
  });
  exactly(t, request({ temperature: 0.1 }, {}, AGGREGATOR).sampling, { temperature: 0.1 });
  t.strictSame(request({ temperature: 0.1 }).sampling, {}, 'not on this base');
  t.equal(request({ voice: 'alloy', ...options({ reference_id: 'other' }) }).voice, 'other');
  t.equal(request({ voice: { id: 'alloy' } }).voice, 'alloy');
});

t.test('rule 4: a value that a stronger source overrules is not validated', async (t) => {
  const headers = { 'x-svc-temperature': '0.5', 'x-svc-prosody': '{"speed":1.5}' };
  const wrong = options({ temperature: 5, prosody: { speed: 9, volume: 1 } });
  const wanted = { sampling: { temperature: 0.5 }, speed: 1.5, volume: 1 };
  exactly(t, request(wrong, headers), wanted);
  exactly(t, request({ ...options({ temperature: 0.5 }), temperature: 5 }, {}, AGGREGATOR), {
    sampling: { temperature: 0.5 },
  });
  const references = JSON.stringify([{ audio: 'QUJD', text: 'abc' }]);
  const overruled = { input_references: 'nonsense', references: 'nonsense' };
  exactly(t, request(overruled, { 'x-svc-references': references }, AGGREGATOR).references, [
    { text: 'abc' },
  ]);
  throwsExactly(t, () => request(wrong, { 'x-svc-temperature': '0.5' }), {
    code: 'invalid_request',
    param: 'provider.options.svc.prosody.speed',
  });
});

t.test('numbers in text and names of formats in capitals are read', async (t) => {
  t.equal(request({ speed: '1.2' }).speed, 1.2);
  exactly(t, request({ response_format: 'WAV', sample_rate: '16000' }).output, {
    format: 'wav',
    sampleRate: 16_000,
  });
  for (const speed of ['fast', '9', '1e0', '0x1', ''])
    throwsExactly(t, () => request({ speed }), { code: 'invalid_request', param: 'speed' }, speed);
});

t.test(
  'reference audio goes before the voice of the body, a reference_id before both (rule 4)',
  async (t) => {
    const references = [{ audio: Buffer.from('x').toString('base64'), text: 'x' }];
    t.equal(request({ voice: 'alloy' }).voice, 'alloy');
    t.equal(request({ voice: 'alloy', ...options({ references }) }).voice, '');
    t.equal(request({ voice: 'alloy', ...options({ references, reference_id: 'mine' }) }).voice, 'mine');
  },
);

t.test("the aggregator's input_references become a reference", async (t) => {
  const input_references = [
    { type: 'text', text: 'abc' },
    { type: 'input_audio', input_audio: { data: 'data:audio/wav;base64,QUJD' } },
  ];
  t.strictSame(request({ input_references }, {}, AGGREGATOR).references, [
    { audio: Buffer.from('ABC'), text: 'abc' },
  ]);
  t.strictSame(request({ input_references }).references, [], 'ignored on the other bases');
  t.strictSame(request({ input_references: [] }, {}, AGGREGATOR).references, []);
});

t.test('header values: JSON where it parses, text else; ids of digits stay text', async (t) => {
  const read = (headers: Record<string, string>) =>
    optionsFromHeaders(new Map(Object.entries(headers)), 'X-Svc-');
  t.strictSame(read({ 'x-svc-latency': '"normal"' }), { latency: 'normal' });
  t.strictSame(read({ 'x-svc-reference-id': '1'.repeat(32) }), { reference_id: '1'.repeat(32) });
  t.strictSame(read({ 'x-svc-normalize': 'off', 'x-svc-condition-on-previous-chunks': 'True' }), {
    normalize: false,
    condition_on_previous_chunks: true,
  });
  t.strictSame(
    read({ 'x-svc-text': 'x', 'x-svc-format': 'x', 'x-svc-sample-rate': 'x', 'x-other': '1' }),
    {},
  );
  throwsExactly(t, () => read({ 'x-svc-chunk-length': '99' }), {
    code: 'invalid_request',
    param: 'X-Svc-Chunk-Length',
  });
  t.ok(hasOptionHeaders(new Map([['x-svc-nothing', '']]), 'X-Svc-'));
  t.notOk(hasOptionHeaders(new Map([['x-other', '']]), 'X-Svc-'));
});

t.test('mergeOptions leaves its sources alone', async (t) => {
  const weak = { prosody: { speed: 1, volume: 2 } };
  exactly(t, mergeOptions({ prosody: { speed: 2 } }, weak), { prosody: { speed: 2, volume: 2 } });
  t.strictSame(weak, { prosody: { speed: 1, volume: 2 } });
});

t.test('the vendor words come from the vocabulary', async (t) => {
  const own = {
    ...defaultVocabulary,
    vendor: 'acme',
    headerPrefix: 'X-Acme-',
    providerName: 'Acme',
    protocolASegment: 'oa',
  };
  t.strictSame(
    basesOf(own).map(({ path }) => path),
    ['/compat/v1', '/compat/api/v1', '/compat/oa/v1', '/v1'],
  );
  const fields = { model: 'acme/s1', provider: { options: { acme: { latency: 'normal' } } } };
  exactly(t, request(fields, {}, PLAIN, own), { model: 's1', latency: 'normal' });
  t.equal(request({ model: 'acme/s1' }, { 'x-acme-latency': 'balanced' }, PLAIN, own).latency, 'balanced');
  const reply = JSON.parse(String(errorReply(new ServiceError('engine_failed'), own).body)) as Fields;
  exactly(t, reply, { error: { metadata: { provider_name: 'Acme' } } });
});

t.test('model ids', async (t) => {
  t.equal(findSynthesisModel('svc/s1', 'svc'), 's1');
  t.equal(findSynthesisModel('eleven_multilingual_v2', 'svc'), 's2.1-pro');
  const speaking = [
    'gpt-realtime',
    'gpt-realtime-mini-2025-12-15',
    'gpt-4o-realtime-preview-2025-06-03',
    'gpt-4o-mini-realtime-preview',
    'gpt-4o-audio-preview',
    'gpt-4o-mini-audio-preview-2024-12-17',
    'gpt-audio-1.5',
    'gpt-4o-mini-tts-2025-12-15',
  ];
  const hearing = [
    'gpt-realtime-whisper',
    'gpt-4o-transcribe-2025-03-20',
    'gpt-4o-mini-transcribe-2025-12-15',
    'scribe_v2_realtime',
  ];
  for (const id of speaking) {
    t.equal(findSynthesisModel(id, 'svc'), 's2.1-pro', id);
    t.equal(findTranscriptionModel(id, 'svc'), undefined, id);
  }
  for (const id of hearing) {
    t.equal(findTranscriptionModel(id, 'svc'), 'transcribe-1', id);
    t.equal(findSynthesisModel(id, 'svc'), undefined, id);
  }
  t.equal(findTranscriptionModel('scribe_v1_experimental', 'svc'), 'transcribe-1');
  for (const id of ['tts-1', 'svc/s1']) t.equal(findTranscriptionModel(id, 'svc'), undefined);
  for (const id of ['gpt-transcribe', 'gpt-live-transcribe', 'gpt-realtime-whisper', 'whisper-1']) {
    t.equal(findTranscriptionModel(id, 'svc'), 'transcribe-1');
    t.equal(findSynthesisModel(id, 'svc'), undefined);
  }
  for (const id of ['', 'svc/', 'svc/eleven', 'eleven', 'constructor', 'svc/svc/s1']) {
    t.equal(findSynthesisModel(id, 'svc'), undefined, id);
  }
});

t.test('every error has its type: what the service says has metadata, what we say has none', async (t) => {
  const special: Partial<Record<ErrorCode, string>> = {
    missing_key: 'authentication_error',
    concurrency_exceeded: 'rate_limit_error',
    rate_limited: 'rate_limit_error',
  };
  const ours = (status: number): string => (status < 500 ? 'invalid_request_error' : 'server_error');
  for (const [code, row] of Object.entries(ERRORS) as [ErrorCode, { status: number; origin: string }][]) {
    const reply = errorReply(new ServiceError(code, { param: 'field' }), defaultVocabulary);
    const { error } = JSON.parse(String(reply.body)) as { error: Fields };
    const type = special[code] ?? (row.origin === 'service' ? 'provider_error' : ours(row.status));
    exactly(t, error, { code: row.status, type, param: 'field', message: String }, code);
    t.strictSame(error['metadata'], type === 'provider_error' ? { provider_name: 'svc' } : undefined, code);
  }
  const reply = errorReply(new ServiceError('not_found'), defaultVocabulary);
  t.notMatch(String(reply.body), 'param');
});

t.test('form fields: brackets, lists, the last of a repeated scalar', async (t) => {
  const fields = formFields(
    new Map([
      ['model', ['a', 'b']],
      ['language', ['']],
      ['timestamp_granularities', ['["word"]']],
      ['include[]', ['x', '']],
      ['chunking_strategy[type]', ['auto']],
      ['provider[options][svc][latency]', ['low']],
    ]),
  );
  exactly(t, fields, { model: 'b', timestamp_granularities: ['word'], include: ['x'] });
  t.equal(fields['language'], undefined);
  t.strictSame(Object.keys((fields['provider'] as { options: Fields }).options), ['svc']);
});

t.test('form fields: a text that is longer than any list is one value, however many commas it has', (t) => {
  const commas = ','.repeat(1000);
  t.strictSame(
    formFields(
      new Map([
        ['timestamp_granularities[]', [commas]],
        ['keywords[]', [commas, 'a,b', '']],
      ]),
    ),
    { timestamp_granularities: [commas], keywords: [commas, 'a,b'], provider: { options: undefined } },
  );
  t.end();
});
