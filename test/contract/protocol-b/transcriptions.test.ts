/** Protocol B's speech-to-text through a whole gateway: REST, and that its socket exists (docs/contract/protocol-b.md 4; rules 2, 3, 6, 12). */
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { WebSocket } from 'ws';
import { exactly } from '../../fixtures/exactly.js';
import { sharedGateway, TEST_KEY } from '../../fixtures/gateway.js';
import {
  BASE,
  carriesId,
  detailOf,
  KEY,
  ProtocolB,
  type Query,
  type Word,
} from '../../fixtures/protocol-b/rest.js';
import { until } from '../../fixtures/until.js';

const gateway = await sharedGateway(t);
const api = new ProtocolB(gateway);

const TEXT = 'Tones carry text, exactly. A second sentence follows <here> & now.';

type Entry = readonly [string, string | Blob];

interface Entity extends Word {
  readonly type: string;
  readonly speaker_id: unknown;
  readonly logprob: unknown;
}

interface Result {
  readonly language_code: string;
  readonly language_probability: number;
  readonly text: string;
  readonly words: readonly Entity[];
  readonly transcription_id: string;
  readonly audio_duration_secs: number;
}

const spoken = async (output_format: string): Promise<Blob> =>
  (await api.speak('', { text: TEXT }, { output_format })).blob();

const audio = await spoken('mp3_44100_128');

function form(entries: readonly Entry[]): FormData {
  const data = new FormData();
  for (const [name, value] of entries) data.append(name, value);
  return data;
}

const MODEL: Entry = ['model_id', 'scribe_v1'];
const FILE: Entry = ['file', audio];

const send = (entries: readonly Entry[], query: Query = {}, headers: Record<string, string> = KEY) =>
  api.transcribe(form(entries), query, headers);

const upload = (...entries: readonly Entry[]) => send([MODEL, FILE, ...entries]);

async function resultOf(t: Test, response: Response): Promise<Result> {
  const text = await response.text();
  t.equal(response.status, 200, text.slice(0, 200));
  t.ok(carriesId(response), 'rule 15, and its mirrors');
  return JSON.parse(text) as Result;
}

t.test('matrix "STT from file": every container, and both orders of the fields', async (t) => {
  for (const format of ['mp3_44100_128', 'wav_16000', 'opus_48000_64']) {
    const file: Entry = ['file', await spoken(format)];
    t.equal((await resultOf(t, await send([MODEL, file]))).text, TEXT, format);
    t.equal((await resultOf(t, await send([file, MODEL]))).text, TEXT, 'the file first');
  }
});

t.test('matrix "STT word timing": words and what stands between them, joined the text', async (t) => {
  const ways: readonly Entry[][] = [
    [],
    [['timestamps_granularity', 'word']],
    [['timestamps_granularity', '']],
  ];
  for (const asked of ways) {
    const result = await resultOf(t, await upload(...asked));
    t.equal(result.words.map(({ text }) => text).join(''), TEXT);
    const words = result.words.filter(({ type }) => type === 'word');
    t.strictSame(
      words.map(({ text }) => text),
      TEXT.split(' '),
    );
    t.ok(result.words.every(({ type }) => type === 'word' || type === 'spacing'));
    result.words.forEach(({ start, end }, at) => {
      t.ok(start <= end && start >= (result.words[at - 1]?.end ?? 0), 'never back');
    });
    const last = result.words.at(-1);
    t.ok(last && last.end <= result.audio_duration_secs);
  }
  t.strictSame((await resultOf(t, await upload(['timestamps_granularity', 'none']))).words, []);
});

t.test(
  'rule 12: placeholders are constant, the language is what the request said (decision 3)',
  async (t) => {
    const result = await resultOf(t, await upload());
    t.equal(result.language_probability, 1);
    t.ok(result.words.every(({ logprob, speaker_id }) => logprob === 0 && speaker_id === null));
    t.equal(result.language_code, '');
    t.match(result.transcription_id, /^gen-/);
    t.ok(result.audio_duration_secs > 1);
    for (const code of ['en', 'eng', 'en-US', 'EN'])
      t.equal((await resultOf(t, await upload(['language_code', code]))).language_code, code);
    for (const code of ['null', '', 'none'])
      t.equal((await resultOf(t, await upload(['language_code', code]))).language_code, '');
  },
);

t.test('file_format pcm_s16le_16: raw samples at 16 kHz', async (t) => {
  const raw: Entry = ['file', await spoken('pcm_16000')];
  const result = await resultOf(t, await send([MODEL, raw, ['file_format', 'pcm_s16le_16']]));
  t.equal(result.text, TEXT);
  t.ok(Math.abs(result.audio_duration_secs - (raw[1] as Blob).size / 32_000) < 0.001);
  t.equal((await resultOf(t, await upload(['file_format', 'other']))).text, TEXT);
  const unnamed = await detailOf(t, await send([MODEL, raw]));
  t.equal(unnamed.code, 'audio_unreadable', 'nothing says what these bytes are');
  t.equal((await detailOf(t, await upload(['file_format', 'mp3']))).param, 'file_format');
});

