/** POST …/audio/transcriptions on all three bases through a whole gateway (protocol-a.md section 2). */
import t from 'tap';
import { LIMITS } from '../../contracts/limits.js';
import { startGateway } from '../fixtures/gateway.js';

const gateway = await startGateway();
t.teardown(() => gateway.stop());

const PLAIN = '/compat/v1';
const BASES = [PLAIN, '/compat/api/v1', '/compat/openai/v1'];
const TEXT = 'Tones carry text, exactly. A second sentence follows <here> & now.';
const MODEL = 'svc/transcribe-1';

type Fields = Record<string, unknown>;
type Entry = readonly [string, string | Blob];
interface Timed {
  start: number;
  end: number;
}
interface Verbose {
  task: string;
  language: string;
  duration: number;
  text: string;
  segments: ({ id: number; text: string } & Timed & Fields)[];
  words?: ({ word: string } & Timed)[];
  usage: { type: string; seconds: number };
}

async function spoken(input: string, response_format: string): Promise<Blob> {
  const response = await fetch(`${gateway.base}${PLAIN}/audio/speech`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'tts-1', input, response_format }),
  });
  if (!response.ok) throw new Error(await response.text());
  return response.blob();
}

const audio = await spoken(TEXT, 'mp3');
const base64 = Buffer.from(await audio.arrayBuffer()).toString('base64');

const send = (body: string | FormData, headers: Record<string, string> = {}, base = PLAIN) =>
  fetch(`${gateway.base}${base}/audio/transcriptions`, {
    method: 'POST',
    headers: { ...gateway.authorization, ...headers },
    body,
  });

/** The entries in the order given. */
function form(entries: readonly Entry[]): FormData {
  const data = new FormData();
  for (const [name, value] of entries) data.append(name, value);
  return data;
}

const upload = (entries: readonly Entry[] = [], headers: Record<string, string> = {}, base = PLAIN) =>
  send(form([['model', MODEL], ['file', audio], ...entries]), headers, base);

const sendJson = (fields: Fields = {}, headers: Record<string, string> = {}, base = PLAIN) =>
  send(
    JSON.stringify({ model: MODEL, input_audio: { data: base64, format: 'mp3' }, ...fields }),
    { 'content-type': 'application/json', ...headers },
    base,
  );

async function textOf(response: Response, type: RegExp): Promise<string> {
  const text = await response.text();
  t.equal(response.status, 200, text.slice(0, 200));
  t.match(response.headers.get('content-type'), type);
  t.ok(response.headers.get('x-generation-id'), 'rule 15');
  return text;
}

const jsonOf = async <T = Verbose>(response: Response): Promise<T> =>
  JSON.parse(await textOf(response, /^application\/json$/)) as T;

async function refusal(response: Response, status = 400) {
  t.equal(response.status, status);
  t.ok(response.headers.get('x-generation-id'), 'rule 15');
  const { error } = (await response.json()) as {
    error: { code: number; type: string; param?: string; metadata?: Fields };
  };
  t.equal(error.code, status);
  return error;
}

