/** Agents, lists and the platform's frame: keys, bodies, errors, paging (native-and-platform.md 6.1, 6.2, 6.11). */
import t from 'tap';
import { LIMITS } from '../../contracts/limits.js';
import { startGateway } from '../fixtures/gateway.js';
import { type Answer, formOf, type Json, places, startPlatform } from '../fixtures/platform.js';

t.setTimeout(180_000);

const platform = await startPlatform(t);
const { call, otherKey } = platform;
const AGENTS = '/v1/agent/agents';
const NOWHERE = 'agent_000000000000000000000000';

t.test('who may call (fine point 18)', async (t) => {
  const cases: [headers: Record<string, string>, message: string][] = [
    [{}, 'Missing Authorization header'],
    [{ authorization: '' }, 'Missing Authorization header'],
    [{ authorization: 'Basic abc' }, 'Invalid token'],
    [{ authorization: 'Bearer' }, 'Invalid token'],
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

t.test(
  'bodies that cannot be read: malformed, of another type, over 2 MiB (fine points 5, 18)',
  async (t) => {
    const json = { 'content-type': 'application/json' };
    const cases: [
      raw: string | undefined,
      headers: Record<string, string>,
      status: number,
      message: string,
    ][] = [
      ['{', json, 400, 'Malformed JSON'],
      ['', json, 400, 'Malformed JSON'],
      [undefined, json, 400, 'Malformed JSON'],
      ['{"name":"\xff', json, 400, 'Malformed JSON'],
      [`${'['.repeat(64)}${']'.repeat(64)}x`, json, 400, 'Malformed JSON'],
      [`${'['.repeat(65)}`, json, 400, 'The request body is nested too deep or has too many parts'],
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
    const charset = await call('POST', AGENTS, { raw: '{"name":"A"}', headers: { 'content-type': 'application/json; charset=utf-8' } }); // prettier-ignore
    t.equal(charset.status, 201);
  },
);

t.test('422 tells all problems, the first as the message', async (t) => {
  const answer = await call('POST', AGENTS, {
    body: {
      description: 5,
      colour: 'red',
      config: { voice: { speed: 1 }, prompt: { first_message_mode: 'loud' } },
    },
  });
  t.equal(answer.status, 422);
  t.strictSame(new Set(places(answer)), new Set(['name', 'description', 'colour', 'config.voice.speed', 'config.prompt.first_message_mode'])); // prettier-ignore
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

t.test('a body of very many parts is refused before each of them is told', async (t) => {
  const parts = (count: number) =>
    call('POST', AGENTS, { body: { name: 'A', colours: Array(count).fill(0) } });
  t.strictSame(places(await parts(9_998)), ['colours'], 'as many as may be');
  const message = 'The request body is nested too deep or has too many parts';
  t.strictSame((await parts(9_999)).body, { status: 400, message });
});

t.test('an agent is created as a draft', async (t) => {
  const answer = await call('POST', AGENTS, { body: { name: 'Bakery' } });
  t.equal(answer.status, 201);
  const { agent_id: id, created_at: created, updated_at: updated, ...rest } = answer.body;
  t.match(id, /^agent_[0-9a-f]{24}$/);
  t.ok(Math.abs(Date.parse(created as string) - Date.now()) < 600_000);
  t.equal(updated, created);
  t.strictSame(rest, {
    workspace_id: platform.workspaceId,
    name: 'Bakery',
    description: '',
    status: 'active',
    publication_state: 'draft',
    public_enabled: false,
    allowed_origins: [],
    overrides_allowed: [],
  });
  t.strictSame((await call('GET', `${AGENTS}/${id as string}`)).body, answer.body);
  t.equal(
    (await call('POST', AGENTS, { body: { name: 'A', config: null } })).status,
    201,
    'config may be null',
  );
  const configured = await platform.agent({ config: { voice: { speaking_language: 'fr' } } });
  const { voice } = (await call('GET', `${AGENTS}/${configured}/config`)).body;
  t.strictSame(voice, { voice_id: 'default', speaking_language: 'fr' }, 'on top of the defaults');
});

t.test('every bound of creation and change, on both sides', async (t) => {
  const id = await platform.agent();
  const bounds: [field: string, good: unknown[], bad: unknown[]][] = [
    ['name', ['a', 'n'.repeat(120), '👍'.repeat(120)], ['', 'n'.repeat(121), 5, null]],
    ['description', ['', 'd'.repeat(2000)], ['d'.repeat(2001), 5, null]],
  ];
  const changes: [field: string, good: unknown[], bad: unknown[]][] = [
    ...bounds,
    ['status', ['archived', 'active'], ['gone', '', null]],
    ['public_enabled', [true, false], ['true', 1, null]],
    [
      'allowed_origins',
      [[], ['https://a.example'], Array(20).fill('https://a.example'), ['x'.repeat(2048)]],
      [Array(21).fill('https://a.example'), ['x'.repeat(2049)], [5], 'https://a.example', null],
    ],
    [
      'overrides_allowed',
      [[], ['first_message', 'system_prompt', 'voice_id', 'language'], Array(8).fill('language')],
      [Array(9).fill('language'), ['first_message_prompt'], ['x'], 'language', null],
    ],
  ];
  for (const [field, good, bad] of bounds) {
    for (const value of good)
      t.equal((await call('POST', AGENTS, { body: { name: 'A', [field]: value } })).status, 201);
    for (const value of bad) {
      const answer = await call('POST', AGENTS, { body: { name: 'A', [field]: value } });
      t.equal(answer.status, 422, `${field} ${JSON.stringify(value).slice(0, 40)}`);
      t.match(places(answer)[0], new RegExp(`^${field}`));
    }
  }
  for (const [field, good, bad] of changes) {
    for (const value of good) {
      const answer = await call('PATCH', `${AGENTS}/${id}`, { body: { [field]: value } });
      t.equal(answer.status, 200, `${field} ${JSON.stringify(value).slice(0, 40)}`);
      t.strictSame(answer.body[field], value);
    }
    for (const value of bad) {
      const answer = await call('PATCH', `${AGENTS}/${id}`, { body: { [field]: value } });
      t.equal(answer.status, 422, `${field} ${JSON.stringify(value)?.slice(0, 40)}`);
    }
  }
  for (const field of ['workspace_id', 'agent_id', 'publication_state', 'config'])
    t.equal(
      (await call('PATCH', `${AGENTS}/${id}`, { body: { [field]: 'x' } })).status,
      422,
      `${field} is unknown`,
    );
});

t.test('a change keeps what is absent (fine point 14)', async (t) => {
  const id = await platform.agent({ description: 'd' });
  const before = (await call('PATCH', `${AGENTS}/${id}`, { body: { public_enabled: true, allowed_origins: ['https://a.example'] } })).body; // prettier-ignore
  const after = (await call('PATCH', `${AGENTS}/${id}`, { body: { name: 'N' } })).body;
  t.strictSame({ ...after, updated_at: 0 }, { ...before, name: 'N', updated_at: 0 });
  t.ok(Date.parse(after['updated_at'] as string) >= Date.parse(before['updated_at'] as string));
  t.equal((await call('PATCH', `${AGENTS}/${id}`, { body: {} })).status, 200);
});

t.test('another workspace’s agent does not exist, nor does one that is gone', async (t) => {
  const id = await platform.agent();
  const routes: [method: string, path: string, body?: object][] = [
    ['GET', ''],
    ['PATCH', '', { name: 'x' }],
    ['GET', '/config'],
    ['PATCH', '/config', {}],
    ['POST', '/publish'],
    ['GET', '/versions'],
    ['GET', '/versions/1'],
    ['DELETE', ''],
  ];
  const notFound = (answer: Answer) => [answer.status, answer.body];
  for (const [method, path, body] of routes) {
    const what = path === '/versions/1' ? 'Version' : 'Agent';
    const expected = [404, { status: 404, message: `${what} not found` }];
    const request = body ? { body } : {};
    t.strictSame(
      notFound(await call(method, `${AGENTS}/${id}${path}`, { ...request, key: otherKey })),
      expected,
      path,
    );
    t.strictSame(notFound(await call(method, `${AGENTS}/${NOWHERE}${path}`, request)), expected, path);
    t.equal((await call(method, `${AGENTS}/a%00b${path}`, request)).status, 404, 'an id that none has');
    t.equal((await call(method, `${AGENTS}/${'x'.repeat(5000)}${path}`, request)).status, 404);
  }
  t.equal((await call('GET', `${AGENTS}/${id}`)).status, 200, 'its own workspace still has it');
  t.strictSame((await call('GET', AGENTS, { key: otherKey })).body['agents'], []);

  const gone = await call('DELETE', `${AGENTS}/${id}`);
  t.strictSame([gone.status, gone.text], [204, '']);
  for (const [method, path, body] of routes)
    t.equal(
      (await call(method, `${AGENTS}/${id}${path}`, body ? { body } : {})).status,
      404,
      `${path} of a deleted agent`,
    );
});

t.test('unknown paths and methods have the platform’s shape', async (t) => {
  const unknown = await call('GET', '/v1/agent/nothing');
  t.strictSame([unknown.status, unknown.body], [404, { status: 404, message: 'Not found' }]);
  const method = await call('PUT', AGENTS, { body: {} });
  t.strictSame([method.status, method.body], [405, { status: 405, message: 'Method not allowed' }]);
});

t.test('lists', async (t) => {
  await platform.database.sql`delete from agents`;
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

  t.test('a page that is left does not move when agents come and go', async (t) => {
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

  t.test('bounds of the query: 400 on the wrong side (fine point 18: page_size)', async (t) => {
    const tool = (await call('GET', '/v1/agent/tools?page_size=1')).body;
    const cursor = (await list('page_size=1'))['next_cursor'] as string;
    const good = ['page_size=1', 'page_size=100', 'page=1', 'page=1001&page_size=100', 'include_total=false', 'publication_state=all', `search=${'x'.repeat(200)}`, 'cursor=', `cursor=${cursor}`, 'unknown=1']; // prettier-ignore
    const bad = ['page_size=0', 'page_size=101', 'page_size=x', 'page_size=-1', 'page_size=1.5', 'page=0', 'page=1002&page_size=100', 'page=99999999999', 'page=x', `page=1&cursor=${cursor}`, 'cursor=x', `cursor=${cursor}x`, `cursor=${'x'.repeat(9000)}`, `cursor=${Buffer.from('tools:1').toString('base64url')}`, `cursor=${Buffer.from('agents:0').toString('base64url')}`, `cursor=${Buffer.from('agents:99999999999999999999').toString('base64url')}`, 'include_total=maybe', 'include_archived=2', 'publication_state=dead', `search=${'x'.repeat(201)}`, 'search=%00']; // prettier-ignore
    t.ok(tool);
    for (const query of good)
      t.equal((await call('GET', `${AGENTS}?${query}`)).status, 200, query.slice(0, 60));
    for (const query of bad)
      t.equal((await call('GET', `${AGENTS}?${query}`)).status, 400, query.slice(0, 60));
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

  t.test('search, archived ones, publication state', async (t) => {
    const special = await platform.agent({ name: '100%_Ärzte', description: 'Praxis\\' });
    for (const search of ['100%', '%_', 'ÄRZTE', 'praxis\\'])
      t.strictSame(idsOf(await list(`search=${encodeURIComponent(search)}`)), [special], search);
    t.strictSame(idsOf(await list('search=nobody')), []);
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

t.test('changes at the same time: none is lost', async (t) => {
  const id = await platform.agent();
  const changes: [section: string, leaf: string, value: unknown][] = [
    ['prompt', 'system_prompt', 's'],
    ['prompt', 'first_message', 'f'],
    ['prompt', 'first_message_prompt', 'p'],
    ['voice', 'voice_id', 'v'],
    ['voice', 'speaking_language', 'de'],
    ['conversation', 'max_duration_seconds', 77],
    ['conversation', 'timezone', 'UTC'],
    ['conversation', 'interruptible', false],
    ['tools', 'enabled', false],
    ['knowledge_base', 'enabled', true],
  ];
  const answers = await Promise.all(
    changes.map(([section, leaf, value]) =>
      call('PATCH', `${AGENTS}/${id}/config`, { body: { [section]: { [leaf]: value } } }),
    ),
  );
  t.ok(answers.every(({ status }) => status === 200));
  const config = (await call('GET', `${AGENTS}/${id}/config`)).body;
  for (const [section, leaf, value] of changes) t.equal((config[section] as Json)[leaf], value, leaf);

  const published = await Promise.all(
    Array.from({ length: 10 }, () => call('POST', `${AGENTS}/${id}/publish`)),
  );
  const numbers = published.map(({ body }) => body['version_number'] as number).sort((a, b) => a - b);
  t.strictSame(numbers, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 'each publication has a number of its own');
});

t.test(
  'a gateway that is killed amid writes loses nothing that it acknowledged, and leaves nothing half-written',
  async (t) => {
    const doomed = await startGateway({ DATABASE_URL: platform.url, LOG_LEVEL: 'silent' });
    t.teardown(() => doomed.stop());
    const { sql } = platform.database;
    const tool = await platform.tool();
    const acknowledged: { readonly table: string; readonly id: string }[] = [];
    const send = async (
      path: string,
      table: string,
      member: string,
      body: string | FormData,
    ): Promise<void> => {
      const headers = {
        ...doomed.authorization,
        ...(typeof body === 'string' && { 'content-type': 'application/json' }),
      };
      const response = await fetch(doomed.base + path, { method: 'POST', headers, body });
      const made = (await response.json()) as Json;
      if (response.status === 201) acknowledged.push({ table, id: made[member] as string });
      if (acknowledged.length === 150) doomed.kill('SIGKILL');
    };
    const agent = JSON.stringify({ name: 'A', config: { tools: { tool_ids: [tool] } } });
    const text = 'A paragraph of some length.\n\n'.repeat(200);
    const writes = Array.from({ length: 500 }, (_, index) => {
      if (index % 5 > 0) return send(AGENTS, 'agents', 'agent_id', agent);
      const form = formOf({ source: new File([text], 'a.md') });
      return send('/v1/agent/knowledge-sources', 'knowledge_sources', 'knowledge_source_id', form);
    });
    const results = await Promise.allSettled(writes);
    t.ok(
      results.some(({ status }) => status === 'rejected'),
      'it was killed amid them',
    );
    for (const table of ['agents', 'knowledge_sources']) {
      const ids = acknowledged.filter((row) => row.table === table).map(({ id }) => id);
      t.ok(ids.length > 0, table);
      const [row] =
        await sql`select count(*)::int as count from ${sql(table)} where id = any(${ids}::text[])`;
      t.equal(row?.['count'], ids.length, `every acknowledged row of ${table} is there`);
    }
    const halves = await sql`
    select a.id from agents a where jsonb_array_length(a.config->'tools'->'tool_ids') <>
      (select count(*) from agent_tools g where g.agent_id = a.id)
    union all
    select s.id from knowledge_sources s left join knowledge_revisions r on r.source_id = s.id and r.revision = s.revision
    where r.chunk_count is distinct from
      (select count(*)::int from knowledge_chunks c where c.source_id = s.id and c.revision = s.revision)`;
    t.equal(halves.length, 0);
  },
);