t.test('matrix "Subtitles srt/vtt": not in this protocol', async (t) => {
  for (const format of ['srt', 'vtt']) {
    const asked: Entry = ['additional_formats', JSON.stringify([{ format }])];
    exactly(
      t,
      await detailOf(t, await upload(asked)),
      { code: 'unsupported_option', param: asked[0] },
      format,
    );
    const response = await upload(['format', format], ['response_format', format]);
    t.equal((await resultOf(t, response)).text, TEXT, 'fields of other protocols change nothing');
  }
});

interface Told {
  readonly message_type: string;
  readonly text?: string;
  readonly config?: object;
}

/** A socket of realtime transcription; records its messages and its end. */
function listener(t: Test, query: Query) {
  const url = api.url('/v1/speech-to-text/realtime', query).replace('http', 'ws');
  const socket = new WebSocket(url, { headers: KEY });
  const told: Told[] = [];
  const ended = { code: 0 };
  socket.on('message', (data: Buffer) => void told.push(JSON.parse(data.toString()) as Told));
  socket.on('close', (code) => void (ended.code = code));
  t.teardown(() => socket.terminate());
  const hears = (type: string) => until(type, () => told.find(({ message_type }) => message_type === type));
  return { socket, told, ended, hears };
}

t.test('matrix "Realtime STT WebSocket" (manual commit)', async (t) => {
  const raw = Buffer.from(await (await spoken('pcm_16000')).arrayBuffer());
  for (const strategy of [{}, { commit_strategy: 'manual' }]) {
    const { socket, hears } = listener(t, { audio_format: 'pcm_16000', ...strategy });
    exactly(t, await hears('session_started'), { config: { commit_strategy: 'manual' } });
    const chunk = { message_type: 'input_audio_chunk', audio_base_64: raw.toString('base64') };
    socket.send(JSON.stringify({ ...chunk, commit: true }));
    t.equal((await hears('committed_transcript')).text, TEXT);
  }
});

t.test('refused on realtime STT: any commit_strategy other than manual, in band', async (t) => {
  for (const commit_strategy of ['vad', 'auto', 'Manual']) {
    const { told, ended } = listener(t, { commit_strategy });
    await until('the socket is closed', () => ended.code !== 0);
    t.equal(ended.code, 1008, commit_strategy);
    t.strictSame(told.map(({ message_type }) => message_type), ['invalid_request']); // oxfmt-ignore
  }
});

/** The options that the specification refuses, each with a value that asks for it. */
const REFUSED: readonly (readonly [string, string])[] = [
  ['diarize', 'true'],
  ['entity_redaction', 'pii'],
  ['entity_detection', 'pii'],
  ['entity_redaction_mode', 'redacted'],
  ['use_multi_channel', 'true'],
  ['additional_formats', '[{"format":"srt"}]'],
  ['tag_audio_events', 'true'],
  ['no_verbatim', 'true'],
  ['webhook', 'true'],
  ['webhook_id', 'wh_1'],
  ['source_url', 'https://example.com/a.mp3'],
  ['cloud_storage_url', 'https://example.com/a.mp3'],
  ['enable_logging', 'false'],
  ['timestamps_granularity', 'character'],
];

for (const [option, value] of REFUSED) {
  t.test(`refused: ${option}=${value}`, async (t) => {
    const detail = await detailOf(t, await upload([option, value]));
    exactly(t, detail, { code: 'unsupported_option', type: 'validation_error', param: option });
  });
}

t.test('refused: enable_logging=false in the query', async (t) => {
  const response = await send([MODEL, FILE], { enable_logging: 'false' });
  exactly(t, await detailOf(t, response), { code: 'unsupported_option', param: 'enable_logging' });
  await resultOf(t, await send([MODEL, FILE], { enable_logging: 'true' }));
});

t.test('rule 3: what is unset is not asked for, as clients send it with every request', async (t) => {
  for (const unset of ['false', 'False', '0', 'none', 'off', 'null', '', '[]', '{}']) {
    const entries = REFUSED.filter(([name]) => name !== 'enable_logging');
    await resultOf(t, await upload(...entries.map(([name]): Entry => [name, unset])));
  }
});

t.test('of a repeated scalar the last counts', async (t) => {
  await resultOf(t, await upload(['diarize', 'true'], ['diarize', 'false']));
  const detail = await detailOf(t, await upload(['diarize', 'false'], ['diarize', 'true']));
  t.equal(detail.param, 'diarize');
});

