/**
 * Calls of tools: credentials and the secret that seals them, test calls of a real endpoint (docs/contract/platform.md 6.5;
 * decisions 16, 23).
 */
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { httpDouble } from '../../fixtures/http-double.js';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { createSecrets, openSecrets } from '../../../storage/secrets/secrets.js';
import { exactly } from '../../fixtures/exactly.js';
import { type Json, places, startPlatform } from '../../fixtures/platform/platform.js';
import { failureOf, startPostgres } from '../../fixtures/database/postgres.js';
import { folderOf } from '../../fixtures/folders.js';

interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** An account owner's endpoint: records requests, and answers according to the path. */
const received: Received[] = [];
const ANSWERS: Readonly<Record<string, { status: number; body: string | Buffer; type?: string }>> = {
  '/ok': { status: 200, body: '{"ok":true}' },
  '/missing': { status: 404, body: 'no such order' },
  '/64k': { status: 200, body: 'x'.repeat(64 * 1024) },
  '/more': { status: 200, body: 'x'.repeat(64 * 1024 + 1) },
  '/half': { status: 200, body: `${'x'.repeat(64 * 1024 - 1)}é…` },
  '/latin': { status: 200, body: Buffer.from('Müller', 'latin1'), type: 'text/plain; charset=ISO-8859-1' },
  '/wide': { status: 200, body: Buffer.from('Müller', 'utf16le'), type: 'text/plain; Charset="utf-16le"' },
  '/bom': { status: 200, body: '\ufeff{"ok":true}', type: 'application/json' },
  '/odd': { status: 200, body: 'Müller', type: 'text/plain; charset=klingon' },
};
const MCP_RESULTS: Readonly<Record<string, object>> = {
  initialize: { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: {} },
  'tools/list': { tools: [{ name: 'find', inputSchema: { type: 'object' } }] },
};
function answerMcp(asked: string, response: ServerResponse): void {
  const { id, method } = JSON.parse(asked) as { id?: number; method: string };
  const result = MCP_RESULTS[method];
  if (!result) return void response.writeHead(202).end();
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}
const endpoint = httpDouble((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const { method = '', url = '', headers } = request;
    received.push({ method, url, headers, body: Buffer.concat(parts).toString() });
    if (url === '/mcp') return void answerMcp(received.at(-1)?.body ?? '', response);
    const {
      status,
      body,
      type = 'text/plain',
    } = ANSWERS[url.split('?')[0] ?? ''] ?? { status: 200, body: '' };
    response.writeHead(status, { 'content-type': type, 'x-own': 'yes' }).end(body);
  });
}).listen(0, '127.0.0.1');
await once(endpoint, 'listening');
t.teardown(() => endpoint.close());
const { port } = endpoint.address() as AddressInfo;
const ENDPOINT = `http://127.0.0.1:${port}`;

const platform = await startPlatform(t, { OUTBOUND_ALLOW: `127.0.0.1:${port}`, SECRETS_KEY: '' });
const { call, database } = platform;
const TOOLS = '/v1/agent/tools';

