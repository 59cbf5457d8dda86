/**
 * Stored tools: every bound, names, addresses, references, lists (docs/contract/platform.md 6.5).
 */
import t from '../../fixtures/tap.js';
import { type Json, places, sharedPlatform } from '../../fixtures/platform/platform.js';

const platform = await sharedPlatform(t);
const { call } = platform;
const TOOLS = '/v1/agent/tools';

const create = (body: unknown) => call('POST', TOOLS, { body });

const DEFAULTS = {
  description: '',
  tool_type: 'webhook',
  method: 'POST',
  url: '',
  arguments: [],
  content_type: 'application/json',
  body_template: '',
  headers: [],
  timeout_seconds: 30,
  error_handling: 'passthrough',
  mock_responses: [],
  expects_response: true,
  execution_mode: 'blocking',
  while_speaking: false,
  allowed_tools: [],
};

t.test('a tool is created with its defaults, attached to no agent', async (t) => {
  const { status, body } = await create({ name: 'Look up' });
  const { tool_id: id, created_at: created, updated_at: updated, ...rest } = body;
  t.equal(status, 201);
  t.match(id, /^tool_[0-9a-f]{24}$/);
  t.equal(created, updated);
  t.strictSame(rest, { workspace_id: platform.workspaceId, name: 'Look up', used_by: 0, ...DEFAULTS });
  t.strictSame((await call('GET', `${TOOLS}/${id as string}`)).body, body);
});

const long = (length: number): string => 'x'.repeat(length);
const URL_START = 'https://a.example/';

/** The specification's table: field, values that it accepts, values that it refuses. */
const BOUNDS: readonly [field: string, good: readonly unknown[], bad: readonly unknown[]][] = [
  ['name', ['a', long(120)], ['', long(121), 5, null]],
  ['description', ['', long(2000)], [long(2001), null]],
  ['method', ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], ['get', 'HEAD', null]],
  ['url', ['', URL_START + long(4000 - URL_START.length), 'http://a.example:8080/{{a}}?b={{c}}'], [URL_START + long(4001 - URL_START.length), null, 5]],
  ['content_type', ['', 'text/plain', long(128)], [long(129), 'a\r\nb', 'ä', null]],
  ['body_template', ['', long(100_000)], [long(100_001), null]],
  ['timeout_seconds', [1, 120], [0, 121, 1.5, '30', null]],
  ['error_handling', ['passthrough', 'hide'], ['show', null]],
  ['execution_mode', ['background', 'fire_and_forget', 'blocking'], ['later', null]],
  ['expects_response', [true, false], ['true', null]],
  ['arguments', [[], Array.from({ length: 100 }, (_, nth) => ({ name: `a${nth}` })), [{ name: long(64), description: long(500) }]], [Array.from({ length: 101 }, (_, nth) => ({ name: `a${nth}` })), [{ name: 'a' }, { name: 'b' }, { name: 'a' }], [{}], [{ name: '' }], [{ name: long(65) }], [{ name: 'a', description: long(501) }], [{ name: 'a', type: 'text' }], [{ name: 'a', required: 'true' }], [{ name: 'a', other: 1 }], {}, null]],
  ['arguments', [[{ name: 'a', type: 'string', required: false, enum: null }], [{ name: 'a', type: 'number', enum: [1, '2.5'] }], [{ name: 'a', type: 'boolean' }], [{ name: 'a', enum: [] }], [{ name: 'a', enum: Array.from({ length: 50 }, (_, nth) => `${nth}`) }], [{ name: 'a', enum: [long(200)] }]], [[{ name: 'a', enum: Array.from({ length: 51 }, (_, nth) => `${nth}`) }], [{ name: 'a', enum: [long(201)] }], [{ name: 'a', enum: [true] }], [{ name: 'a', enum: ['x', 'x'] }], [{ name: 'a', enum: [1, '1'] }], [{ name: 'a', type: 'integer', enum: [1.5] }], [{ name: 'a', type: 'number', enum: ['x'] }], [{ name: 'a', type: 'boolean', enum: ['true'] }], [{ name: 'a', enum: 'x' }]]],
  ['headers', [[], Array(50).fill({ name: 'X-A', value: 'a' }), [{ name: long(128), value: long(4000) }], [{ name: 'X-A', value: 'tab\tand é' }], [{ name: 'X-A', value: null }], [{ name: 'X-A' }]], [Array(51).fill({ name: 'X-A', value: 'a' }), [{ name: '' }], [{ name: long(129) }], [{ name: 'X-A', value: long(4001) }], [{ name: 'X-A', kind: 'other' }], [{ name: 'X-A', has_secret: 'true' }], null]],
  ['mock_responses', [[], Array(50).fill({}), [{ name: long(120), status_code: 100, content_type: long(128), body: long(100_000) }], [{ status_code: 599 }]], [Array(51).fill({}), [{ name: long(121) }], [{ status_code: 99 }], [{ status_code: 600 }], [{ content_type: long(129) }], [{ body: long(100_001) }], [{ delay: 1 }], null]],
]; // oxfmt-ignore

