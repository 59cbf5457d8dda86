/**
 * Voices that clients create, through two gateways on one database: creation, speech, change and deletion with an engine
 * that clones, and a refusal without one (docs/contract/native.md 5).
 */
import { once } from 'node:events';
import { httpDouble } from '../../fixtures/http-double.js';
import type { AddressInfo } from 'node:net';
import { decode, encode } from '@msgpack/msgpack';
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { exactly } from '../../fixtures/exactly.js';
import { type GatewayAddress, startGateway } from '../../fixtures/gateway.js';
import { until } from '../../fixtures/until.js';
import {
  asJson,
  AUDIO,
  type Call,
  call,
  type Entity,
  FIELDS,
  type Json,
  type Page,
  read,
  REQUIRED,
  startVoices,
} from '../../fixtures/speech/voices.js';

const { url, gateway, otherKey, list } = await startVoices(t);

/** A service with our own native API: records requests, and answers with a moment of audio. */
const asked: { path: string; body: Json }[] = [];
const service = httpDouble((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    asked.push({ path: request.url ?? '', body: decode(Buffer.concat(parts)) as Json });
    response.end(Buffer.alloc(3200));
  });
}).listen(0, '127.0.0.1');
await once(service, 'listening');
t.teardown(() => service.close());

const neighbour = await startGateway({
  DATABASE_URL: url,
  TTS_ENGINES: 'native-compatible',
  REMOTE_NATIVE_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
  REMOTE_NATIVE_VOICES: 'default,nova',
  REMOTE_NATIVE_LANGUAGES: 'en,ja',
});
t.teardown(() => neighbour.stop());
const cloning: GatewayAddress = { ...gateway, base: neighbour.base };

t.test('if no engine clones, a creation is a clear 400 and stores nothing', async (t) => {
  const form = new FormData();
  for (const [name, value] of Object.entries(FIELDS)) form.set(name, value);
  form.set('voices', new Blob([AUDIO]));
  for (const request of [{ method: 'POST', body: form }, asJson('POST', FIELDS)]) {
    const refused = await call(gateway, '/model', request);
    t.equal(refused.status, 400);
    t.same(await refused.json(), {
      status: 400,
      message: 'No configured engine can clone a voice from reference audio',
    });
  }
  t.equal((await list('self=true')).total, 0);
});

const creations: Record<string, () => Call> = {
  multipart: () => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ ...FIELDS, tags: 'a,b', visibility: 'private' }))
      form.append(name, value);
    for (const text of ['first', 'second, with a comma']) form.append('texts', text);
    for (const name of ['1.wav', '2.wav']) form.append('voices', new File([AUDIO], name));
    form.append('cover_image', new File([new Uint8Array([1])], 'cover.png'));
    return { method: 'POST', body: form };
  },
  // As fish-audio for JavaScript sends it: the texts in one field, joined only by commas.
  'multipart with joined texts': () => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ ...FIELDS, tags: 'a,b' })) form.append(name, value);
    form.append('texts', String(['first, and on', 'second']));
    for (const name of ['1.wav', '2.wav']) form.append('voices', new File([AUDIO], name));
    return { method: 'POST', body: form };
  },
  // As fish-audio-sdk for Python sent it before it spelled `train_mode`.
  'multipart with a misspelt field': () => {
    const form = new FormData();
    const fields = { type: 'tts', title: 'Mine', train_model: 'fast', visibility: 'private' };
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    for (const tag of ['a', 'b']) form.append('tags', tag);
    form.append('voices', new File([AUDIO], 'upload'));
    return { method: 'POST', body: form };
  },
  msgpack: () => ({
    method: 'POST',
    type: 'application/msgpack',
    body: encode({ ...FIELDS, tags: ['a', 'b'], voices: [AUDIO], texts: ['packed'], description: null }),
  }),
  json: () => asJson('POST', { ...FIELDS, tags: ['a', 'b'], voices: AUDIO.toString('base64') }),
  form: () => ({
    method: 'POST',
    type: 'application/x-www-form-urlencoded',
    body: new URLSearchParams({ ...FIELDS, tags: 'a, b', voices: AUDIO.toString('base64') }).toString(),
  }),
};
const texts: Record<string, string[]> = {
  multipart: ['first', 'second, with a comma'],
  'multipart with joined texts': ['first, and on', 'second'],
  'multipart with a misspelt field': [''],
  msgpack: ['packed'],
  json: [''],
  form: [''],
};

