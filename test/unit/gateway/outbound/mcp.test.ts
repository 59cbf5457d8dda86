/**
 * The client of MCP servers (gateway/outbound/mcp.ts) against a hostile double behind the real outbound guard: its requests,
 * and how it copes with servers that hang, send too much, redirect, lose sessions, or speak another protocol. The server of
 * the real SDK is in test/acceptance/mcp.test.mjs.
 */
import { LIMITS } from '../../../../contracts/limits.js';
import type { McpTarget } from '../../../../contracts/ports/agents/mcp.js';
import { exactly, rejectsExactly } from '../../../fixtures/exactly.js';
import {
  type Answering,
  answers,
  begins,
  INITIALIZED,
  json,
  mcpServer,
  tool,
} from '../../../fixtures/outbound/mcp-server.js';
import t from '../../../fixtures/tap.js';
import { until } from '../../../fixtures/until.js';

const server = await mcpServer(t);
const { asked, at, open, port } = server;
const never = new AbortController().signal;

t.test('a handshake once, its version and session from then on, the owner’s headers always', async (t) => {
  server.answering = answers(({ method }) =>
    method === 'tools/list' ? { tools: [tool('look', { description: 'Looks' })] } : { content: [] },
  );
  const headers = [
    ['Authorization', 'Bearer secret'],
    ['Accept', 'text/html'],
    ['Mcp-Session-Id', 'mine'],
  ] as const;
  const client = at({ headers });
  const [tools] = await Promise.all([client.list(never), client.call('look', { at: 1 }, never)]);
  t.strictSame(tools, [{ name: 'look', description: 'Looks', parameters: { type: 'object' } }]);
  client.close();
  await until('all is asked', () => asked.length >= 5);
  t.same(asked.map(({ method }) => method).sort(), [
    ...['DELETE', 'initialize', 'notifications/initialized', 'tools/call', 'tools/list'],
  ]);
  for (const { method, headers: sent } of asked) {
    t.equal(sent['authorization'], 'Bearer secret', method);
    const first = method === 'initialize';
    t.equal(sent['mcp-session-id'], first ? undefined : 's-1', method);
    t.equal(sent['mcp-protocol-version'], first ? undefined : '2025-06-18', method);
    if (method !== 'DELETE') t.equal(sent['accept'], 'application/json, text/event-stream', method);
  }
});

t.test('a server without sessions gets no session id', async (t) => {
  server.answering = begins(
    (message, response) => json(response, { id: message.id, result: { tools: [] } }),
    {},
  );
  const client = at();
  t.same(await client.list(never), []);
  client.close();
  t.same([asked.at(-1)?.headers['mcp-session-id'], asked.length], [undefined, 3]);
});

t.test('pages of a list follow their cursors, and end', async (t) => {
  server.answering = answers(({ params }) => {
    const page = Number(params?.cursor ?? 0);
    return { tools: [tool(`t${page}`)], nextCursor: `${page + 1}` };
  });
  const tools = await at().list(never);
  t.equal(tools.length, LIMITS.mcp.pages);
  t.equal(tools.at(-1)?.name, `t${LIMITS.mcp.pages - 1}`);
  server.answering = answers(() => ({ tools: Array.from({ length: 1000 }, (_, n) => tool(`t${n}`)) }));
  t.equal((await at().list(never)).length, LIMITS.mcp.tools);
});

t.test('tools that are malformed or too large are left out', async (t) => {
  const large = { type: 'object', description: 'x'.repeat(LIMITS.mcp.schemaLength) };
  server.answering = answers(() => ({
    tools: [
      ...[null, 7, {}, { name: 'no schema' }, { name: 7, inputSchema: {} }, tool('')],
      ...[tool('x'.repeat(LIMITS.mcp.toolName + 1)), tool('large', { inputSchema: large })],
      tool('good', { description: 'd'.repeat(5000) }),
      tool('whole', { description: `d${'🙂'.repeat(LIMITS.tool.description)}` }),
    ],
  }));
  const tools = await at().list(never);
  t.same(
    tools.map(({ name, description }) => [name, description.length]),
    [
      ['good', LIMITS.tool.description],
      ['whole', LIMITS.tool.description - 1],
    ],
  );
});