t.test('every bound of the table, on both sides, at creation and change', async (t) => {
  const id = await platform.tool();
  for (const [field, good, bad] of BOUNDS) {
    for (const value of good) {
      const made = await create({ name: 'T', [field]: value });
      const changed = await call('PATCH', `${TOOLS}/${id}`, { body: { [field]: value } });
      const shown = `${field} takes ${JSON.stringify(value).slice(0, 50)}`;
      t.strictSame([made.status, changed.status], [201, 200], shown);
      if (typeof value !== 'object')
        t.strictSame([made.body[field], changed.body[field]], [value, value], shown);
    }
    for (const value of bad) {
      const shown = `${field} refuses ${JSON.stringify(value)?.slice(0, 50)}`;
      const made = await create({ name: 'T', [field]: value });
      const changed = await call('PATCH', `${TOOLS}/${id}`, { body: { [field]: value } });
      t.strictSame([made.status, changed.status], [422, 422], shown);
      t.ok(
        [...places(made), ...places(changed)].every((place) => place.startsWith(field)),
        places(made).join(' '),
      );
    }
  }
  t.equal((await create({})).status, 422, 'the name is required');
  for (const field of ['tool_id', 'used_by', 'mocks'])
    t.equal((await create({ name: 'T', [field]: 1 })).status, 422);
  t.strictSame(places(await call('PATCH', `${TOOLS}/${id}`, { body: { tool_type: 'client' } })), [
    'tool_type',
  ]);
});

t.test('`execution_mode` and `while_speaking` are one; 300 s for `background` alone (D10)', async (t) => {
  const id = await platform.tool();
  const change = async (body: Json) => {
    const { status, body: tool } = await call('PATCH', `${TOOLS}/${id}`, { body });
    return [status, tool['execution_mode'], tool['while_speaking']];
  };
  t.strictSame(await change({ while_speaking: true }), [200, 'background', true]);
  t.strictSame(await change({ timeout_seconds: 300 }), [200, 'background', true]);
  const read = (await call('GET', `${TOOLS}/${id}`)).body;
  t.strictSame(await change(read), [200, 'background', true], 'as it was read');
  const waiting = await call('PATCH', `${TOOLS}/${id}`, { body: { execution_mode: 'blocking' } });
  t.strictSame([waiting.status, places(waiting)], [422, ['timeout_seconds']]);
  t.strictSame(await change({ ...read, while_speaking: false, timeout_seconds: 120 }), [
    200,
    'blocking',
    false,
  ]);
  t.strictSame(await change({ execution_mode: 'fire_and_forget' }), [200, 'fire_and_forget', false]);
  t.strictSame(await change({ while_speaking: false }), [200, 'fire_and_forget', false]);
  const long = { name: 'T', timeout_seconds: 121, execution_mode: 'fire_and_forget' };
  t.strictSame(places(await create(long)), ['timeout_seconds']);
  const client = await create({ name: 'a', tool_type: 'client', execution_mode: 'fire_and_forget' });
  t.strictSame([client.status, places(client)], [422, ['execution_mode']]);
});

t.test('client tools have names that a client can call', async (t) => {
  const client = { tool_type: 'client' };
  for (const name of ['a', 'open_Cart-2', `a${long(63)}`])
    t.equal((await create({ ...client, name })).status, 201, name);
  for (const name of ['1a', '_a', 'open cart', `a${long(64)}`, 'ä'])
    t.strictSame(places(await create({ ...client, name })), ['name'], name);
  const id = await platform.tool({ ...client, name: 'open_cart', expects_response: false });
  const renamed = await call('PATCH', `${TOOLS}/${id}`, { body: { name: 'open cart' } });
  t.strictSame([renamed.status, places(renamed)], [422, ['name']]);
  t.equal((await create({ tool_type: 'other', name: 'a' })).status, 422);
});