const speak = (at: GatewayAddress, body: Json, key?: string) =>
  call(at, '/v1/tts', {
    ...asJson('POST', { text: 'Hello.', format: 'pcm', ...body }),
    ...(key && { key }),
  });

const made: Entity[] = [];

for (const [type, creation] of Object.entries(creations)) {
  await t.test(`a voice made by ${type} speaks with its own reference audio`, async (t) => {
    const response = await call(cloning, '/model', creation());
    t.equal(response.status, 201);
    const voice = await read<Entity>(response);
    made.push(voice);
    for (const name of REQUIRED) t.ok(name in voice, name);
    exactly(t, voice, { title: 'Mine', train_mode: 'fast' });
    t.strictSame(
      [voice.tags, voice.languages],
      [
        ['a', 'b'],
        ['en', 'ja'],
      ],
    );
    t.same(await read(call(cloning, `/model/${voice._id}`)), voice);
    t.equal((await speak(cloning, { reference_id: voice._id })).status, 200);
    const { body } = asked.at(-1)!;
    t.notOk('reference_id' in body, 'the remote is asked for no voice of its own');
    const references = body['references'] as { audio: Uint8Array; text: string }[];
    t.same(
      references.map(({ text }) => text),
      texts[type],
    );
    for (const { audio } of references) t.ok(AUDIO.equals(audio), 'byte for byte');
  });
}

t.test('creations that are not valid, each with its reason', async (t) => {
  const base64 = AUDIO.toString('base64');
  const big = Buffer.concat([AUDIO, Buffer.alloc(LIMITS.voice.referenceBytes)]);
  /** Three of them are more than the 20 MiB of one voice. */
  const seven = Buffer.concat([AUDIO, Buffer.alloc(7 * 1024 * 1024)]);
  const cases: [Json, number, RegExp][] = [
    [{ ...FIELDS }, 400, /missing field voices/],
    [{ ...FIELDS, title: undefined, voices: [AUDIO] }, 400, /missing field title/],
    [{ ...FIELDS, type: 'svc', voices: [AUDIO] }, 400, /svc/],
    [{ ...FIELDS, title: 'a\0b', voices: [AUDIO] }, 400, /title/],
    [{ ...FIELDS, visibility: 'mine', voices: [AUDIO] }, 400, /mine/],
    [{ ...FIELDS, voices: Array(21).fill(AUDIO) }, 400, /1 to 20/],
    [{ ...FIELDS, voices: ['no base64!'] }, 400, /voices must be audio files/],
    [{ ...FIELDS, voices: [AUDIO, AUDIO], texts: ['one'] }, 400, /texts/],
    [{ ...FIELDS, voices: [Buffer.from('this is no audio')] }, 400, /could not be decoded/],
    [{ ...FIELDS, voices: [Buffer.alloc(0)] }, 400, /could not be decoded/],
    [{ ...FIELDS, voices: [AUDIO], texts: ['x'.repeat(2001)] }, 400, /texts.*2000/],
    [{ ...FIELDS, voices: [big] }, 413, /too large/],
    [{ ...FIELDS, voices: Array(3).fill(seven) }, 413, /too large/],
    [{ ...FIELDS, tags: Array(21).fill('t'), voices: [base64] }, 400, /tags/],
  ];
  const before = await list('self=true');
  for (const [fields, status, message] of cases) {
    const request = { method: 'POST', type: 'application/msgpack', body: encode(fields) };
    const refused = await call(cloning, '/model', request);
    t.equal(refused.status, status, String(message));
    exactly(t, await refused.json(), { status, message });
  }
  const commas = { ...FIELDS, tags: ','.repeat(5000), voices: AUDIO.toString('base64') };
  const body = new URLSearchParams(commas).toString();
  const type = 'application/x-www-form-urlencoded';
  const refused = await call(cloning, '/model', { method: 'POST', type, body });
  exactly(t, await refused.json(), { status: 400, message: /tags/ }, 'no list of thousands of tags');
  const odd = await call(cloning, '/model', { method: 'POST', type: 'text/plain', body: 'x' });
  t.equal(odd.status, 415);
  t.equal((await list('self=true')).total, before.total);
});

