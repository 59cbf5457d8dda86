/** POST …/audio/transcriptions on all three bases through a whole gateway: requests (docs/contract/protocol-a.md 2.1, 2.2). */
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { wavFile } from '../../fixtures/codecs/audio.js';
import { RawClient } from '../../fixtures/edge/edge.js';
import { exactly } from '../../fixtures/exactly.js';
import { sharedGateway } from '../../fixtures/gateway.js';
import { shortOrLong } from '../../fixtures/long.js';
import { longForm, longJson, postLong } from '../../fixtures/edge/long-bodies.js';
import { BASES, PLAIN, refusal } from '../../fixtures/protocol-a/rest.js';
import { type Entry, form, jsonOf, MODEL, transcriptions } from '../../fixtures/protocol-a/transcriptions.js';
import { until } from '../../fixtures/until.js';

const gateway = await sharedGateway(t);
const TEXT = 'Tones say it.';
const { spoken, audio, base64, send, upload, sendJson } = await transcriptions(gateway, {
  text: TEXT,
  format: 'wav',
});
/** The same, which a decoder must read. */
const compressed = await spoken(TEXT, 'mp3');

t.test('matrix "STT from file": multipart and JSON on every base', async (t) => {
  const data = Buffer.from(await compressed.arrayBuffer()).toString('base64');
  const multipart = form([['model', MODEL], ['file', compressed]]); // oxfmt-ignore
  for (const base of BASES) {
    const json = await sendJson({ input_audio: { data, format: 'mp3' } }, {}, base);
    for (const response of [await send(multipart, {}, base), json]) {
      const result = await jsonOf(response);
      t.equal(result.text, TEXT);
      t.equal(result.usage.type, 'duration');
      t.ok(result.usage.seconds > 0.2);
    }
  }
});

t.test('multipart: fields in any order and after the file, with and without brackets', async (t) => {
  const named = [
    [
      ['file', audio],
      ['model', MODEL],
      ['response_format', 'verbose_json'],
      ['timestamp_granularities[]', 'word'],
    ],
    [
      ['timestamp_granularities', 'word'],
      ['file', audio],
      ['response_format', 'verbose_json'],
      ['model', MODEL],
    ],
    [
      ['timestamp_granularities[]', 'segment,word'],
      ['response_format', 'verbose_json'],
      ['model', MODEL],
      ['file', audio],
    ],
    [
      ['timestamp_granularities', '["word","segment"]'],
      ['response_format', 'verbose_json'],
      ['model', MODEL],
      ['file', audio],
    ],
  ] as const;
  const results = await Promise.all(named.map(async (entries) => jsonOf(await send(form(entries)))));
  for (const result of results) {
    t.equal(result.text, TEXT);
    t.ok(result.words, 'words were asked for');
  }
});

t.test('multipart: JSON that nests too deep for a body is none in a field either', async (t) => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  exactly(t, await refusal(await upload([['timestamp_granularities[]', deep]])), {
    type: 'invalid_request_error',
    param: 'timestamp_granularities.0',
  });
  t.equal((await jsonOf(await upload([['provider', `{"options":{"svc":${deep}}}`]]))).text, TEXT);
});

t.test('multipart: a part that is no field of the form is passed over, however long it is', async (t) => {
  const heads = ['Content-Disposition: attachment; filename="x"', 'Content-Type: text/plain'];
  for (const head of heads) {
    const foreign = `--b\r\n${head}\r\n\r\n${'x'.repeat(200_000)}\r\n`;
    const model = `--b\r\nContent-Disposition: form-data; name="model"\r\n\r\n${MODEL}\r\n--b--\r\n`;
    const response = await send(foreign + model, { 'content-type': 'multipart/form-data; boundary=b' });
    exactly(t, await refusal(response), { param: 'file', message: 'missing field file' });
  }
});

t.test(
  'multipart: a part named file is one without a name and a type; one that is no audio says so',
  async (t) => {
    const part = (name: string, value: string): string =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const body = `${part('file', 'no audio at all')}${part('model', MODEL)}--b--\r\n`;
    const response = await send(body, { 'content-type': 'multipart/form-data; boundary=b' });
    exactly(t, await refusal(response), {
      param: 'file',
      message: /could not be decoded: send WAV, MP3,.* FLAC/,
    });
  },
);

t.test('refused options: include, known_speaker_names, known_speaker_references, url', async (t) => {
  for (const name of ['include', 'known_speaker_names', 'known_speaker_references', 'url']) {
    for (const response of [
      await upload([[name, 'x']]),
      await upload([
        [`${name}[]`, 'x'],
        [`${name}[]`, 'y'],
      ]),
      await sendJson({ [name]: ['x'] }),
      await sendJson({ [name]: 'x' }),
    ]) {
      exactly(t, await refusal(response), { type: 'invalid_request_error', param: name });
    }
    for (const base of BASES) t.equal((await refusal(await upload([[name, 'x']], {}, base))).param, name);
    for (const value of [null, [], '', false, 'none']) await jsonOf(await sendJson({ [name]: value }));
    await jsonOf(await upload([[`${name}[]`, '']]));
  }
});

