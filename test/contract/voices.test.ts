/** `/model` and `/wallet` through whole gateways on one database (native-and-platform.md section 5). */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decode, encode } from '@msgpack/msgpack';
import t from 'tap';
import { systemClock } from '../../contracts/clock.js';
import { randomIds } from '../../contracts/ids.js';
import { LIMITS } from '../../contracts/limits.js';
import { silentLog } from '../../contracts/log.js';
import { createToneSpeech } from '../../engines/backends/tone/index.js';
import { wavFile } from '../../engines/backends/remote/audio.js';
import { speakAll } from '../../engines/conformance.js';
import { voiceId } from '../../engines/voices.js';
import { createKey } from '../../storage/keys.js';
import { createClonedVoices } from '../../storage/voices.js';
import { startGateway, type Gateway, TEST_KEY } from '../fixtures/gateway.js';
import { startPostgres } from '../fixtures/postgres.js';
import { until } from '../fixtures/until.js';

t.setTimeout(180_000);

type Json = Record<string, unknown>;
interface Entity extends Json {
  readonly _id: string;
  readonly title: string;
  readonly created_at: string;
  readonly tags: string[];
}
interface Page extends Json {
  readonly total: number;
  readonly items: Entity[];
}

const postgres = await startPostgres(t);

/** A service with our own native API: what it is asked for, and a moment of audio as the answer. */
const asked: { path: string; body: Json }[] = [];
const service = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    asked.push({ path: request.url ?? '', body: decode(Buffer.concat(parts)) as Json });
    response.end(Buffer.alloc(3200));
  });
}).listen(0, '127.0.0.1');
await once(service, 'listening');
t.teardown(() => service.close());

const gateway = await startGateway({ DATABASE_URL: postgres.url });
t.teardown(() => gateway.stop());
const cloning = await startGateway({
  DATABASE_URL: postgres.url,
  TTS_ENGINES: 'native-compatible',
  REMOTE_NATIVE_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
  REMOTE_NATIVE_VOICES: 'default,nova',
  REMOTE_NATIVE_LANGUAGES: 'en,ja',
});
t.teardown(() => cloning.stop());

const database = await postgres.open();
const [key] = await database.sql`select workspace_id from api_keys where origin = 'environment'`;
const workspaceId = key!['workspace_id'] as string;
const otherWorkspace = randomIds.next('workspace');
await database.sql`insert into workspaces (id, name, synthesis_characters) values (${otherWorkspace}, 'Other', 1000)`;
const { key: otherKey } = await createKey(database.sql, randomIds, {
  workspaceId: otherWorkspace,
  name: 'other',
});

const TONE_ID = voiceId('tone', createToneSpeech().voices[0]!.name);

interface Call {
  readonly method?: string;
  readonly key?: string;
  readonly type?: string;
  readonly body?: string | Uint8Array<ArrayBuffer> | FormData;
}