t.test('rule 9: addresses that tools may not have are 422 at `url`', async (t) => {
  const refused = ['http://localhost/', 'http://127.0.0.1:1/', 'http://10.1.2.3/{{a}}', 'http://192.168.0.1/', 'http://[::1]/', 'http://169.254.169.254/latest', 'http://2130706433/', 'ftp://a.example/', 'file:///etc/passwd', 'https://user:secret@a.example/', 'a.example', 'https://{{host}}/', 'https://a.example:{{port}}/', '{{url}}']; // oxfmt-ignore
  for (const url of refused) {
    const answer = await create({ name: 'T', url });
    t.strictSame([answer.status, places(answer)], [422, ['url']], url);
    t.match(answer.body['message'], /^url must/);
  }
});

t.test(
  'unknown system variables are refused where they would be filled in, not in credentials',
  async (t) => {
    const text = '{{system.foo}}';
    const header = (kind: string) => [{ name: 'X-A', value: text, kind }];
    const refused = { url: `${URL_START}${text}`, body_template: text, headers: header('custom') };
    const id = await platform.tool();
    for (const [field, value] of Object.entries(refused)) {
      const made = await create({ name: 'T', [field]: value });
      const changed = await call('PATCH', `${TOOLS}/${id}`, { body: { [field]: value } });
      t.strictSame([made.status, changed.status], [422, 422], field);
      t.match(made.body['message'], /system has channel, timezone/);
    }
    t.equal((await create({ name: 'T', headers: header('authorization_bearer') })).status, 201);
    t.equal((await create({ name: 'T', url: `${URL_START}{{system.caller_number}}` })).status, 201);
  },
);

t.test('decision 16: headers of the connection, and what is no header, are 422 at their place', async (t) => {
  const names = ['Host', 'connection', 'Content-Length', 'Transfer-Encoding', 'TE', 'Upgrade', 'Keep-Alive', 'X A', 'X:A', 'X\nA', 'ä']; // oxfmt-ignore
  for (const name of names)
    t.strictSame(
      places(await create({ name: 'T', headers: [{ name, value: 'a' }] })),
      ['headers.0.name'],
      name,
    );
  for (const value of ['a\r\nX-B: 1', 'a\nb', 'a\x7f', '€'])
    t.strictSame(
      places(await create({ name: 'T', headers: [{ name: 'X', value }] })),
      ['headers.0.value'],
      value,
    );
});

t.test('used_by, the agents of a tool, and deletion while a draft refers to it', async (t) => {
  const id = await platform.tool({ name: 'Shared' });
  const path = `${TOOLS}/${id}`;
  const agents = [
    await platform.agent({ name: 'B', config: { tools: { tool_ids: [id] } } }),
    await platform.agent({ name: 'A', config: { tools: { tool_ids: [id], enabled: false } } }),
  ];
  t.equal((await call('GET', path)).body['used_by'], 2);
  t.strictSame((await call('GET', `${path}/agents`)).body, {
    agents: [
      { agent_id: agents[1], name: 'A' },
      { agent_id: agents[0], name: 'B' },
    ],
    total: 2,
  });
  const refused = await call('DELETE', path);
  t.equal(refused.status, 409);
  t.match(refused.body['message'], /^Tool is attached to 2 agent/);
  for (const agent of agents)
    await call('PATCH', `/v1/agent/agents/${agent}/config`, { body: { tools: { tool_ids: [] } } });
  t.equal((await call('GET', path)).body['used_by'], 0, 'detaching leaves the tool in the workspace');
  t.equal((await call('DELETE', path)).status, 204);
  t.equal((await call('GET', path)).status, 404);
});

t.test('attached and deleted at the same time: a tool is either there or not attached', async (t) => {
  const agent = await platform.agent();
  const config = `/v1/agent/agents/${agent}/config`;
  const outcomes = new Set<string>();
  for (let round = 0; round < 20; round++) {
    const id = await platform.tool();
    const attach = () => call('PATCH', config, { body: { tools: { tool_ids: [id] } } });
    const remove = () => call('DELETE', `${TOOLS}/${id}`);
    const [first, second] = round % 2 === 0 ? [attach, remove] : [remove, attach];
    const statuses = (await Promise.all([first(), second()])).map(({ status }) => status);
    const [attached, removed] = round % 2 === 0 ? statuses : [...statuses].reverse();
    outcomes.add(`${attached} ${removed}`);
    const there = (await call('GET', `${TOOLS}/${id}`)).status === 200;
    const ids = ((await call('GET', config)).body['tools'] as Json)['tool_ids'] as string[];
    t.equal(there, ids.includes(id), `attach ${attached}, delete ${removed}`);
  }
  t.ok(
    [...outcomes].every((outcome) => ['200 409', '422 204'].includes(outcome)),
    [...outcomes].join(', '),
  );
});