t.test('rule 2: what changes nothing is ignored', async (t) => {
  const ignored = ['temperature', 'seed', 'num_speakers', 'diarization_threshold', 'webhook_metadata'];
  const result = await resultOf(t, await upload(...ignored.map((name): Entry => [name, 'x'])));
  t.equal(result.text, TEXT);
});

t.test('a keyterm takes the place of what was heard nearly the same, in text and words', async (t) => {
  const terms: readonly Entry[] = [
    ['keyterms', 'Toanes'],
    ['keyterms', 'Ex Actly'],
    ['keyterms', 'Somebody Else'],
  ];
  const { text, words } = await resultOf(t, await upload(...terms));
  t.equal(text, 'Toanes carry text, Ex Actly. A second sentence follows <here> & now.');
  t.equal(words.map((word) => word.text).join(''), text);
  const [first] = words;
  t.ok(first && first.text === 'Toanes' && first.end > first.start, 'with the time of what was heard');
});

t.test('as many keyterms as clients may name, a field each; no more', async (t) => {
  const keyterms = (count: number): Entry[] =>
    Array.from({ length: count }, (_, at): Entry => ['keyterms', `term ${at}`]);
  t.equal((await resultOf(t, await upload(...keyterms(1000)))).text, TEXT);
  exactly(t, await detailOf(t, await upload(...keyterms(1100))), { code: 'malformed_body' });
});

t.test('rule 6: native options are refused (decision 3)', async (t) => {
  for (const name of ['X-Svc-Latency', 'X-Svc-Nothing']) {
    const detail = await detailOf(t, await send([MODEL, FILE], {}, { ...KEY, [name]: 'low' }));
    exactly(t, detail, { code: 'unsupported_option', param: 'X-Svc-*' });
  }
  const spelled: Entry[] = [
    ['provider', '{"options":{"svc":{"latency":"low"}}}'],
    ['provider[options][svc][latency]', 'low'],
  ];
  for (const entry of spelled)
    exactly(t, await detailOf(t, await upload(entry)), {
      code: 'unsupported_option',
      param: 'provider.options.svc',
    });
  await resultOf(t, await upload(['provider', '{"options":{"other":{"a":1}}}']));
});

t.test('forms that are not what they should be', async (t) => {
  const forms: [readonly Entry[], string, string | undefined][] = [
    [[FILE], 'invalid_request', 'model_id'],
    [[['model_id', ''], FILE], 'invalid_request', 'model_id'],
    [[['model_id', 'nobody'], FILE], 'model_not_found', 'model_id'],
    [[['model_id', 'eleven_flash_v2'], FILE], 'model_not_found', 'model_id'],
    [[MODEL], 'invalid_request', 'file'],
    [[MODEL, ['file', new Blob([])]], 'invalid_request', 'file'],
    [[MODEL, ['file', new Blob(['not audio at all'])]], 'audio_unreadable', 'file'],
    [[MODEL, ['file', 'a text field']], 'audio_unreadable', 'file'],
    [[MODEL, FILE, ['timestamps_granularity', 'letter']], 'unsupported_option', 'timestamps_granularity'],
    [[MODEL, FILE, ['language_code', 'x'.repeat(40)]], 'invalid_request', 'language_code'],
  ];
  for (const [entries, code, param] of forms) {
    const detail = await detailOf(t, await send(entries));
    t.equal(detail.code, code);
    t.equal(detail.param, param, code);
  }
  const json = await fetch(`${gateway.base}${BASE}/v1/speech-to-text`, {
    method: 'POST',
    headers: { ...KEY, 'content-type': 'application/json' },
    body: '{}',
  });
  await detailOf(t, json, 415);
});

t.test('authentication: header, bearer token, single-use token', async (t) => {
  await resultOf(t, await send([MODEL, FILE], {}, gateway.authorization));
  await detailOf(t, await send([MODEL, FILE], {}, {}), 401);
  await detailOf(t, await send([MODEL, FILE], {}, { 'xi-api-key': `${TEST_KEY}x` }), 401);
  const issued = await fetch(api.url('/v1/single-use-token/batch_scribe'), { method: 'POST', headers: KEY });
  const { token } = (await issued.json()) as { token: string };
  await resultOf(t, await send([MODEL, FILE], { token }, {}));
  const again = await detailOf(t, await send([MODEL, FILE], { token }, {}), 401);
  exactly(t, again, { type: 'authentication_error', param: 'token' });
});

t.test('the interface description covers the endpoint', async (t) => {
  const { paths } = (await (await fetch(`${gateway.base}/openapi.json`)).json()) as {
    paths: Record<string, { post?: { requestBody?: { content: object } } }>;
  };
  t.ok('multipart/form-data' in (paths[`${BASE}/v1/speech-to-text`]?.post?.requestBody?.content ?? {}));
});
