/**
 * The voice library and the wallet through a whole gateway: keys, engine voices, lists (docs/contract/native.md 5).
 */
import t from '../../fixtures/tap.js';
import { systemClock } from '../../../contracts/clock.js';
import { randomIds } from '../../../contracts/ids.js';
import { LIMITS } from '../../../contracts/limits.js';
import { silentLog } from '../../../contracts/log.js';
import { createClonedVoices } from '../../../storage/voices.js';
import { exactly } from '../../fixtures/exactly.js';
import {
  asJson,
  AUDIO,
  call,
  type Entity,
  read,
  REQUIRED,
  startVoices,
  TONE_ID,
} from '../../fixtures/speech/voices.js';

const { gateway, database, workspaceId, otherWorkspace, otherKey, list } = await startVoices(t);

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
  exactly(t, voice, {
    _id: TONE_ID,
    type: 'tts',
    state: 'trained',
    author: { _id: 'tone', nickname: 'tone' },
  });
  t.same(await read(call(gateway, '/model/alloy')), voice);
  for (const id of ['Alloy', 'f'.repeat(32), 'default', '%00', "'--", 'x'.repeat(5000)]) {
    const missing = await call(gateway, `/model/${id}`);
    t.equal(missing.status, 404, id);
    t.same(await missing.json(), { status: 404, message: 'Model not found' });
    for (const request of [asJson('PATCH', { title: 'x' }), { method: 'DELETE' }]) {
      const refused = await call(gateway, `/model/${id}`, request);
      t.equal(refused.status, 404, `${request.method} ${id}`);
    }
  }
  t.same(await read(call(gateway, '/model/a/b')), { status: 404, message: 'Not found' });
});

t.test('engine voices are read-only', async (t) => {
  for (const id of [TONE_ID, 'alloy']) {
    for (const request of [asJson('PATCH', { title: 'x' }), { method: 'PATCH' }, { method: 'DELETE' }]) {
      const refused = await call(gateway, `/model/${id}`, request);
      t.equal(refused.status, 403);
      exactly(t, await refused.json(), { status: 403, message: /cannot be changed/ });
    }
  }
  t.equal((await call(gateway, `/model/${TONE_ID}`)).status, 200);
});

t.test('the list: pages, filters, order', async (t) => {
  const store = await createClonedVoices({ database, ids: randomIds, clock: systemClock, log: silentLog });
  t.teardown(() => store.stop());
  const references = [{ audio: AUDIO, text: '' }];
  await database.sql`delete from voices where workspace_id = ${workspaceId}`;
  for (let index = 0; index < 101; index++) {
    const title = index === 0 ? 'こんにちは' : `Voice ${index}`;
    const tags = index < 3 ? ['few', index === 0 ? 'One' : 'rest'] : [];
    await store.create({ title, description: '', tags, visibility: 'public', references }, workspaceId);
  }
  const engines = (await list('author_id=tone')).total;
  const total = engines + 101;

  t.test('pages of 1 to 100, ten by default, on both sides of the edges', async (t) => {
    exactly(t, await list(''), { total, has_more: true, total_is_exact: true });
    t.equal((await list('')).items.length, 10);
    t.equal((await list('page_size=1')).items.length, 1);
    t.equal((await list('page_size=100')).items.length, 100);
    exactly(t, await list('page_size=100&page_number=2'), { total, has_more: false });
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
      'title=',
      Array(21).fill('tag=x').join('&'),
    ]) {
      const refused = await call(gateway, `/model?${query}`);
      t.equal(refused.status, 400, query.slice(0, 40));
      exactly(t, await refused.json(), { status: 400, message: new RegExp(query.split('=')[0]!) });
    }
  });

  t.test('filters narrow the list, alone and together', async (t) => {
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
      ['title_language=ja&title_language=en', total],
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
  exactly(t, free, { user_id: workspaceId, credit: '1000000000.000000', has_free_credit: false });
  exactly(t, await read(call(gateway, `/wallet/${workspaceId}/package`)), {
    type: 'unlimited',
    total: 1_000_000_000,
  });

  const month = new Date(new Date().toISOString().slice(0, 7)).toISOString();
  await database.sql`insert into usage (workspace_id, kind, month, amount)
    values (${otherWorkspace}, 'synthesis_characters', ${month.slice(0, 10)}, 400)`;
  const limited = await read(call(gateway, '/wallet/self/api-credit', { key: otherKey }));
  exactly(t, limited, { credit: '600.000000', cumulative_top_up: '1000.000000' });
  t.ok(Date.parse(limited['created_at'] as string) <= Date.now() + 60_000);
  const monthly = await read(call(gateway, '/wallet/self/package', { key: otherKey }));
  exactly(t, monthly, { _id: otherWorkspace, type: 'monthly', total: 1000, balance: 600, created_at: month });
  t.ok((monthly['finished_at'] as string) > new Date().toISOString());
  await database.sql`update usage set amount = 5000 where workspace_id = ${otherWorkspace}`;
  exactly(t, await read(call(gateway, '/wallet/self/api-credit', { key: otherKey })), { credit: '0.000000' });

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
