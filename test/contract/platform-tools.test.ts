/** Tools: every bound, credentials, references, test calls (spec "Webhook tool"; native-and-platform.md 6.5; fine points 14, 16, 23). */
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { createSecrets, openSecrets } from '../../storage/secrets.js';
import { failureOf, folderOf, startPostgres } from '../fixtures/postgres.js';
import { type Json, places, startPlatform } from '../fixtures/platform.js';

t.setTimeout(180_000);

interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** An account owner's endpoint: keeps what it is asked, answers as the path says. */
const received: Received[] = [];
const ANSWERS: Readonly<Record<string, { status: number; body: string }>> = {
  '/ok': { status: 200, body: '{"ok":true}' },
  '/missing': { status: 404, body: 'no such order' },
  '/64k': { status: 200, body: 'x'.repeat(64 * 1024) },
  '/more': { status: 200, body: 'x'.repeat(64 * 1024 + 1) },
};
const endpoint = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const { method = '', url = '', headers } = request;
    received.push({ method, url, headers, body: Buffer.concat(parts).toString() });
    const { status, body } = ANSWERS[url.split('?')[0] ?? ''] ?? { status: 200, body: '' };
    response.writeHead(status, { 'content-type': 'text/plain', 'x-own': 'yes' }).end(body);
  });
}).listen(0, '127.0.0.1');
await once(endpoint, 'listening');
t.teardown(() => endpoint.close());
const { port } = endpoint.address() as AddressInfo;
const ENDPOINT = `http://127.0.0.1:${port}`;

const platform = await startPlatform(t, { OUTBOUND_ALLOW: `127.0.0.1:${port}`, SECRETS_KEY: '' });
const { call, database } = platform;
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

/** The specification's table: field, what it takes, what it refuses. */
const BOUNDS: readonly [field: string, good: readonly unknown[], bad: readonly unknown[]][] = [
  ['name', ['a', long(120)], ['', long(121), 5, null]],
  ['description', ['', long(2000)], [long(2001), null]],
  ['method', ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], ['get', 'HEAD', null]],
  ['url', ['', URL_START + long(4000 - URL_START.length), 'http://a.example:8080/{{a}}?b={{c}}'], [URL_START + long(4001 - URL_START.length), null, 5]],
  ['content_type', ['', 'text/plain', long(128)], [long(129), 'a\r\nb', 'ä', null]],
  ['body_template', ['', long(100_000)], [long(100_001), null]],
  ['timeout_seconds', [1, 120], [0, 121, 1.5, '30', null]],
  ['error_handling', ['passthrough', 'hide'], ['show', null]],
  ['expects_response', [true, false], ['true', null]],
  ['arguments', [[], Array(100).fill({ name: 'a' }), [{ name: long(64), description: long(500) }]], [Array(101).fill({ name: 'a' }), [{}], [{ name: '' }], [{ name: long(65) }], [{ name: 'a', description: long(501) }], [{ name: 'a', type: 'string' }], {}, null]],
  ['headers', [[], Array(50).fill({ name: 'X-A', value: 'a' }), [{ name: long(128), value: long(4000) }], [{ name: 'X-A', value: 'tab\tand é' }], [{ name: 'X-A', value: null }], [{ name: 'X-A' }]], [Array(51).fill({ name: 'X-A', value: 'a' }), [{ name: '' }], [{ name: long(129) }], [{ name: 'X-A', value: long(4001) }], [{ name: 'X-A', kind: 'other' }], [{ name: 'X-A', has_secret: true }], null]],
  ['mock_responses', [[], Array(50).fill({}), [{ name: long(120), status_code: 100, content_type: long(128), body: long(100_000) }], [{ status_code: 599 }]], [Array(51).fill({}), [{ name: long(121) }], [{ status_code: 99 }], [{ status_code: 600 }], [{ content_type: long(129) }], [{ body: long(100_001) }], [{ delay: 1 }], null]],
]; // prettier-ignore

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

t.test('rule 9: addresses that tools may not have', async (t) => {
  const refused = ['http://localhost/', 'http://127.0.0.1:1/', 'http://10.1.2.3/{{a}}', 'http://192.168.0.1/', 'http://[::1]/', 'http://169.254.169.254/latest', 'http://2130706433/', 'ftp://a.example/', 'file:///etc/passwd', 'https://user:secret@a.example/', 'a.example', 'https://{{host}}/', 'https://a.example:{{port}}/', '{{url}}']; // prettier-ignore
  for (const url of refused) {
    const answer = await create({ name: 'T', url });
    t.strictSame([answer.status, places(answer)], [422, ['url']], url);
    t.match(answer.body['message'], /^url must/);
  }
});

