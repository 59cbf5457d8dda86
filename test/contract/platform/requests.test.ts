/**
 * General rules of the platform's API, with agents as the example: keys, bodies, problems, unknown paths, lists
 * (docs/contract/platform.md 6.1, 6.11).
 */
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { exactly } from '../../fixtures/exactly.js';
import { type Json, places, sharedPlatform } from '../../fixtures/platform/platform.js';

const platform = await sharedPlatform(t);

const { call } = platform;
const AGENTS = '/v1/agent/agents';

t.test('without a valid key it is 401, before the body is read (decision 18)', async (t) => {
  const cases: [headers: Record<string, string>, message: string][] = [
    [{}, 'Missing Authorization header'],
    [{ authorization: '' }, 'Missing Authorization header'],
    [{ authorization: 'Basic abc' }, 'Invalid token'],
    [{ authorization: 'Bearer' }, 'Missing Authorization header'],
    [{ authorization: 'Bearer no-such-key' }, 'Invalid token'],
  ];
  for (const [headers, message] of cases) {
    const answer = await call('GET', AGENTS, { key: null, headers });
    t.strictSame([answer.status, answer.body], [401, { status: 401, message }], JSON.stringify(headers));
    t.equal(answer.headers.get('www-authenticate'), 'Bearer');
  }
  const unread = await call('POST', AGENTS, {
    key: null,
    raw: '{',
    headers: { 'content-type': 'application/json' },
  });
  t.equal(unread.status, 401, 'the key comes before the body');
});

t.test('bodies that cannot be read: malformed, of another type, over 2 MiB (decisions 5, 18)', async (t) => {
  const json = { 'content-type': 'application/json' };
  const cases: [raw: string | undefined, headers: Record<string, string>, status: number, message: string][] =
    [
      ['{', json, 400, 'Malformed JSON'],
      ['', json, 400, 'Malformed JSON'],
      [undefined, json, 400, 'Malformed JSON'],
      ['{"name":"\xff', json, 400, 'Malformed JSON'],
      [`${'['.repeat(LIMITS.body.depth)}${']'.repeat(LIMITS.body.depth)}x`, json, 400, 'Malformed JSON'],
      [
        `${'['.repeat(LIMITS.body.depth + 1)}`,
        json,
        400,
        'The request body is nested too deep or has too many parts',
      ],
      ['{"name":"A"}', { 'content-type': 'text/plain' }, 415, 'Content-Type must be application/json'],
      [
        'name=A',
        { 'content-type': 'application/x-www-form-urlencoded' },
        415,
        'Content-Type must be application/json',
      ],
      [undefined, {}, 415, 'Content-Type must be application/json'],
      ['{"name":"A"}'.padEnd(LIMITS.body.platform + 1), json, 413, 'Request body is too large'],
    ];
  for (const [raw, headers, status, message] of cases) {
    const answer = await call('POST', AGENTS, { ...(raw === undefined ? {} : { raw }), headers });
    t.strictSame(
      [answer.status, answer.body],
      [status, { status, message }],
      `${raw?.slice(0, 20)} ${message}`,
    );
  }
  const largest = '{"name":"A"}'.padEnd(LIMITS.body.platform);
  t.equal((await call('POST', AGENTS, { raw: largest, headers: json })).status, 201, 'the largest body');
  const charset = await call('POST', AGENTS, { raw: '{"name":"A"}', headers: { 'content-type': 'application/json; charset=utf-8' } }); // oxfmt-ignore
  t.equal(charset.status, 201);
});

t.test('422 lists all problems, the first as the message', async (t) => {
  const answer = await call('POST', AGENTS, {
    body: {
      description: 5,
      colour: 'red',
      config: { voice: { speed: 1 }, prompt: { first_message_mode: 'loud' } },
    },
  });
  t.equal(answer.status, 422);
  t.strictSame(new Set(places(answer)), new Set(['name', 'description', 'colour', 'config.voice.speed', 'config.prompt.first_message_mode'])); // oxfmt-ignore
  const [first] = answer.body['errors'] as Json[];
  t.equal(answer.body['message'], first!['msg']);
  t.strictSame(Object.keys(first!), ['type', 'loc', 'msg']);
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`field_${index}`, 1]));
  t.equal(places(await call('POST', AGENTS, { body: { name: 'A', ...many } })).length, 30);
  for (const body of [[], null, 'x', 5])
    t.equal((await call('POST', AGENTS, { body })).status, 422, JSON.stringify(body));
});