t.test('rule 2: languages, keywords, prompt and temperature are ignored', async (t) => {
  const ignored: Entry[] = [
    ['languages[]', 'en'],
    ['languages[]', 'de'],
    ['keywords[]', 'tones'],
    ['prompt', 'any words'],
    ['temperature', '0'],
    ['temperature', 'hot'],
    ['chunking_strategy[type]', 'server_vad'],
    ['chunking_strategy', '{"type":"auto"}'],
    ['user', 'u'],
    ['unheard', 'of'],
    ['seed', '1'],
  ];
  t.equal((await jsonOf(await upload(ignored))).text, TEXT);
  const json = {
    languages: ['en'],
    keywords: 7,
    prompt: ['x'],
    temperature: 'hot',
    trace: {},
    session_id: 's',
  };
  t.equal((await jsonOf(await sendJson(json))).text, TEXT);
});

t.test('rule 2: as many keywords as clients may name, a field each, are ignored; no more', async (t) => {
  const keywords = (count: number): Entry[] =>
    Array.from({ length: count }, (_, at): Entry => ['keywords[]', `word ${at}`]);
  const { keyterms } = LIMITS.transcription;
  t.equal((await jsonOf(await upload(keywords(keyterms)))).text, TEXT);
  const tooMany = await refusal(await upload(keywords(keyterms + LIMITS.http.multipartFields)));
  t.equal(tooMany.message, 'The form has too many fields');
});

t.test('rule 6: native options are 400 on transcriptions (decision 3)', async (t) => {
  const nested = JSON.stringify({ options: { svc: { latency: 'low' } } });
  for (const base of BASES) {
    for (const name of ['X-Svc-Latency', 'x-svc-nothing-known']) {
      const error = await refusal(await upload([], { [name]: 'low' }, base));
      exactly(t, error, { type: 'invalid_request_error', param: 'X-Svc-*' });
      t.notOk(error.metadata);
      t.equal((await refusal(await sendJson({}, { [name]: 'low' }, base))).param, 'X-Svc-*');
    }
    for (const response of [
      await sendJson({ provider: { options: { svc: { latency: 'low' } } } }, {}, base),
      await upload([['provider', nested]], {}, base),
      await upload([['provider[options][svc][latency]', 'low']], {}, base),
    ]) {
      exactly(t, await refusal(response), { type: 'invalid_request_error', param: 'provider.options.svc' });
    }
  }
  await jsonOf(await sendJson({ provider: { options: { other: { latency: 'low' } }, order: ['x'] } }));
  await jsonOf(
    await upload([
      ['provider[options][other][x]', 'y'],
      ['provider', 'not json'],
    ]),
  );
});

t.test('models: aliases are taken, synthesis models and unknown ones are 400', async (t) => {
  const models = ['transcribe-1', 'whisper-1', 'whisper-large-v3', 'whisper-large-v3-turbo', 'scribe_v2'];
  for (const model of [
    ...models,
    'distil-whisper-large-v3-en',
    'gpt-4o-transcribe',
    'gpt-4o-mini-transcribe',
  ]) {
    t.equal((await jsonOf(await sendJson({ model }))).text, TEXT);
  }
  for (const model of ['svc/s2.1-pro', 'tts-1', 'eleven_v3', 'whisper-9', '']) {
    exactly(t, await refusal(await sendJson({ model })), { type: 'invalid_request_error', param: 'model' });
  }
});

t.test('requests that are not valid', async (t) => {
  const file: Entry = ['file', audio];
  const model: Entry = ['model', MODEL];
  const cases: [Response, string | undefined][] = [
    [await send(form([file])), 'model'],
    [await send(form([model])), 'file'],
    [await upload([['response_format', 'diarized_json']]), 'response_format'],
    [await upload([['timestamp_granularities[]', 'character']]), 'timestamp_granularities.0'],
    [await upload([['language', 'x'.repeat(17)]]), 'language'],
    [await sendJson({ input_audio: undefined }), 'input_audio'],
    [await sendJson({ input_audio: 'x' }), 'input_audio'],
    [await sendJson({ input_audio: { format: 'wav' } }), 'input_audio'],
    [await sendJson({ input_audio: { data: 'no base64!', format: 'wav' } }), 'input_audio.data'],
    [
      await sendJson({ input_audio: { data: `${'A'.repeat(80_000)}!!!!${'A'.repeat(80_000)}` } }),
      'input_audio.data',
    ],
    [await sendJson({ language: 7 }), 'language'],
    [await send('[]', { 'content-type': 'application/json' }), undefined],
    [await send('{', { 'content-type': 'application/json' }), undefined],
    [await send('7', { 'content-type': 'application/json' }), undefined],
  ];
  for (const [response, param] of cases) {
    const error = await refusal(response);
    t.equal(error.type, 'invalid_request_error');
    t.equal(error.param, param);
  }
  t.equal(
    (await refusal(await send('x', { 'content-type': 'text/plain' }), 415)).type,
    'invalid_request_error',
  );
});