t.test('credentials are write-only, and encrypted where they are kept', async (t) => {
  const bearer = { name: 'Authorization', kind: 'authorization_bearer', value: 'Bearer very-secret' };
  const custom = { name: 'X-Team', value: 'red' };
  const made = await call('POST', TOOLS, {
    body: { name: 'T', url: `${ENDPOINT}/ok`, headers: [bearer, custom] },
  });
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

t.test(
  'a test calls the real endpoint, with its values escaped, whatever mocks are stored (decision 16)',
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
    exactly(t, request?.headers, { 'x-team': 'red', 'content-type': 'application/json' });
  },
);

t.test('an MCP server is a tool: sealed credentials, a test that lists its tools', async (t) => {
  const id = await platform.tool({
    name: 'crm',
    tool_type: 'mcp',
    url: `${ENDPOINT}/mcp`,
    allowed_tools: ['find'],
    headers: [{ name: 'Authorization', kind: 'authorization_bearer', value: 'Bearer very-secret' }],
  });
  const { body } = await call('GET', `${TOOLS}/${id}`);
  exactly(t, body, { tool_type: 'mcp', allowed_tools: ['find'] });
  t.strictSame((body['headers'] as Json[])[0]?.['value'], null);
  const sealed = await database.sql`select 1 from secrets where owner_id = ${id}`;
  t.equal(sealed.length, 1);
  received.length = 0;
  const listed = (await call('POST', `${TOOLS}/${id}/test`, { body: {} })).body;
  exactly(t, listed, { ok: true, status_code: null, error: null });
  exactly(t, JSON.parse(String(listed['response_body'])), { tools: [{ name: 'find' }] });
  t.ok(received.every(({ headers }) => headers.authorization === 'Bearer very-secret'));
  const patched = await call('PATCH', `${TOOLS}/${id}`, { body: { url: `${ENDPOINT}/ok` } });
  t.equal(patched.status, 200);
  exactly(t, (await call('POST', `${TOOLS}/${id}/test`, { body: {} })).body, {
    ok: false,
    error: 'The server did not answer with JSON-RPC',
  });
  const servers = await Promise.all(
    Array.from({ length: LIMITS.mcp.servers + 1 }, () => platform.tool({ tool_type: 'mcp' })),
  );
  const many = await call('POST', '/v1/agent/agents', {
    body: { name: 'A', config: { tools: { tool_ids: servers } } },
  });
  exactly(t, many, { status: 400, body: { message: /at most 10 MCP servers/ } });
});

t.test('a test shows any status, the first 64 KB, and why there is no answer', async (t) => {
  const test = async (tool: Json, rest: Json = {}) =>
    call('POST', `${TOOLS}/test`, { body: { tool: { name: 'T', ...tool }, ...rest } });
  const missing = (await test({ url: `${ENDPOINT}/missing`, method: 'GET' })).body;
  exactly(t, missing, { ok: false, status_code: 404, response_body: 'no such order', error: null });
  const whole = (await test({ url: `${ENDPOINT}/64k` })).body;
  exactly(t, whole, { response_truncated: false, response_body: ANSWERS['/64k']!.body as string });
  const cut = (await test({ url: `${ENDPOINT}/more` })).body;
  exactly(t, cut, { ok: true, response_truncated: true, response_body: ANSWERS['/64k']!.body as string });
  const texts = { latin: 'Müller', wide: 'Müller', bom: '{"ok":true}', odd: 'Müller' };
  const readAs = async (path: string) => (await test({ url: `${ENDPOINT}/${path}` })).body;
  for (const [path, said] of Object.entries(texts))
    t.equal((await readAs(path))['response_body'], said, `${path}, in its charset`);
  const half = await readAs('half');
  t.equal(half['response_body'], 'x'.repeat(64 * 1024 - 1), 'no half character');
  t.equal(half['response_truncated'], true);
  const none = (await test({})).body;
  exactly(t, none, { ok: false, status_code: null, error: 'The tool has no URL', response_body: '' });
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

  // As if it had been saved while the address was allowed: the database is changed behind the gateway's back.
  const id = await platform.tool({ url: `${ENDPOINT}/ok` });
  await database.sql`update tools set definition = jsonb_set(definition, '{url}', '"http://127.0.0.1:1/"') where id = ${id}`;
  const { body, status } = await call('POST', `${TOOLS}/${id}/test`, { body: {} });
  t.equal(status, 200);
  exactly(t, body, { ok: false, status_code: null });
  t.type(body['error'], 'string', 'refused at call time as well');
});

t.test('system variables are empty in a test, but for those of its argument `system`', async (t) => {
  const tool = {
    name: 'T',
    url: `${ENDPOINT}/ok`,
    headers: [{ name: 'X-Caller', value: '<{{system.caller_number}}>' }],
    body_template: '{"on":{{system.today}},"from":{{system.caller_number}}}',
  };
  const test = async (values?: Json) =>
    call('POST', `${TOOLS}/test`, { body: { tool, ...(values && { arguments: values }) } });
  received.length = 0;
  await test();
  await test({ system: { caller_number: '+4930123456' } });
  t.strictSame(
    received.map(({ headers, body }) => [headers['x-caller'], body]),
    [
      ['<>', '{"on":"","from":""}'],
      ['<+4930123456>', '{"on":"","from":"+4930123456"}'],
    ],
  );
  const split = await test({ system: { caller_number: 'a\r\nb' } });
  t.strictSame([split.status, places(split)], [422, ['arguments.system.caller_number']]);
});

t.test('decision 23: the secret of the installation is in a file that its owner alone reads', async (t) => {
  const file = join(platform.gateway.dataDir, 'secrets-key');
  t.equal(statSync(file).mode & 0o777, 0o600);
  const postgres = await startPostgres(t);
  const { sql } = await postgres.migrated();
  const [one, two] = [folderOf(t), folderOf(t)];

  t.test('several starts at once agree on one, later ones find it', async (t) => {
    const opened = await Promise.all([1, 2, 3].map(() => openSecrets({ sql, dataDir: one })));
    const sealed = opened[0]!.seal('sesame', 'tool a');
    for (const secrets of opened) t.equal(secrets.openSealed(sealed, 'tool a'), 'sesame');
    const again = await openSecrets({ sql, dataDir: one, secretsKey: '' });
    t.equal(again.openSealed(sealed, 'tool a'), 'sesame');
    const key = readFileSync(join(one, 'secrets-key'), 'utf8').trim();
    t.equal(
      (await openSecrets({ sql, dataDir: two, secretsKey: key })).openSealed(sealed, 'tool a'),
      'sesame',
    );
  });

  t.test('a gateway with another secret refuses to start', async (t) => {
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

  t.test('a sealed value opens for its own context only, and unchanged', async (t) => {
    const secrets = createSecrets('x'.repeat(32));
    const sealed = secrets.seal('sesame ☃', 'tool a');
    t.equal(secrets.openSealed(sealed, 'tool a'), 'sesame ☃');
    t.notSame(secrets.seal('sesame ☃', 'tool a'), sealed, 'never twice the same');
    const unlike = /unable to authenticate data/;
    t.throws(() => secrets.openSealed(sealed, 'tool b'), unlike);
    t.throws(() => createSecrets('y'.repeat(32)).openSealed(sealed, 'tool a'), unlike);
    for (const at of [0, 13, sealed.length - 1]) {
      const changed = Uint8Array.from(sealed);
      changed[at]! ^= 1;
      t.throws(() => secrets.openSealed(changed, 'tool a'), unlike);
    }
    t.throws(
      () => secrets.openSealed(sealed.subarray(0, 20), 'tool a'),
      /tag length: 8/,
      'a shorter tag is easier to guess',
    );
    t.notSame(secrets.key('one'), secrets.key('two'));
    t.equal(secrets.key('one').length, 32);
  });
});