t.test('matrix "STT from file": multipart and JSON on every base', async (t) => {
  for (const base of BASES) {
    for (const response of [await upload([], {}, base), await sendJson({}, {}, base)]) {
      const result = await jsonOf(response);
      t.equal(result.text, TEXT);
      t.equal(result.usage.type, 'duration');
      t.ok(result.usage.seconds > 0.5);
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

t.test('the json form holds text and usage alone', async (t) => {
  const result = await jsonOf<Fields>(await upload([['response_format', 'json']]));
  t.strictSame(Object.keys(result).sort(), ['text', 'usage']);
});

t.test('the text form', async (t) => {
  t.equal(await textOf(await upload([['response_format', 'text']]), /^text\/plain/), `${TEXT}\n`);
});

const verbose = (entries: readonly Entry[] = []) =>
  upload([['response_format', 'verbose_json'], ...entries]).then((response) => jsonOf(response));

t.test('verbose_json: segments are phrases with times in order', async (t) => {
  const { task, text, duration, segments, words, usage } = await verbose();
  t.match({ task, text }, { task: 'transcribe', text: TEXT });
  t.strictSame(usage, { type: 'duration', seconds: duration });
  t.equal(words, undefined, 'only where they were asked for');
  t.equal(segments.map((segment) => segment.text).join(' '), TEXT);
  let last = 0;
  segments.forEach(({ id, start, end }, index) => {
    t.equal(id, index);
    t.ok(start >= last && end > start && end <= duration + 0.1);
    last = end;
  });
});

t.test('matrix "STT word timing": verbose_json with the times of each word', async (t) => {
  for (const response of [
    await upload([
      ['response_format', 'verbose_json'],
      ['timestamp_granularities[]', 'word'],
    ]),
    await sendJson({ response_format: 'verbose_json', timestamp_granularities: ['word'] }),
  ]) {
    const { words = [], duration, segments } = await jsonOf(response);
    t.strictSame(
      words.map(({ word }) => word),
      TEXT.split(' '),
    );
    let last = 0;
    for (const { start, end } of words) {
      t.ok(start >= last && end > start && end <= duration + 0.1);
      last = end;
    }
    t.strictSame(
      segments.map(({ text }) => text),
      TEXT.split(/(?<=exactly\.) /),
      'a phrase a sentence',
    );
  }
});

t.test('rule 12: engine internals are neutral constants, language echoes the request', async (t) => {
  const { segments, language } = await verbose();
  for (const segment of segments) {
    const { avg_logprob, no_speech_prob, compression_ratio, temperature, seek, tokens } = segment;
    t.strictSame(
      { avg_logprob, no_speech_prob, compression_ratio, temperature, seek, tokens },
      { avg_logprob: 0, no_speech_prob: 0, compression_ratio: 1, temperature: 0, seek: 0, tokens: [] },
    );
  }
  t.equal(language, '', 'empty where none was sent');
  for (const code of ['de', 'en-US', 'ja']) t.equal((await verbose([['language', code]])).language, code);
  t.equal((await verbose([['language', '']])).language, '');
});

t.test('matrix "Subtitles srt/vtt"', async (t) => {
  const srt = await textOf(await upload([['response_format', 'srt']]), /^application\/x-subrip/);
  t.match(srt, /^1\n00:00:00,\d{3} --> 00:00:\d\d,\d{3}\n[^\n]+\n\n(2\n|$)/);
  t.match(srt, '<here> & now.');
  const vtt = await textOf(await sendJson({ response_format: 'vtt' }), /^text\/vtt/);
  t.match(vtt, /^WEBVTT\n\n00:00:00\.\d{3} --> 00:00:\d\d\.\d{3}\n[^\n]+\n\n/);
  t.match(vtt, '&lt;here&gt; &amp; now.');
});

t.test('subtitles have a cue a phrase, the same as verbose_json has segments', async (t) => {
  const { segments } = await verbose();
  const srt = await textOf(await upload([['response_format', 'srt']]), /./);
  t.equal(srt.match(/ --> /g)?.length, segments.length);
  t.ok(segments.length >= 2, 'two sentences, two phrases');
});

t.test('stream=true: deltas that add up, then done', async (t) => {
  for (const response of [
    await upload([['stream', 'true']]),
    await sendJson({ stream: true }),
    await upload([
      ['stream', 'True'],
      ['response_format', 'text'],
    ]),
  ]) {
    const body = await textOf(response, /^text\/event-stream/);
    const events = body
      .trim()
      .split('\n\n')
      .map(
        (event) =>
          JSON.parse(event.replace(/^data: /, '')) as { type: string; delta?: string; text?: string },
      );
    const last = events.pop();
    t.match(last, { type: 'transcript.text.done', text: TEXT, usage: { type: 'duration', seconds: Number } });
    t.ok(events.every(({ type }) => type === 'transcript.text.delta'));
    t.equal(events.map(({ delta }) => delta).join(''), TEXT);
  }
  for (const format of ['verbose_json', 'srt', 'vtt']) {
    t.equal(
      (
        await refusal(
          await upload([
            ['stream', 'true'],
            ['response_format', format],
          ]),
        )
      ).param,
      'stream',
    );
  }
});

t.test('rule 3: a stream that is false by any name is none', async (t) => {
  for (const word of ['false', 'False', '0', 'none', 'off', '']) {
    t.equal((await jsonOf(await upload([['stream', word]]))).text, TEXT);
  }
  for (const stream of [false, null, 0, 'False'])
    t.equal((await jsonOf(await sendJson({ stream }))).text, TEXT);
});

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
      t.match(await refusal(response), { type: 'invalid_request_error', param: name });
    }
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

t.test('rule 6: native options are 400 on transcriptions', async (t) => {
  const nested = JSON.stringify({ options: { svc: { latency: 'low' } } });
  for (const base of BASES) {
    for (const name of ['X-Svc-Latency', 'x-svc-nothing-known']) {
      const error = await refusal(await upload([], { [name]: 'low' }, base));
      t.match(error, { type: 'invalid_request_error', param: 'X-Svc-*' });
      t.notOk(error.metadata);
      t.equal((await refusal(await sendJson({}, { [name]: 'low' }, base))).param, 'X-Svc-*');
    }
    for (const response of [
      await sendJson({ provider: { options: { svc: { latency: 'low' } } } }, {}, base),
      await upload([['provider', nested]], {}, base),
      await upload([['provider[options][svc][latency]', 'low']], {}, base),
    ]) {
      t.match(await refusal(response), { type: 'invalid_request_error', param: 'provider.options.svc' });
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
    t.match(await refusal(await sendJson({ model })), { type: 'invalid_request_error', param: 'model' });
  }
});

t.test('requests that are not valid', async (t) => {
  const file: Entry = ['file', audio];
  const model: Entry = ['model', MODEL];
  const cases: [Response, string | undefined][] = [
    [await send(form([file])), 'model'],
    [await send(form([model])), 'file'],
    [await send(form([model, ['file', 'text']])), 'file'],
    [await upload([['response_format', 'diarized_json']]), 'response_format'],
    [await upload([['timestamp_granularities[]', 'character']]), 'timestamp_granularities.0'],
    [await upload([['language', 'x'.repeat(17)]]), 'language'],
    [await sendJson({ input_audio: undefined }), 'input_audio'],
    [await sendJson({ input_audio: 'x' }), 'input_audio'],
    [await sendJson({ input_audio: { format: 'wav' } }), 'input_audio'],
    [await sendJson({ input_audio: { data: 'no base64!', format: 'wav' } }), 'input_audio.data'],
    [
      await sendJson({ input_audio: { data: `${base64.slice(0, 80_000)}!!!!${'A'.repeat(80_000)}` } }),
      'input_audio.data',
    ],
    [await sendJson({ language: 7 }), 'language'],
    [await send('[]', { 'content-type': 'application/json' }), 'model'],
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

t.test('what is no audio is said by the provider', async (t) => {
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
    t.match(await refusal(response), { type: 'provider_error', metadata: { provider_name: 'svc' } });
  }
});

t.test('JSON audio of any length, bare or as a data URI', async (t) => {
  const wav = await spoken(`${TEXT} `.repeat(6), 'wav');
  const data = Buffer.from(await wav.arrayBuffer()).toString('base64');
  t.ok(data.length > 2 * 1024 * 1024, 'long enough to be decoded in pieces');
  for (const given of [data, `data:audio/wav;base64,${data}`, `data:audio/mpeg;base64,${base64}`]) {
    const { text } = await jsonOf(await sendJson({ input_audio: { data: given, format: 'wav' } }));
    t.match(text, TEXT);
  }
});

t.test('authentication as on speech', async (t) => {
  t.equal((await refusal(await upload([], { authorization: '' }), 401)).type, 'authentication_error');
  t.equal((await refusal(await upload([], { authorization: 'Bearer wrong' }), 401)).type, 'provider_error');
});

t.test('audio over 100 MiB is 413, in both kinds of body', async (t) => {
  const big = Buffer.alloc(LIMITS.transcription.audioBytes + 1024);
  const asked = [
    () =>
      send(
        form([
          ['model', MODEL],
          ['file', new Blob([big])],
        ]),
      ),
    () => sendJson({ input_audio: { data: big.toString('base64') } }),
    () => sendJson({ prompt: 'x'.repeat(LIMITS.body.transcription) }),
  ];
  for (const ask of asked) {
    const response = await ask().catch((error: unknown) => error as Error);
    if (response instanceof Response) t.equal((await refusal(response, 413)).type, 'invalid_request_error');
    else t.ok(response.cause, 'cut while it was sending');
  }
});

t.test('silence is no words in every form', async (t) => {
  const header = Buffer.from(await (await spoken('a', 'wav')).arrayBuffer()).subarray(0, 44);
  const silence = new Blob([Buffer.concat([header, Buffer.alloc(44_100 * 2)])]);
  const quiet = (format: string) =>
    send(
      form([
        ['model', MODEL],
        ['file', silence],
        ['response_format', format],
      ]),
    );
  t.equal((await jsonOf(await quiet('json'))).text, '');
  t.match(await jsonOf(await quiet('verbose_json')), { text: '', segments: [], duration: 1 });
  t.equal(await textOf(await quiet('srt'), /subrip/), '');
  t.equal(await textOf(await quiet('vtt'), /vtt/), 'WEBVTT\n\n');
});