t.test('fine point 16: headers of the connection, and what is no header', async (t) => {
  const names = ['Host', 'connection', 'Content-Length', 'Transfer-Encoding', 'TE', 'Upgrade', 'Keep-Alive', 'X A', 'X:A', 'X\nA', 'ä']; // prettier-ignore
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

t.test('credentials are write-only, and encrypted where they are kept', async (t) => {
  const bearer = { name: 'Authorization', kind: 'authorization_bearer', value: 'Bearer very-secret' };
  const custom = { name: 'X-Team', value: 'red' };
  const made = await create({ name: 'T', url: `${ENDPOINT}/ok`, headers: [bearer, custom] });
  const expected = [
    { name: 'Authorization', kind: 'authorization_bearer', value: null, has_secret: true },
    { name: 'X-Team', kind: 'custom', value: 'red', has_secret: false },
  ];
  t.strictSame(made.body['headers'], expected);
  const path = `${TOOLS}/${made.body['tool_id'] as string}`;
  t.notMatch((await call('GET', path)).text, 'very-secret');

  const dump = await database.sql<{ row: string }[]>`
    select to_jsonb(t)::text as row from tools t union all select encode(sealed, 'escape') from secrets`;
  t.notMatch(dump.map(({ row }) => row).join('\n'), 'very-secret');

  const sent = async () => {
    received.length = 0;
    await call('POST', `${path}/test`, { body: {} });
    const { authorization, 'x-team': team } = received[0]!.headers;
    return [authorization, team];
  };
  t.strictSame(await sent(), ['Bearer very-secret', 'red'], 'sent exactly as stored');
  const patch = (headers: unknown) => call('PATCH', path, { body: { headers } });
  t.strictSame(
    (await patch([{ name: 'authorization', kind: 'authorization_bearer' }, custom])).body['headers'],
    [{ ...expected[0], name: 'authorization' }, expected[1]],
  );
  t.strictSame(await sent(), ['Bearer very-secret', 'red'], 'absent keeps it');
  await patch([{ ...bearer, value: 'Bearer new' }]);
  t.strictSame(await sent(), ['Bearer new', undefined], 'a value rotates it');
  await patch([{ ...bearer, value: null }]);
  t.strictSame(await sent(), [undefined, undefined], 'null removes it');
  const left = await database.sql`select 1 from secrets where owner_id = ${made.body['tool_id'] as string}`;
  t.equal(left.length, 0);
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
  const routes: [string, string, object?][] = [['GET', ''], ['PATCH', '', { name: 'x' }], ['DELETE', ''], ['GET', '/agents'], ['POST', '/test', {}]]; // prettier-ignore
  for (const [method, path, body] of routes) {
    const answer = await call(method, `${TOOLS}/${id}${path}`, {
      ...(body ? { body } : {}),
      key: platform.otherKey,
    });
    t.strictSame([answer.status, answer.body], [404, { status: 404, message: 'Tool not found' }], path);
    t.equal((await call(method, `${TOOLS}/no%00tool${path}`, body ? { body } : {})).status, 404);
  }
});

t.test(
  'a test calls the real endpoint, with its values escaped, whatever mocks are stored (fine point 16)',
  async (t) => {
    const id = await platform.tool({
      url: `${ENDPOINT}/ok?q={{order}}`,
      arguments: [{ name: 'order' }, { name: 'count' }],
      body_template: '{"order":"{{order}}","count":{{count}}}',
      headers: [{ name: 'X-Team', value: 'red' }],
      mock_responses: [{ body: 'never seen' }],
    });
    received.length = 0;
    const values = { order: 'A&"1', count: 3, unknown: 1 };
    const { status, body } = await call('POST', `${TOOLS}/${id}/test`, { body: { arguments: values } });
    t.equal(status, 200);
    t.strictSame(
      { ...body, latency_ms: 0, response_headers: 0 },
      {
        ok: true,
        status_code: 200,
        latency_ms: 0,
        response_headers: 0,
        response_body: '{"ok":true}',
        response_truncated: false,
        error: null,
      },
    );
    t.equal((body['response_headers'] as Json)['x-own'], 'yes');
    t.ok(Number.isInteger(body['latency_ms']) && (body['latency_ms'] as number) >= 0);
    const [request] = received;
    t.strictSame(
      [request?.method, request?.url, request?.body],
      ['POST', '/ok?q=A%26%221', '{"order":"A&\\"1","count":3}'],
    );
    t.match(request?.headers, { 'x-team': 'red', 'content-type': 'application/json' });
  },
);

t.test('what a test may tell: any status, the first 64 KB, why nothing came', async (t) => {
  const test = async (tool: Json, rest: Json = {}) =>
    call('POST', `${TOOLS}/test`, { body: { tool: { name: 'T', ...tool }, ...rest } });
  const missing = (await test({ url: `${ENDPOINT}/missing`, method: 'GET' })).body;
  t.match(missing, { ok: false, status_code: 404, response_body: 'no such order', error: null });
  const whole = (await test({ url: `${ENDPOINT}/64k` })).body;
  t.match(whole, { response_truncated: false, response_body: ANSWERS['/64k']!.body });
  const cut = (await test({ url: `${ENDPOINT}/more` })).body;
  t.match(cut, { ok: true, response_truncated: true, response_body: ANSWERS['/64k']!.body });
  const none = (await test({})).body;
  t.match(none, { ok: false, status_code: null, error: 'The tool has no URL', response_body: '' });
  received.length = 0;
  const headers = [{ name: 'whatever', kind: 'authorization_basic', value: 'Basic abc' }];
  await test({ url: `${ENDPOINT}/ok`, headers });
  t.equal(received[0]?.headers.authorization, 'Basic abc', 'rule 2');

  t.strictSame(places(await test({ url: 'http://10.0.0.1/' })), ['tool.url']);
  t.strictSame(places(await test({}, { arguments: [] })), ['arguments']);
  t.strictSame(places(await test({ colour: 1 })), ['tool.colour']);
  t.equal((await call('POST', `${TOOLS}/test`, { body: {} })).status, 422);
  t.equal((await test({ name: 'a', tool_type: 'client' })).status, 400);
  const dots = await test(
    { url: `${ENDPOINT}/{{a}}/x`, arguments: [{ name: 'a' }] },
    { arguments: { a: '..' } },
  );
  t.equal(dots.status, 400);

  // Saved while the address was allowed, called when it is not: the database is changed behind the gateway's back.
  const id = await platform.tool({ url: `${ENDPOINT}/ok` });
  await database.sql`update tools set definition = jsonb_set(definition, '{url}', '"http://127.0.0.1:1/"') where id = ${id}`;
  const { body, status } = await call('POST', `${TOOLS}/${id}/test`, { body: {} });
  t.equal(status, 200);
  t.match(body, { ok: false, status_code: null });
  t.type(body['error'], 'string', 'refused at call time as well');
});

t.test('fine point 23: the secret of the installation', async (t) => {
  const file = join(platform.gateway.dataDir, 'secrets-key');
  t.equal(statSync(file).mode & 0o777, 0o600);
  const postgres = await startPostgres(t);
  const { sql } = await postgres.migrated();
  const [one, two] = [folderOf(t), folderOf(t)];

  t.test('several starts at once agree on one, later ones find it', async (t) => {
    const opened = await Promise.all([1, 2, 3].map(() => openSecrets({ sql, dataDir: one })));
    const sealed = opened[0]!.seal('sesame', 'tool a');
    for (const secrets of opened) t.equal(secrets.open(sealed, 'tool a'), 'sesame');
    const again = await openSecrets({ sql, dataDir: one, secretsKey: '' });
    t.equal(again.open(sealed, 'tool a'), 'sesame');
    const key = readFileSync(join(one, 'secrets-key'), 'utf8').trim();
    t.equal((await openSecrets({ sql, dataDir: two, secretsKey: key })).open(sealed, 'tool a'), 'sesame');
  });

  t.test('another one refuses to start', async (t) => {
    t.match(await failureOf(() => openSecrets({ sql, dataDir: two })), /secrets-key.*SECRETS_KEY/);
    t.match(
      await failureOf(() => openSecrets({ sql, dataDir: one, secretsKey: 'x'.repeat(16) })),
      /^SECRETS_KEY is not/,
    );
    t.match(
      await failureOf(() => openSecrets({ sql, dataDir: one, secretsKey: 'short' })),
      /16 to 4096 characters/,
    );
    writeFileSync(join(two, 'secrets-key'), 'y'.repeat(43));
    t.match(await failureOf(() => openSecrets({ sql, dataDir: two })), /secrets-key is not the secret/);
    writeFileSync(join(two, 'secrets-key'), '');
    t.match(await failureOf(() => openSecrets({ sql, dataDir: two })), /secrets-key is damaged/);
  });

  t.test('what is sealed opens for its own context only, and unchanged', async (t) => {
    const secrets = createSecrets('x'.repeat(32));
    const sealed = secrets.seal('sesame ☃', 'tool a');
    t.equal(secrets.open(sealed, 'tool a'), 'sesame ☃');
    t.notSame(secrets.seal('sesame ☃', 'tool a'), sealed, 'never twice the same');
    t.throws(() => secrets.open(sealed, 'tool b'));
    t.throws(() => createSecrets('y'.repeat(32)).open(sealed, 'tool a'));
    for (const at of [0, 13, sealed.length - 1]) {
      const changed = Uint8Array.from(sealed);
      changed[at]! ^= 1;
      t.throws(() => secrets.open(changed, 'tool a'));
    }
    t.throws(() => secrets.open(sealed.subarray(0, 20), 'tool a'));
    t.notSame(secrets.key('one'), secrets.key('two'));
    t.equal(secrets.key('one').length, 32);
  });
});