t.test('text that no database keeps is refused wherever it stands', async (t) => {
  const cases: [body: unknown, place: string][] = [
    [{ name: 'a\0b' }, 'name'],
    [{ name: 'a\ud800b' }, 'name'],
    [{ name: 'A', config: { tools: { tool_ids: ['ok', '\udc00'] } } }, 'config.tools.tool_ids.1'],
    [{ name: 'A', 'x\0': 1 }, ''],
  ];
  for (const [body, place] of cases) {
    const answer = await call('POST', AGENTS, { body });
    t.equal(answer.status, 422);
    t.strictSame(places(answer), [place]);
  }
  t.equal((await call('POST', AGENTS, { body: { name: '👩‍👩‍👧‍👦 ‮ ￿' } })).status, 201, 'all other text is kept');
});

t.test('a body of very many parts is refused without a problem for each', async (t) => {
  const parts = (count: number) =>
    call('POST', AGENTS, { body: { name: 'A', colours: Array(count).fill(0) } });
  t.strictSame(places(await parts(9_998)), ['colours'], 'as many as may be');
  const message = 'The request body is nested too deep or has too many parts';
  t.strictSame((await parts(9_999)).body, { status: 400, message });
});

t.test('unknown paths and methods have the platform’s shape', async (t) => {
  const unknown = await call('GET', '/v1/agent/nothing');
  t.strictSame([unknown.status, unknown.body], [404, { status: 404, message: 'Not found' }]);
  const method = await call('PUT', AGENTS, { body: {} });
  t.strictSame([method.status, method.body], [405, { status: 405, message: 'Method not allowed' }]);
});

