/** Speech with the times of its words, as a stream and as a socket, through a whole gateway (docs/contract/native.md 2, 3). */
import { encode } from '@msgpack/msgpack';
import t from '../../fixtures/tap.js';
import { exactly } from '../../fixtures/exactly.js';
import { memberOf } from '../../fixtures/processes/family.js';
import { lentGateway } from '../../fixtures/lent-gateway.js';
import { LiveClient } from '../../fixtures/native/live.js';
import { until } from '../../fixtures/until.js';

const gateway = await lentGateway(t);

const PATH = '/v1/tts/stream/with-timestamp';
const LIVE_PATH = '/v1/tts/live/with-timestamp';

interface Segment {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

interface Chunk {
  readonly audio_base64: string;
  readonly content: string;
  readonly alignment: { readonly segments: readonly Segment[]; readonly audio_duration: number } | null;
  readonly chunk_seq: number;
  readonly chunk_audio_offset_sec: number;
}

const post = (body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${gateway.base}${PATH}`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/** The data of all events; each must be on one line. */
const chunksIn = (stream: string): Chunk[] =>
  stream
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => JSON.parse(/^data: (\{.*\})$/.exec(event)?.[1] ?? 'null') as Chunk);

const audioOf = (chunks: readonly Chunk[]): Buffer =>
  Buffer.concat(chunks.map((chunk) => Buffer.from(chunk.audio_base64, 'base64')));

/** The last event for each chunk of the text. */
const finalOf = (chunks: readonly Chunk[]): Chunk[] => [
  ...new Map(chunks.map((chunk) => [chunk.chunk_seq, chunk])).values(),
];

const absolute = (chunks: readonly Chunk[]): Segment[] =>
  finalOf(chunks).flatMap(({ alignment, chunk_audio_offset_sec: offset }) =>
    (alignment?.segments ?? []).map(({ text, start, end }) => ({
      text,
      start: start + offset,
      end: end + offset,
    })),
  );

async function heardIn(audio: Uint8Array): Promise<readonly Segment[]> {
  const form = new FormData();
  form.set('audio', new Blob([audio]));
  form.set('ignore_timestamps', 'false');
  const response = await fetch(`${gateway.base}/v1/asr`, {
    method: 'POST',
    headers: gateway.authorization,
    body: form,
  });
  return ((await response.json()) as { segments: Segment[] }).segments;
}

const TEXT = 'One small step, for a man. “One” giant leap for mankind! Then: nothing.';
const WORDS = 'One small step for a man One giant leap for mankind Then nothing'.split(' ');
const bare = (text: string): string => text.replace(/[^\p{L}]/gu, '');

// An encoder's delay, and that of an MP3 decoder, which MP3 streams cannot declare.
const MOST_OFF_SECONDS = 0.06;

for (const format of ['pcm', 'wav', 'mp3', 'opus'] as const) {
  t.test(`${format}: the audio of /v1/tts, and every word where it is heard`, async (t) => {
    // Transcription needs a header to read raw samples as a file.
    const body = { text: TEXT, format, latency: 'balanced' };
    const response = await post(body);
    t.equal(response.status, 200);
    t.match(response.headers.get('content-type'), /^text\/event-stream/);
    t.ok(response.headers.get('x-generation-id'));
    const chunks = chunksIn(await response.text());
    for (const chunk of chunks) {
      t.strictSame(Object.keys(chunk).sort(), [
        'alignment',
        'audio_base64',
        'chunk_audio_offset_sec',
        'chunk_seq',
        'content',
      ]);
    }
    t.strictSame(
      finalOf(chunks).map(({ content, chunk_seq: index }) => [index, content]),
      [
        [0, 'One small step, for a man.'],
        [1, '“One” giant leap for mankind!'],
        [2, 'Then: nothing.'],
      ],
    );
    const told = absolute(chunks);
    t.strictSame(
      told.map(({ text }) => text),
      WORDS,
      'words without punctuation',
    );
    const audio = audioOf(chunks);
    const plain = await fetch(`${gateway.base}/v1/tts`, {
      method: 'POST',
      headers: { ...gateway.authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    t.equal(audio.length, (await plain.arrayBuffer()).byteLength);
    if (format === 'pcm') return;
    const heard = await heardIn(audio);
    t.strictSame(
      heard.map(({ text }) => bare(text)),
      WORDS,
    );
    const off = heard.map(({ start }, at) => Math.abs(start - (told[at]?.start ?? -1)));
    t.ok(Math.max(...off) < MOST_OFF_SECONDS, `at most ${Math.max(...off).toFixed(3)} s off`);
  });
}

t.test(
  'alignment is cumulative: each snapshot holds what the one before held, and lies within its audio',
  async (t) => {
    const chunks = chunksIn(await (await post({ text: TEXT, format: 'pcm', sample_rate: 16_000 })).text());
    const sizes = new Map<number, number>();
    for (const { chunk_seq: index, alignment } of chunks) {
      const size = alignment?.segments.length ?? 0;
      t.ok(size >= (sizes.get(index) ?? 0));
      sizes.set(index, size);
      t.ok(alignment && alignment.segments.every(({ end }) => end <= alignment.audio_duration));
    }
  },
);

t.test('MessagePack bodies are taken, empty text is an empty stream', async (t) => {
  const response = await fetch(`${gateway.base}${PATH}`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/msgpack' },
    body: encode({ text: '', format: 'mp3', reference_id: null }),
  });
  t.equal(response.status, 200);
  t.equal(await response.text(), '');
});

t.test('a failure before the first event is a proper error', async (t) => {
  const cases: [unknown, Record<string, string>, number, RegExp][] = [
    [{}, {}, 400, /missing field text/],
    [{ text: 'a', reference_id: 'f'.repeat(32) }, {}, 400, /Reference not found/],
    [{ text: 'a', format: 'ogg' }, {}, 400, /unknown variant/],
    [{ text: 'a' }, { authorization: 'Bearer nope' }, 401, /Invalid Token/],
  ];
  for (const [body, headers, status, message] of cases) {
    const response = await post(body, headers);
    t.equal(response.status, status);
    exactly(t, await response.json(), { status, message });
  }
});

t.test('a failure in the middle is an error event and a broken connection', async (t) => {
  const response = await post({ text: 'On and on. '.repeat(50_000), format: 'mp3' });
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let tail = '';
  const read = async (): Promise<void> => {
    for (;;) {
      const step = await reader?.read();
      if (!step || step.done) return;
      tail = (tail + decoder.decode(step.value, { stream: true })).slice(-4000);
    }
  };
  const reading = read();
  await until('audio has come', () => tail !== '');
  process.kill(memberOf(gateway.pid, 'workers/encode'), 'SIGKILL');
  await t.rejects(reading, 'never a short success');
  const told = /event: error\ndata: (\{.*\})\n\n$/.exec(tail)?.[1];
  exactly(t, JSON.parse(told ?? 'null'), { status: 502, message: String });
  const after = await until('the encoder is back', async () => {
    const again = await post({ text: 'Back.', format: 'mp3' });
    const text = await again.text();
    return again.status === 200 && text;
  });
  t.ok(audioOf(chunksIn(after)).length > 0);
});

/** The events of a live socket as chunks. */
const liveChunks = (client: LiveClient): Chunk[] =>
  client.events
    .filter(({ event }) => event === 'audio')
    .map(({ event: _event, audio, time: _time, ...rest }) => ({
      ...(rest as unknown as Chunk),
      audio_base64: Buffer.from(audio ?? []).toString('base64'),
    }));

t.test('live text: the audio and the words of the stream, from 0 again after each start', async (t) => {
  const client = await new LiveClient(gateway, {}, LIVE_PATH).opened();
  const request = { format: 'pcm', sample_rate: 16_000, latency: 'balanced' };
  const stream = chunksIn(await (await post({ ...request, text: TEXT })).text());
  for (let round = 1; round <= 2; round++) {
    client.events.length = 0;
    client
      .start(request)
      .text(...TEXT.split(/(?<= )/))
      .stop();
    exactly(t, await client.finished(), { reason: 'stop' });
    const chunks = liveChunks(client);
    t.strictSame(absolute(chunks), absolute(stream), `round ${round}`);
    t.strictSame(
      finalOf(chunks).map(({ content, chunk_seq: index }) => [index, content]),
      finalOf(stream).map(({ content, chunk_seq: index }) => [index, content]),
    );
    t.ok(audioOf(chunks).equals(audioOf(stream)));
    for (const { time } of client.events) t.type(time, 'number');
  }
  client.leave();
});

t.test('live text: a failure is an error event, then a finish that says so, then the close', async (t) => {
  const client = await new LiveClient(gateway, {}, LIVE_PATH).opened();
  client
    .start({ reference_id: 'f'.repeat(32) })
    .text('Hello. ')
    .stop();
  t.equal(await client.closed(), 1008);
  const message = /Reference not found/;
  exactly(t, client.events, [
    { event: 'error', error: message },
    { event: 'finish', reason: 'error', message },
  ]);
  const stranger = new LiveClient(gateway, { authorization: 'Bearer nope' }, LIVE_PATH);
  await t.rejects(stranger.opened(), /refused with 401/);
});

t.test('the interface description covers the endpoint', async (t) => {
  const description = (await (await fetch(`${gateway.base}/openapi.json`)).json()) as {
    paths: Record<string, { post?: { responses: Record<string, { content: object }> } }>;
  };
  t.ok(
    description.paths[PATH]?.post?.responses['200']?.content &&
      'text/event-stream' in description.paths[PATH].post.responses['200'].content,
  );
});
