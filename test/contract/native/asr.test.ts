/** POST /v1/asr through a whole gateway (docs/contract/native.md 4). */
import { encode } from '@msgpack/msgpack';
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { RawClient } from '../../fixtures/edge/edge.js';
import { exactly } from '../../fixtures/exactly.js';
import { sharedGateway, TEST_KEY } from '../../fixtures/gateway.js';
import { longForm, postLong } from '../../fixtures/edge/long-bodies.js';

const gateway = await sharedGateway(t);

interface Heard {
  text: string;
  duration: number;
  segments: { text: string; start: number; end: number }[];
  language?: string;
  language_code?: string;
}

const TEXT = 'Tones carry text, exactly.';

async function spoken(text: string, format = 'mp3'): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(`${gateway.base}/v1/tts`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ text, format }),
  });
  if (!response.ok) throw new Error(`synthesis: ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

const asr = (body: string | Uint8Array<ArrayBuffer> | FormData, headers: Record<string, string> = {}) =>
  fetch(`${gateway.base}/v1/asr`, {
    method: 'POST',
    headers: { ...gateway.authorization, ...headers },
    body,
  });

const form = (entries: [string, string | Blob][]): FormData => {
  const data = new FormData();
  for (const [name, value] of entries) data.append(name, value);
  return data;
};

const heard = async (response: Response): Promise<Heard> => {
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as Heard;
};

const audio = await spoken(TEXT);
const file = new Blob([audio]);

t.test('multipart: the words, the duration, fields in any order', async (t) => {
  const before = await heard(
    await asr(
      form([
        ['language', 'en'],
        ['ignore_timestamps', 'false'],
        ['audio', file],
      ]),
    ),
  );
  const after = await heard(
    await asr(
      form([
        ['audio', file],
        ['ignore_timestamps', 'false'],
        ['language', 'en'],
      ]),
    ),
  );
  t.strictSame(after, before);
  t.equal(before.text, TEXT);
  exactly(t, before, { language_code: 'en', language: 'English' });
  t.ok(before.duration > 0.5);
});

t.test(
  'segments are in seconds, in order, within the audio, and left out when they are not wanted',
  async (t) => {
    const { segments, duration } = await heard(
      await asr(
        form([
          ['audio', file],
          ['ignore_timestamps', 'false'],
        ]),
      ),
    );
    t.ok(segments.length > 0);
    let last = 0;
    for (const { start, end } of segments) {
      t.ok(start >= last && end > start && end <= duration + 0.1);
      last = start;
    }
    t.strictSame((await heard(await asr(form([['audio', file]])))).segments, [], 'true is the default');
  },
);

t.test('only true counts as true in a multipart field', async (t) => {
  const { segments } = await heard(
    await asr(
      form([
        ['audio', file],
        ['ignore_timestamps', 'True-ish'],
      ]),
    ),
  );
  t.ok(segments.length > 0);
});

t.test('MessagePack: binary audio, nil for what is not set', async (t) => {
  const packed = (value: unknown) => asr(encode(value), { 'content-type': 'application/msgpack' });
  const result = await heard(await packed({ audio, language: null, ignore_timestamps: false }));
  t.equal(result.text, TEXT);
  t.ok(result.segments.length > 0);
  t.notOk('language' in result, 'no language where none was sent');
  for (const body of [{}, { audio: 'text' }, { audio, language: 7 }, [1], 'x']) {
    const response = await packed(body);
    t.equal(response.status, 400);
    exactly(t, await response.json(), { status: 400 });
  }
});

t.test('every format that we speak is heard', async (t) => {
  for (const format of ['wav', 'mp3', 'opus']) {
    const bytes = await spoken(TEXT, format);
    t.equal((await heard(await asr(form([['audio', new Blob([bytes])]])))).text, TEXT, format);
  }
});

t.test(
  'the language that was asked for is told by its code and its name, however it was written',
  async (t) => {
    const asked = [
      ['it', 'it', 'Italian'],
      ['eng', 'en', 'English'],
      ['pt_BR', 'pt', 'Portuguese'],
      ['EN-gb', 'en', 'English'],
    ] as const;
    for (const [written, language_code, language] of asked) {
      const entries: [string, string | Blob][] = [['language', written], ['audio', file]]; // oxfmt-ignore
      exactly(t, await heard(await asr(form(entries))), { language_code, language }, written);
    }
    const unknown = await heard(await asr(form([['language', 'und'], ['audio', file]]))); // oxfmt-ignore
    t.notOk('language_code' in unknown, 'und says none');
  },
);

t.test('JSON is 415, a form without audio is 400', async (t) => {
  t.equal((await asr('{}', { 'content-type': 'application/json' })).status, 415);
  t.equal((await asr('x', { 'content-type': 'text/plain' })).status, 415);
  const missing = await asr(form([['language', 'en']]));
  t.equal(missing.status, 400);
  exactly(t, await missing.json(), { status: 400, message: 'missing field audio' });
});

t.test('hostile media is 400 and leaves nothing behind', async (t) => {
  const playlist = '#EXTM3U\n#EXTINF:10,\nhttp://127.0.0.1:1/secret.ts\n';
  const cases: [string, string | Uint8Array<ArrayBuffer>][] = [
    ['empty', ''],
    ['text', 'this is not audio'],
    ['playlist', playlist],
    ['concat script', "ffconcat version 1.0\nfile '/etc/passwd'\n"],
    ['half a header', audio.slice(0, 3)],
    ['an image', new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0])],
    [
      'a lying container',
      Buffer.concat([Buffer.from('RIFF\xff\xff\xff\xffWAVE', 'latin1'), Buffer.alloc(40)]),
    ],
  ];
  for (const [name, bytes] of cases) {
    const response = await asr(form([['audio', new Blob([bytes])]]));
    t.equal(response.status, 400, name);
    exactly(t, await response.json(), { status: 400 });
  }
});

t.test('multipart that is not what it says', async (t) => {
  const type = { 'content-type': 'multipart/form-data; boundary=x' };
  const cases: [Record<string, string>, string][] = [
    [{ 'content-type': 'multipart/form-data' }, 'anything'],
    [type, ''],
    [type, '--x\r\nContent-Disposition: form-data; name="audio"; filename="a"\r\n\r\nabc'],
    [type, 'no boundary at all'],
  ];
  for (const [headers, body] of cases) {
    const response = await asr(body, headers);
    t.equal(response.status, 400, body);
    exactly(t, await response.json(), { status: 400 });
  }
});

t.test('silence is no words', async (t) => {
  const header = (await spoken('', 'wav')).slice(0, 44);
  const silence = Buffer.concat([header, Buffer.alloc(44_100 * 2)]);
  const result = await heard(await asr(form([['audio', new Blob([silence])]])));
  t.equal(result.text, '');
  t.ok(Math.abs(result.duration - 1) < 0.05);
});

t.test('keys and generation ids as on synthesis', async (t) => {
  const response = await fetch(`${gateway.base}/v1/asr`, { method: 'POST', body: form([['audio', file]]) });
  t.equal(response.status, 401);
  t.ok(response.headers.get('x-generation-id'));
});

// Last, because the edge may shed requests right after it.
t.test('audio over 100 MiB and bodies over 140 MiB are 413 (decision 5)', async (t) => {
  const { audioBytes } = LIMITS.transcription;
  const post = (bytes: number) =>
    postLong(`${gateway.base}/v1/asr`, gateway.authorization, longForm('audio', bytes));
  t.equal((await post(audioBytes))?.status, 400, 'no audio, but not too large');
  const refused = await post(audioBytes + 1);
  if (refused) {
    t.equal(refused.status, 413);
    exactly(t, await refused.json(), { status: 413 });
  } else t.pass('cut while it was sending');
  const head = [
    'POST /v1/asr HTTP/1.1',
    'Host: a',
    `Authorization: Bearer ${TEST_KEY}`,
    'Content-Type: application/msgpack',
    `Content-Length: ${LIMITS.body.transcription + 1}`,
  ];
  const client = new RawClient(Number(new URL(gateway.base).port)).write(`${head.join('\r\n')}\r\n\r\n`);
  await client.sees('"status":413');
  t.match(client.text, /^HTTP\/1\.1 413 /, 'before any of the body has come');
  client.leave();
});