t.test('lists: pages, bounds, filters', async (t) => {
  await platform.database.sql`delete from agents where workspace_id = ${platform.workspaceId}`;
  const names = Array.from({ length: 7 }, (_, index) => `Agent ${index}`);
  const ids: string[] = [];
  for (const name of names) ids.unshift(await platform.agent({ name }));
  const list = async (query: string) => (await call('GET', `${AGENTS}?${query}`)).body;
  const idsOf = (page: Json) => (page['agents'] as Json[]).map(({ agent_id: id }) => id);

  t.test('newest first; by cursor each agent once', async (t) => {
    t.strictSame(idsOf(await list('')), ids);
    const seen: unknown[] = [];
    let cursor = '';
    for (let pages = 0; pages < 4; pages++) {
      const page = await list(`page_size=2&cursor=${cursor}`);
      seen.push(...idsOf(page));
      t.equal(page['total'], null);
      t.equal(page['has_more'], pages < 3);
      t.equal(typeof page['next_cursor'], pages < 3 ? 'string' : 'object');
      cursor = (page['next_cursor'] as string | null) ?? '';
    }
    t.strictSame(seen, ids);
  });

  t.test('a page keeps its place in the list when agents come and go', async (t) => {
    const first = await list('page_size=3');
    const extra = await platform.agent();
    const second = await list(`page_size=3&cursor=${first['next_cursor'] as string}`);
    t.strictSame(idsOf(second), ids.slice(3, 6));
    await call('DELETE', `${AGENTS}/${extra}`);
  });

  t.test('by page: the total always, the cursor as well', async (t) => {
    const second = await list('page=2&page_size=3');
    t.strictSame(idsOf(second), ids.slice(3, 6));
    t.equal(second['total'], 7);
    t.strictSame(idsOf(await list(`page_size=3&cursor=${second['next_cursor'] as string}`)), ids.slice(6));
    const beyond = await list('page=9&page_size=3');
    t.strictSame(beyond, { agents: [], has_more: false, next_cursor: null, total: 7 });
    t.equal((await list('include_total=true&page_size=2'))['total'], 7);
  });

  t.test('bounds of the query: 400 on the wrong side (decision 18: page_size)', async (t) => {
    for (const name of ['One', 'Two']) await platform.tool({ name });
    const tools = (await call('GET', '/v1/agent/tools?page_size=1')).body;
    const foreign = tools['next_cursor'] as string;
    t.equal(typeof foreign, 'string');
    const cursor = (await list('page_size=1'))['next_cursor'] as string;
    const good = ['page_size=1', 'page_size=100', 'page=1', 'page=1001&page_size=100', 'include_total=false', 'publication_state=all', `search=${'x'.repeat(200)}`, 'cursor=', `cursor=${cursor}`, 'unknown=1']; // oxfmt-ignore
    const bad = ['page_size=0', 'page_size=101', 'page_size=x', 'page_size=-1', 'page_size=1.5', 'page=0', 'page=1002&page_size=100', 'page=99999999999', 'page=x', `page=1&cursor=${cursor}`, 'cursor=x', `cursor=${cursor}x`, `cursor=${'x'.repeat(9000)}`, `cursor=${foreign}`, `cursor=${Buffer.from('agents:0').toString('base64url')}`, `cursor=${Buffer.from('agents:99999999999999999999').toString('base64url')}`, 'include_total=maybe', 'include_archived=2', 'publication_state=dead', `search=${'x'.repeat(201)}`, 'search=%00']; // oxfmt-ignore
    for (const query of good)
      t.equal((await call('GET', `${AGENTS}?${query}`)).status, 200, query.slice(0, 60));
    for (const query of bad)
      t.equal((await call('GET', `${AGENTS}?${query}`)).status, 400, query.slice(0, 60));
    for (const [search, told] of [
      ['x'.repeat(201), 'search must have at most 200 characters'],
      ['a%00b', 'search holds NUL, which is no text'],
    ])
      exactly(t, (await call('GET', `${AGENTS}?search=${search}`)).body, { message: told });
    for (const list of ['/v1/agent/tools', '/v1/agent/knowledge-sources']) {
      const statusOf = async (query: string) => (await call('GET', `${list}?${query}`)).status;
      const search = 'x'.repeat(200);
      t.strictSame([await statusOf(`search=${search}`), await statusOf(`search=${search}x`)], [200, 400]);
      t.strictSame([await statusOf('page_size=100'), await statusOf('page_size=101')], [200, 400]);
    }
    const ofAgent = (id: string) => call('GET', `/v1/agent/tools?agent_id=${id}`);
    t.strictSame(
      [(await ofAgent('x'.repeat(128))).status, (await ofAgent('x'.repeat(129))).status],
      [404, 400],
    );
  });

  t.test('search and publication state narrow a list; archived agents show on request', async (t) => {
    const special = await platform.agent({ name: '100%_Ärzte', description: 'Praxis\\' });
    for (const search of ['100%', '%_', 'ÄRZTE', 'ärzte', 'praxis\\'])
      t.strictSame(idsOf(await list(`search=${encodeURIComponent(search)}`)), [special], search);
    for (const search of ['nobody', '.*', '[^a]', '***:a'])
      t.strictSame(idsOf(await list(`search=${encodeURIComponent(search)}`)), [], search);
    t.strictSame((await list('search=agent&page=1&page_size=2'))['total'], 7);

    await call('PATCH', `${AGENTS}/${special}`, { body: { status: 'archived' } });
    t.strictSame(idsOf(await list('')), ids);
    t.strictSame(idsOf(await list('include_archived=true')), [special, ...ids]);
    t.equal((await call('GET', `${AGENTS}/${special}`)).body['status'], 'archived', 'it keeps its data');
    await call('PATCH', `${AGENTS}/${special}`, { body: { status: 'active' } });
    t.strictSame(idsOf(await list('')), [special, ...ids], 'and comes back');

    await call('POST', `${AGENTS}/${special}/publish`);
    t.strictSame(idsOf(await list('publication_state=live')), [special]);
    t.strictSame(idsOf(await list('publication_state=draft')), ids);
    t.strictSame(idsOf(await list('publication_state=all')), [special, ...ids]);
  });
});