t.test('half a character in a description is none', async (t) => {
  server.answering = answers(() => ({ tools: [tool('odd', { description: 'a\ud800b' })] }));
  t.strictSame(
    (await at().list(never)).map(({ description }) => description),
    ['a\ufffdb'],
  );
});

t.test('a schema that is nested without end is left out', async (t) => {
  const deep = 50_000;
  server.answering = begins(({ id }, response) => {
    const schema = `${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      `{"jsonrpc":"2.0","id":${id},"result":{"tools":[{"name":"deep","inputSchema":${schema}},` +
        `{"name":"good","inputSchema":{"type":"object"}}]}}`,
    );
  });
  t.same(
    (await at().list(never)).map(({ name }) => name),
    ['good'],
  );
});

t.test('a structured result that is nested without end is a failure of the tool', async (t) => {
  server.answering = begins(({ id }, response) => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`{"jsonrpc":"2.0","id":${id},"result":{"structuredContent":{"a":${deep}}}}`);
  });
  t.strictSame(await at().call('look', {}, never), { ok: false, text: 'The result is nested too deep' });
});

t.test('in an MCP result parts that cannot be spoken are named', async (t) => {
  const results: readonly (readonly [object, object])[] = [
    [
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      { ok: true, text: 'a\nb' },
    ],
    [
      { content: [{ type: 'text', text: 'no' }], isError: true },
      { ok: false, text: 'no' },
    ],
    [
      { content: [], structuredContent: { n: 1 } },
      { ok: true, text: '{"n":1}' },
    ],
    [{ content: [{ type: 'image', mimeType: 'image/png', data: 'AA' }] }, { ok: true, text: '[image/png]' }],
    [{ content: [{ type: 'resource', resource: { text: 'r' } }] }, { ok: true, text: 'r' }],
    [{ content: [{ type: 'toString' }, 7, null] }, { ok: true, text: '' }],
    [{}, { ok: true, text: '' }],
  ];
  for (const [result, expected] of results) {
    server.answering = answers(() => result);
    t.same(await at().call('look', {}, never), expected);
  }
});

t.test('a session that the server has forgotten is begun anew, once', async (t) => {
  let forgets = 1;
  const rest: Answering = (message, response) =>
    forgets-- > 0
      ? response.writeHead(404).end()
      : json(response, { id: message.id, result: { content: [{ type: 'text', text: 'here' }] } });
  server.answering = begins(rest);
  exactly(t, await at().call('look', {}, never), { text: 'here' });
  t.equal(asked.filter(({ method }) => method === 'initialize').length, 2);
  forgets = 9;
  await rejectsExactly(t, at().call('look', {}, never), { name: 'McpError' });
  t.equal(asked.filter(({ method }) => method === 'tools/call').length, 2);
});

t.test('whatever the refusal of a named session, it is begun anew, once', async (t) => {
  const refusals: readonly (readonly [number, object | undefined])[] = [
    [400, { jsonrpc: '2.0', error: { code: -32000, message: 'No valid session ID provided' }, id: null }],
    [400, { jsonrpc: '2.0', error: { code: -32600, message: 'Missing session ID' }, id: 'server-error' }],
    ...[400, 401, 403, 404, 410, 422].map((status) => [status, undefined] as const),
  ];
  for (const [status, body] of refusals) {
    let refuses = 1;
    let changed = 0;
    server.answering = begins((message, response) =>
      refuses-- > 0
        ? response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
        : json(response, { id: message.id, result: { content: [{ type: 'text', text: 'here' }] } }),
    );
    const mended: string[] = [];
    const client = at({ changed: () => (changed += 1), mended: (what) => void mended.push(what) });
    exactly(t, await client.call('look', {}, never), { text: 'here' });
    t.same(mended, ['session']);
    t.equal(asked.filter(({ method }) => method === 'initialize').length, 2, `${status}`);
    t.equal(changed, 1, 'a server that began anew may have other tools');
    refuses = 9;
    const message = body
      ? /^The server reported: (No valid|Missing) session/
      : `The server answered HTTP ${status}`;
    await rejectsExactly(t, at().call('look', {}, never), { message });
    t.equal(asked.filter(({ method }) => method === 'tools/call').length, 2);
  }
});

t.test('an answer of 5xx may have had an effect, so nothing is repeated', async (t) => {
  server.answering = begins((_, response) => response.writeHead(502).end());
  await rejectsExactly(t, at().call('look', {}, never), { message: 'The server answered HTTP 502' });
  t.equal(asked.filter(({ method }) => method === 'tools/call').length, 1);
});

t.test('a refusal has its status, whatever body it comes with', async (t) => {
  const says = (status: number, body: object): Answering =>
    begins((_, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  server.answering = says(500, { error: { message: 'no' } });
  const refused = { message: 'The server reported: no', answered: 500 };
  await rejectsExactly(t, at().call('look', {}, never), refused);
  server.answering = (_, response) =>
    void response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"who?"}}');
  await rejectsExactly(
    t,
    at().list(never),
    { message: 'The server reported: who?', answered: 401 },
    'of a handshake',
  );
  server.answering = says(500, { error: { message: `${'x'.repeat(499)}🙂 and more` } });
  const cut = { message: `The server reported: ${'x'.repeat(499)}` };
  await t.rejects(at().call('look', {}, never), cut, 'no half a character at its end');
  server.answering = says(200, { jsonrpc: '2.0', id: null, error: { message: 'no' } });
  await rejectsExactly(t, at().call('look', {}, never), {
    message: 'The server reported: no',
    isLate: false,
  });
});

t.test('a handshake that failed is made anew by the next request', async (t) => {
  server.answering = (_, response) => response.writeHead(503).end();
  const client = at();
  await rejectsExactly(t, client.list(never), { message: 'The server answered HTTP 503' });
  server.answering = answers(() => ({ tools: [] }));
  t.same(await client.list(never), []);
});

t.test('servers that speak something else, too much, or not at all', async (t) => {
  const says = async (answer: Answering, message: RegExp, more: Partial<McpTarget> = {}) => {
    server.answering = begins(answer);
    await rejectsExactly(t, at(more).call('look', {}, never), { message });
  };
  await says((_, response) => response.end('<html>'), /did not answer with JSON-RPC/);
  await says(
    ({ id }, response) => json(response, { id: `${id}`, result: {} }),
    /did not answer with JSON-RPC/,
  );
  await says((_, response) => response.writeHead(401).end('Bearer secret'), /^The server answered HTTP 401$/);
  await says(
    ({ id }, response) => json(response, { id, error: { code: -1, message: 'm'.repeat(9000) } }),
    /^The server reported: m{500}$/,
  );
  await says(({ id }, response) => json(response, { id, error: 'odd' }), /reported an error/);
  const huge = 'x'.repeat(LIMITS.mcp.replyBytes + 1);
  await says(({ id }, response) => json(response, { id, result: { huge } }), /too large/);
  await says((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: ${huge}\n\n`);
  }, /too large/);
  await says(() => undefined, /^No response within 1 s$/, { timeoutMs: 1000 });
  server.answering = ({ id }, response) =>
    json(response, { id, result: { ...INITIALIZED, protocolVersion: '1999-01-01' } });
  await rejectsExactly(t, at().list(never), { message: /another version/ });
});

t.test('a redirect to a private address is refused, and takes no secret with it', async (t) => {
  server.answering = (_, response) =>
    response.writeHead(307, { location: `http://localhost:${port}/elsewhere` }).end();
  const client = at({ headers: [['Authorization', 'Bearer secret']] });
  await rejectsExactly(t, client.list(never), { name: 'OutboundError', failure: 'refused' });
  t.equal(asked.length, 1);
  await rejectsExactly(t, open({ url: 'http://10.0.0.1/mcp', headers: [], timeoutMs: 1000 }).list(never), {
    name: 'OutboundError',
    failure: 'refused',
  });
});

t.test('a cancelled request stops waiting', async (t) => {
  server.answering = () => undefined;
  const leaving = new AbortController();
  const listed = at().list(leaving.signal);
  await until('it is asked', () => asked.length > 0);
  leaving.abort(new Error('gone'));
  await rejectsExactly(t, listed, { message: 'gone' });
});