t.test(
  'decision 1: fields that a client sends without a value are unset, in both kinds of body',
  async (t) => {
    const names = [
      'language',
      'response_format',
      'stream',
      'temperature',
      'prompt',
      'timestamp_granularities',
    ];
    for (const value of ['', 'null', 'None']) {
      const entries = names.map((name): Entry => [name, value]);
      t.strictSame(Object.keys(await jsonOf(await upload(entries))), ['text', 'usage']);
      const fields = Object.fromEntries(entries);
      t.strictSame(Object.keys(await jsonOf(await sendJson(fields))), ['text', 'usage']);
    }
  },
);

t.test('the language `auto` is no hint; it is echoed as sent (rule 12)', async (t) => {
  const asked: Entry[] = [
    ['language', 'auto'],
    ['response_format', 'verbose_json'],
  ];
  for (const response of [await upload(asked), await sendJson(Object.fromEntries(asked))])
    exactly(t, await jsonOf(response), { text: TEXT, language: 'auto' });
});

t.test('a file that is no audio is an error of the provider', async (t) => {
  const data = Buffer.from('this is not audio').toString('base64');
  for (const response of [
    await sendJson({ input_audio: { data } }),
    await send(
      form([
        ['model', MODEL],
        ['file', new Blob(['nor is this'])],
      ]),
    ),
    await send(
      form([
        ['model', MODEL],
        ['file', new Blob([])],
      ]),
    ),
  ]) {
    exactly(t, await refusal(response), { type: 'provider_error', metadata: { provider_name: 'svc' } });
  }
});

t.test('JSON audio of any length, bare or as a data URI', async (t) => {
  const data = Buffer.concat([Buffer.from(base64, 'base64'), Buffer.alloc(2 * 1024 * 1024)]).toString(
    'base64',
  );
  t.ok(data.length > 2 * 1024 * 1024, 'long enough to be decoded in pieces');
  const mime = (text: string): string => text.replace(/.{76}/g, '$&\r\n');
  const bare = [data, `data:audio/wav;base64,${data}`, `data:audio/wav;base64,${base64}`];
  for (const given of [...bare, mime(data), `${mime(base64)}\n`]) {
    const { text } = await jsonOf(await sendJson({ input_audio: { data: given, format: 'wav' } }));
    t.equal(text, TEXT);
  }
});

t.test('a rate that no audio has is refused before it is decoded', async (t) => {
  for (const rate of [1, 999, 2 ** 31 - 1]) {
    const file = new Blob([wavFile({ rate, data: new Uint8Array(4000) })]);
    const error = await refusal(await send(form([['model', MODEL], ['file', file]]))); // oxfmt-ignore
    const message = `The audio file says that its sample rate is ${rate} Hz; it must be 1000 to 1000000 Hz`;
    exactly(t, error, { type: 'provider_error', message });
  }
});

t.test('authentication as on speech', async (t) => {
  t.equal((await refusal(await upload([], { authorization: '' }), 401)).type, 'authentication_error');
  t.equal((await refusal(await upload([], { authorization: 'Bearer wrong' }), 401)).type, 'provider_error');
});

t.test('audio over 100 MiB, counted decoded, is 413, in both kinds of body (decision 5)', async (t) => {
  const { audioBytes } = LIMITS.transcription;
  const most = Math.floor(audioBytes / 3) * 4;
  // The last byte of exactly so many.
  const json = (length: number) => longJson({ model: MODEL, input_audio: { data: '|AA==' } }, length);
  const post = (body: Parameters<typeof postLong>[2]) =>
    postLong(`${gateway.base}${PLAIN}/audio/transcriptions`, gateway.authorization, body);
  // A text that is longer than audio may be, or the longest.
  const taken = json(shortOrLong(audioBytes + 4096, most));
  await refusal(await until('it is taken', () => post(taken)));
  for (const body of [longForm('file', audioBytes + 1024, { model: MODEL }), json(most + 1024)]) {
    const refused = await post(body);
    if (refused) t.equal((await refusal(refused, 413)).type, 'invalid_request_error');
    else t.pass('cut while it was sending');
  }
});

t.test('a body over 140 MiB is 413 before any of it has come', async (t) => {
  const head = [
    `POST ${PLAIN}/audio/transcriptions HTTP/1.1`,
    'Host: a',
    `Authorization: ${gateway.authorization.authorization}`,
    'Content-Type: application/json',
    `Content-Length: ${LIMITS.body.transcription + 1}`,
  ];
  const client = new RawClient(Number(new URL(gateway.base).port)).write(`${head.join('\r\n')}\r\n\r\n`);
  await client.sees('"code":413');
  t.match(client.text, /^HTTP\/1\.1 413 /);
  client.leave();
});