t.test('named alike at the same time: one agent has no two client tools of one name', async (t) => {
  const clientTool = (name: string) => platform.tool({ name, tool_type: 'client' });
  const name = (id: string, to: string) => call('PATCH', `${TOOLS}/${id}`, { body: { name: to } });
  const attached = (...ids: readonly string[]) => ({ tools: { tool_ids: ids } });
  const oneOf = async (...changes: readonly ReturnType<typeof call>[]) =>
    (await Promise.all(changes)).map(({ status }) => status).sort();
  for (let round = 0; round < 10; round += 1) {
    const [a, b, c, d] = [
      await clientTool('a'),
      await clientTool('b'),
      await clientTool('c'),
      await clientTool('d'),
    ];
    const agent = await platform.agent({ config: attached(a, b) });
    t.strictSame(await oneOf(name(a, 'same'), name(b, 'same')), [200, 400]);
    const body = attached(c, d);
    const attaching = call('PATCH', `/v1/agent/agents/${agent}/config`, { body });
    t.strictSame(await oneOf(attaching, name(c, 'd')), [200, 400]);
  }
});

t.test('lists of tools: summaries, search, by agent', async (t) => {
  const id = await platform.tool({ name: 'Weather', description: 'Tells the weather' });
  const agent = await platform.agent({ config: { tools: { tool_ids: [id] } } });
  const list = async (query: string) => (await call('GET', `${TOOLS}?${query}`)).body;
  const found = await list('search=WEATHER');
  t.strictSame(
    (found['tools'] as Json[]).map((tool) => Object.keys(tool)),
    [
      [
        'tool_id',
        'workspace_id',
        'name',
        'description',
        'tool_type',
        'method',
        'url',
        'used_by',
        'created_at',
        'updated_at',
      ],
    ],
  );
  t.equal((found['tools'] as Json[])[0]?.['used_by'], 1);
  const ofAgent = await list(`agent_id=${agent}&page=1`);
  t.strictSame([(ofAgent['tools'] as Json[])[0]?.['tool_id'], ofAgent['total']], [id, 1]);
  t.equal((await list('page_size=1'))['has_more'], true);
  t.strictSame((await call('GET', `${TOOLS}?agent_id=nobody`)).body, {
    status: 404,
    message: 'Agent not found',
  });
  t.equal((await call('GET', `${TOOLS}?page_size=0`)).status, 400);
});

t.test('another workspace’s tool does not exist', async (t) => {
  const id = await platform.tool();
  const routes: [string, string, object?][] = [['GET', ''], ['PATCH', '', { name: 'x' }], ['DELETE', ''], ['GET', '/agents'], ['POST', '/test', {}]]; // oxfmt-ignore
  for (const [method, path, body] of routes) {
    const answer = await call(method, `${TOOLS}/${id}${path}`, {
      ...(body ? { body } : {}),
      key: platform.otherKey,
    });
    t.strictSame([answer.status, answer.body], [404, { status: 404, message: 'Tool not found' }], path);
    t.equal((await call(method, `${TOOLS}/no%00tool${path}`, body ? { body } : {})).status, 404);
  }
});

t.test('arguments are read with their types, and older ones with the defaults', async (t) => {
  const args = [
    { name: 'a' },
    { name: 'b', description: 'B', required: false, type: 'integer', enum: [1, '2'] },
  ];
  const usual = { description: '', required: true, type: 'string', enum: null };
  const { body } = await create({ name: 'T', arguments: args });
  const shown = [
    { name: 'a', ...usual },
    { name: 'b', description: 'B', required: false, type: 'integer', enum: [1, 2] },
  ];
  t.strictSame(body['arguments'], shown);
  const path = `${TOOLS}/${String(body['tool_id'])}`;
  const written = await call('PATCH', path, { body: (await call('GET', path)).body });
  t.strictSame([written.status, written.body['arguments']], [200, shown]);
  await platform.database.sql`
    update tools set definition = jsonb_set(definition, '{arguments}', '[{"name": "old", "description": "d"}]')
    where id = ${String(body['tool_id'])}`;
  t.strictSame((await call('GET', path)).body['arguments'], [{ ...usual, name: 'old', description: 'd' }]);
});