t.test('a cloned voice is never replaced by another', async (t) => {
  const { _id: reference_id } = made[0]!;
  const silent = await speak(gateway, { reference_id });
  t.equal(silent.status, 400);
  exactly(t, await silent.json(), { message: 'No configured engine can speak with reference audio' });
  const korean = await speak(cloning, { reference_id, text: '안녕하세요' });
  exactly(t, await read(korean), {
    status: 400,
    message: 'Language not supported: this voice cannot read Hangul script',
  });
  const foreign = await speak(cloning, { reference_id }, otherKey);
  exactly(t, await read(foreign), { status: 400, message: /^Reference not found: no voice/ });
});

t.test(
  'fields that only engines look at reach one that knows them, and only those that were sent',
  async (t) => {
    const fields = {
      ...{ temperature: 0, top_p: 0.5, repetition_penalty: 1.1, min_chunk_length: 0, max_new_tokens: 700 },
      ...{ condition_on_previous_chunks: false, early_stop_threshold: 0.5, features: ['quality-guard'] },
    };
    t.equal((await speak(cloning, fields)).status, 200);
    exactly(t, asked.at(-1)!.body, fields);
    t.equal((await speak(cloning, { max_new_tokens: null })).status, 200);
    for (const name of Object.keys(fields)) t.notOk(name in asked.at(-1)!.body, name);
  },
);

t.test('another workspace does not see it', async (t) => {
  const path = `/model/${made[0]!._id}`;
  for (const request of [{}, { method: 'DELETE' }, asJson('PATCH', { title: 'theirs' })])
    t.equal((await call(cloning, path, { ...request, key: otherKey })).status, 404);
  const theirs = await read<Page>(call(cloning, '/model?self=true', { key: otherKey }));
  t.equal(theirs.total, 0);
  exactly(t, await read(call(cloning, path)), { title: 'Mine' });
});

t.test('PATCH changes what it names and keeps the rest', async (t) => {
  const { _id: id } = made[0]!;
  const changed = await call(
    cloning,
    `/model/${id}`,
    asJson('PATCH', { title: 'New', tags: [], description: null }),
  );
  t.equal(changed.status, 200);
  t.equal(await changed.text(), '');
  const form = new FormData();
  form.set('description', 'Said in a form');
  t.equal((await call(cloning, `/model/${id}`, { method: 'PATCH', body: form })).status, 200);
  const voice = await read<Entity>(call(gateway, `/model/${id}`));
  exactly(t, voice, { title: 'New', description: 'Said in a form', visibility: 'private' });
  t.strictSame(voice.tags, []);
  for (const [body, message] of [
    [{ title: '' }, /title/],
    [{ visibility: 'x' }, /visibility/],
    [{ tags: 'x' }, /tags/],
  ] as const)
    exactly(t, await read(call(cloning, `/model/${id}`, asJson('PATCH', body))), { status: 400, message });
});

t.test('DELETE is 204, then it is gone: to read, to change, and to speak on every gateway', async (t) => {
  const path = `/model/${made[1]!._id}`;
  // Deleted through the gateway that does not have it in memory.
  const gone = await call(gateway, path, { method: 'DELETE' });
  t.equal(gone.status, 204);
  t.equal(await gone.text(), '');
  for (const request of [{}, { method: 'DELETE' }, asJson('PATCH', { title: 'x' })])
    t.equal((await call(cloning, path, request)).status, 404);
  await until('it does not speak any more', async () => {
    const response = await speak(cloning, { reference_id: made[1]!._id });
    await response.body?.cancel();
    return response.status === 400;
  });
});