const call = (at: Gateway, path: string, { method = 'GET', key = TEST_KEY, type, body }: Call = {}) =>
  fetch(`${at.base}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(type && { 'content-type': type }) },
    ...(body !== undefined && { body }),
  });

const asJson = (method: string, value: unknown): Call => ({
  method,
  type: 'application/json',
  body: JSON.stringify(value),
});

const read = async <T extends Json>(response: Response | Promise<Response>): Promise<T> =>
  (await (await response).json()) as T;

const list = (query: string): Promise<Page> => read<Page>(call(gateway, `/model?${query}`));

const { samples } = await speakAll(createToneSpeech(), {
  text: 'reference',
  voice: 'tone',
  language: 'en',
  speed: 1,
});
const AUDIO = Buffer.from(wavFile(samples));
const FIELDS = { type: 'tts', train_mode: 'fast', title: 'Mine' };

const REQUIRED = [
  '_id', 'type', 'title', 'description', 'cover_image', 'train_mode', 'state', 'tags', 'samples', 'created_at',
  'updated_at', 'languages', 'visibility', 'lock_visibility', 'like_count', 'mark_count', 'shared_count',
  'task_count', 'author',
]; // prettier-ignore

t.test('every route needs a key, and says so in the native shape', async (t) => {
  const routes: [string, string][] = [
    ['GET', '/model'],
    ['POST', '/model'],
    ['GET', `/model/${TONE_ID}`],
    ['PATCH', `/model/${TONE_ID}`],
    ['DELETE', `/model/${TONE_ID}`],
    ['GET', '/wallet/self/api-credit'],
    ['GET', '/wallet/self/package'],
  ];
  for (const [method, path] of routes) {
    const bare = await fetch(`${gateway.base}${path}`, { method });
    t.equal(bare.status, 401, `${method} ${path}`);
    t.equal(bare.headers.get('www-authenticate'), 'Bearer');
    t.same(await bare.json(), { status: 401, message: 'Missing API key' });
    const wrong = await call(gateway, path, { method, key: 'wrong' });
    t.same(await wrong.json(), { status: 401, message: 'Invalid Token' });
  }
});

t.test('an engine voice: read by id and as alloy, with every field that clients require', async (t) => {
  const voice = await read<Entity>(call(gateway, `/model/${TONE_ID}`));
  for (const name of REQUIRED) t.ok(name in voice, name);
  t.match(voice, { _id: TONE_ID, type: 'tts', state: 'trained', author: { _id: 'tone', nickname: 'tone' } });
  t.same(await read(call(gateway, '/model/alloy')), voice);
  for (const id of ['Alloy', 'f'.repeat(32), 'default', '%00', "'--", 'x'.repeat(5000)]) {
    const missing = await call(gateway, `/model/${id}`);
    t.equal(missing.status, 404, id);
    t.same(await missing.json(), { status: 404, message: 'Model not found' });
  }
  t.same(await read(call(gateway, '/model/a/b')), { status: 404, message: 'Not found' });
});

t.test('engine voices are read-only', async (t) => {
  for (const id of [TONE_ID, 'alloy']) {
    for (const request of [asJson('PATCH', { title: 'x' }), { method: 'PATCH' }, { method: 'DELETE' }]) {
      const refused = await call(gateway, `/model/${id}`, request);
      t.equal(refused.status, 403);
      t.match(await refused.json(), { status: 403, message: /cannot be changed/ });
    }
  }
  t.equal((await call(gateway, `/model/${TONE_ID}`)).status, 200);
});

t.test('where no engine clones, a creation is a clear 400 and stores nothing', async (t) => {
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
  msgpack: ['packed'],
  json: [''],
  form: [''],
};

const speak = (at: Gateway, body: Json, key = TEST_KEY) =>
  call(at, '/v1/tts', { ...asJson('POST', { text: 'Hello.', format: 'pcm', ...body }), key });

t.test('where an engine clones', async (t) => {
  const made: Entity[] = [];

  for (const [type, creation] of Object.entries(creations)) {
    await t.test(`a voice made by ${type} speaks with its own reference audio`, async (t) => {
      const response = await call(cloning, '/model', creation());
      t.equal(response.status, 201);
      const voice = await read<Entity>(response);
      made.push(voice);
      for (const name of REQUIRED) t.ok(name in voice, name);
      t.match(voice, { title: 'Mine', tags: ['a', 'b'], train_mode: 'fast', languages: ['en', 'ja'] });
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
      [{ ...FIELDS, voices: [big] }, 413, /too large/],
      [{ ...FIELDS, tags: Array(21).fill('t'), voices: [base64] }, 400, /tags/],
    ];
    const before = await list('self=true');
    for (const [fields, status, message] of cases) {
      const request = { method: 'POST', type: 'application/msgpack', body: encode(fields) };
      const refused = await call(cloning, '/model', request);
      t.equal(refused.status, status, String(message));
      t.match(await refused.json(), { status, message });
    }
    const odd = await call(cloning, '/model', { method: 'POST', type: 'text/plain', body: 'x' });
    t.equal(odd.status, 415);
    t.equal((await list('self=true')).total, before.total);
  });

  t.test('a cloned voice is never replaced by another', async (t) => {
    const { _id: reference_id } = made[0]!;
    const silent = await speak(gateway, { reference_id });
    t.equal(silent.status, 400);
    t.match(await silent.json(), { message: 'No configured engine can speak with reference audio' });
    const korean = await speak(cloning, { reference_id, text: '안녕하세요' });
    t.match(await read(korean), { status: 400, message: 'This voice cannot speak "ko"' });
    const foreign = await speak(cloning, { reference_id }, otherKey);
    t.match(await read(foreign), { status: 400, message: 'Reference not found' });
  });

  t.test('another workspace does not see it', async (t) => {
    const path = `/model/${made[0]!._id}`;
    for (const request of [{}, { method: 'DELETE' }, asJson('PATCH', { title: 'theirs' })])
      t.equal((await call(cloning, path, { ...request, key: otherKey })).status, 404);
    const theirs = await read<Page>(call(cloning, '/model?self=true', { key: otherKey }));
    t.equal(theirs.total, 0);
    t.match(await read(call(cloning, path)), { title: 'Mine' });
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
    t.match(voice, { title: 'New', description: 'Said in a form', tags: [], visibility: 'private' });
    for (const [body, message] of [
      [{ title: '' }, /title/],
      [{ visibility: 'x' }, /visibility/],
      [{ tags: 'x' }, /tags/],
    ] as const)
      t.match(await read(call(cloning, `/model/${id}`, asJson('PATCH', body))), { status: 400, message });
  });

  t.test('DELETE is 204, then it is gone: to read, to change, and to speak on every gateway', async (t) => {
    const path = `/model/${made[1]!._id}`;
    // Deleted through the gateway that does not hold it in memory.
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
});

t.test('the list', async (t) => {
  const store = await createClonedVoices({ database, ids: randomIds, clock: systemClock, log: silentLog });
  t.teardown(() => store.stop());
  const references = [{ audio: AUDIO, text: '' }];
  await database.sql`delete from voices`;
  for (let index = 0; index < 101; index++) {
    const title = index === 0 ? 'こんにちは' : `Voice ${index}`;
    const tags = index < 3 ? ['few', index === 0 ? 'One' : 'rest'] : [];
    await store.create({ title, description: '', tags, visibility: 'public', references }, workspaceId);
  }
  const engines = (await list('author_id=tone')).total;
  const total = engines + 101;

  t.test('pages of 1 to 100, ten by default, on both sides of the edges', async (t) => {
    t.match(await list(''), { total, has_more: true, total_is_exact: true });
    t.equal((await list('')).items.length, 10);
    t.equal((await list('page_size=1')).items.length, 1);
    t.equal((await list('page_size=100')).items.length, 100);
    t.match(await list('page_size=100&page_number=2'), { total, has_more: false });
    t.equal((await list('page_size=100&page_number=2')).items.length, total - 100);
    t.same((await list('page_size=100&page_number=3')).items, []);
    t.equal((await list(`page_size=${total - 100}&page_number=1`)).items[0]?._id, TONE_ID);
    const [first, second] = await Promise.all([list('page_size=50'), list('page_size=50&page_number=2')]);
    t.equal(new Set([...first.items, ...second.items].map(({ _id }) => _id)).size, 100);
    for (const query of [
      'page_size=0',
      'page_size=101',
      'page_size=-1',
      'page_size=ten',
      'page_size=1.5',
      'page_number=0',
      `page_number=${LIMITS.voice.pageNumber.max + 1}`,
      'sort_by=likes',
      'self=perhaps',
      `title=${'x'.repeat(201)}`,
      Array(21).fill('tag=x').join('&'),
    ]) {
      const refused = await call(gateway, `/model?${query}`);
      t.equal(refused.status, 400, query.slice(0, 40));
      t.match(await refused.json(), { status: 400, message: new RegExp(query.split('=')[0]!) });
    }
  });

  t.test('filters', async (t) => {
    const counts: [string, number][] = [
      ['self=true', 101],
      ['self=True', 101],
      ['self=false', total],
      [`author_id=${workspaceId}`, 101],
      ['author_id=nobody', 0],
      ['title=VOICE%2010', 2],
      ['title=nothing%20has%20this', 0],
      ['tag=few', 3],
      ['tag=few&tag=one', 1],
      ['tag=one&tag=rest', 0],
      ['tag=', total],
      ['language=en', engines],
      ['language=en&language=de', engines],
      ['language=xx', 0],
      ['title_language=ja', 1],
      ['unknown=1', total],
    ];
    for (const [query, expected] of counts) t.equal((await list(query)).total, expected, query);
  });

  t.test('order: the library, or the newest first', async (t) => {
    for (const by of ['score', 'task_count']) t.equal((await list(`sort_by=${by}`)).items[0]?._id, TONE_ID);
    const { items } = await list('sort_by=created_at&page_size=100');
    const times = items.map(({ created_at }) => created_at);
    t.same(times, [...times].sort().reverse());
    t.equal(items[0]?.title, 'Voice 100');
  });
});

t.test('the wallet: what is left of the quota, else a large constant', async (t) => {
  const free = await read(call(gateway, '/wallet/self/api-credit'));
  t.match(free, { user_id: workspaceId, credit: '1000000000.000000', has_free_credit: false });
  t.match(await read(call(gateway, `/wallet/${workspaceId}/package`)), {
    type: 'unlimited',
    total: 1_000_000_000,
  });

  const month = new Date(new Date().toISOString().slice(0, 7)).toISOString();
  await database.sql`insert into usage (workspace_id, kind, month, amount)
    values (${otherWorkspace}, 'synthesis_characters', ${month.slice(0, 10)}, 400)`;
  const limited = await read(call(gateway, '/wallet/self/api-credit', { key: otherKey }));
  t.match(limited, { credit: '600.000000', cumulative_top_up: '1000.000000' });
  t.ok(Date.parse(limited['created_at'] as string) <= Date.now() + 60_000);
  const monthly = await read(call(gateway, '/wallet/self/package', { key: otherKey }));
  t.match(monthly, { type: 'monthly', total: 1000, balance: 600, created_at: month });
  t.ok((monthly['finished_at'] as string) > new Date().toISOString());
  await database.sql`update usage set amount = 5000 where workspace_id = ${otherWorkspace}`;
  t.match(await read(call(gateway, '/wallet/self/api-credit', { key: otherKey })), { credit: '0.000000' });

  const foreign = await call(gateway, `/wallet/${otherWorkspace}/api-credit`);
  t.equal(foreign.status, 404);
  t.same(await foreign.json(), { status: 404, message: 'Wallet not found' });
});

t.test('the interface description names every route', async (t) => {
  const { paths } = (await (await fetch(`${gateway.base}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  t.same(Object.keys(paths['/model']!).sort(), ['get', 'post']);
  t.same(Object.keys(paths['/model/{id}']!).sort(), ['delete', 'get', 'patch']);
  for (const path of ['/wallet/{self}/api-credit', '/wallet/{self}/package'])
    t.ok(paths[path]?.['get'], path);
});
