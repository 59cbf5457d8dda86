/**
 * The client of MCP servers (gateway/outbound/mcp.ts) against a hostile double behind the real outbound guard: its requests,
 * and how it copes with servers that hang, send too much, redirect, lose sessions, or speak another protocol. The server of
 * the real SDK is in test/acceptance/mcp.test.mjs.
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { httpDouble } from '../../../fixtures/http-double.js';
import type { AddressInfo } from 'node:net';
import t from '../../../fixtures/tap.js';
import { systemClock } from '../../../../contracts/clock.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { McpTarget } from '../../../../contracts/ports/agents/mcp.js';
import { createOutbound } from '../../../../gateway/outbound/fetch.js';
import { createMcp } from '../../../../gateway/outbound/mcp.js';
import { exactly, rejectsExactly } from '../../../fixtures/exactly.js';

interface Asked {
  readonly method: string;
  readonly id?: number;
  readonly params?: { readonly cursor?: string; readonly name?: string; readonly arguments?: unknown };
  readonly headers: IncomingMessage['headers'];
}

const asked: Asked[] = [];
type Answering = (asked: Asked, response: ServerResponse) => void;
let answering: Answering;
const server = httpDouble((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (part: string) => (body += part));
  request.on('end', () => {
    const message = (body === '' ? { method: request.method } : JSON.parse(body)) as Asked;
    asked.push({ ...message, headers: request.headers });
    answering({ ...message, headers: request.headers }, response);
  });
}).listen(0, '127.0.0.1');
await once(server, 'listening');
t.teardown(() => {
  server.closeAllConnections();
  server.close();
});
const { port } = server.address() as AddressInfo;
const URL = `http://127.0.0.1:${port}/mcp`;

const open = createMcp(createOutbound({ allow: [`127.0.0.1:${port}`], clock: systemClock }));
const never = new AbortController().signal;
const at = (more: Partial<McpTarget> = {}) => {
  asked.length = 0;
  return open({ url: URL, headers: [], timeoutMs: 5000, ...more });
};

const json = (response: ServerResponse, message: object, headers: object = {}) =>
  response
    .writeHead(200, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify({ jsonrpc: '2.0', ...message }));

const INITIALIZED = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: {} };
const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });

/** A server that initialises correctly; `rest` answers all other requests. */
const begins =
  (rest: Answering, session: object = { 'mcp-session-id': 's-1' }): Answering =>
  (message, response) => {
    if (message.method === 'initialize') json(response, { id: message.id, result: INITIALIZED }, session);
    else if (message.id === undefined) response.writeHead(202).end();
    else rest(message, response);
  };

const answers = (result: (asked: Asked) => object): Answering =>
  begins((message, response) => json(response, { id: message.id, result: result(message) }));

t.test('a handshake once, its version and session from then on, the owner’s headers always', async (t) => {
  answering = answers(({ method }) =>
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
  while (asked.length < 5) await new Promise((resolve) => setTimeout(resolve, 5));
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
  answering = begins((message, response) => json(response, { id: message.id, result: { tools: [] } }), {});
  const client = at();
  t.same(await client.list(never), []);
  client.close();
  t.same([asked.at(-1)?.headers['mcp-session-id'], asked.length], [undefined, 3]);
});

t.test('a stream of events is read up to the answer, past notifications and requests', async (t) => {
  answering = begins((message, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    const event = (data: object) => response.write(`event: message\ndata: ${JSON.stringify(data)}\n\n`);
    event({ jsonrpc: '2.0', method: 'notifications/progress', params: {} });
    event({ jsonrpc: '2.0', id: message.id, method: 'ping' });
    event({ jsonrpc: '2.0', id: 999, result: {} });
    event({ jsonrpc: '2.0', id: message.id, result: { content: [{ type: 'text', text: 'Grüße, 東京' }] } });
    // The stream stays open: the client must not wait for its end.
  });
  t.same(await at().call('look', {}, never), { ok: true, text: 'Grüße, 東京' });
});

t.test('pages of a list follow their cursors, and end', async (t) => {
  answering = answers(({ params }) => {
    const page = Number(params?.cursor ?? 0);
    return { tools: [tool(`t${page}`)], nextCursor: `${page + 1}` };
  });
  const tools = await at().list(never);
  t.equal(tools.length, LIMITS.mcp.pages);
  t.equal(tools.at(-1)?.name, `t${LIMITS.mcp.pages - 1}`);
  answering = answers(() => ({ tools: Array.from({ length: 1000 }, (_, n) => tool(`t${n}`)) }));
  t.equal((await at().list(never)).length, LIMITS.mcp.tools);
});

t.test('tools that are malformed or too large are left out', async (t) => {
  const large = { type: 'object', description: 'x'.repeat(LIMITS.mcp.schemaLength) };
  answering = answers(() => ({
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
  answering = answers(() => ({ tools: [tool('odd', { description: 'a\ud800b' })] }));
  t.strictSame(
    (await at().list(never)).map(({ description }) => description),
    ['a\ufffdb'],
  );
});

t.test('a schema that is nested without end is left out', async (t) => {
  const deep = 50_000;
  answering = begins(({ id }, response) => {
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
  answering = begins(({ id }, response) => {
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
    answering = answers(() => result);
    t.same(await at().call('look', {}, never), expected);
  }
});

t.test('a session that the server has forgotten is begun anew, once', async (t) => {
  let forgets = 1;
  const rest: Answering = (message, response) =>
    forgets-- > 0
      ? response.writeHead(404).end()
      : json(response, { id: message.id, result: { content: [{ type: 'text', text: 'here' }] } });
  answering = begins(rest);
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
    answering = begins((message, response) =>
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
  answering = begins((_, response) => response.writeHead(502).end());
  await rejectsExactly(t, at().call('look', {}, never), { message: 'The server answered HTTP 502' });
  t.equal(asked.filter(({ method }) => method === 'tools/call').length, 1);
});

const streamed = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'text/event-stream' });
const CHANGED = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
const CHANGING = { ...INITIALIZED, capabilities: { tools: { listChanged: true } } };

/** A server that tells changes of its tools on a stream; `rest` answers all other requests. */
const changing =
  (listen: Answering, rest: Answering): Answering =>
  (message, response) => {
    if (message.method === 'GET') listen(message, response);
    else if (message.method === 'initialize')
      json(response, { id: message.id, result: CHANGING }, { 'mcp-session-id': 's-1' });
    else if (message.id === undefined) response.writeHead(202).end();
    else rest(message, response);
  };

const until = async (so: () => boolean): Promise<void> => {
  while (!so()) await new Promise((resolve) => setTimeout(resolve, 5));
};

t.test(
  'changes of the tools are told, also after the stream ended, and until the client closes',
  async (t) => {
    const from: unknown[] = [];
    answering = changing(
      ({ headers }, response) => {
        from.push(headers['last-event-id']);
        const id = from.length;
        streamed(response).write(`retry: 100\nid: e${id}\ndata: ${JSON.stringify(CHANGED)}\n\n`);
        if (id > 1) response.write(': it goes on\n\n');
      },
      (message, response) => json(response, { id: message.id, result: { tools: [tool('look')] } }),
    );
    let changed = 0;
    const client = at({ changed: () => (changed += 1) });
    await client.list(never);
    await until(() => changed >= 2);
    client.close();
    t.strictSame(from.slice(0, 2), [undefined, 'e1']);
    await until(() => asked.some(({ method }) => method === 'DELETE'));
  },
);

t.test('a server that tells no changes, or has no stream, is not asked again', async (t) => {
  const listed: Answering = (message, response) => json(response, { id: message.id, result: { tools: [] } });
  answering = begins(listed);
  await at({ changed: () => undefined }).list(never);
  t.notOk(asked.some(({ method }) => method === 'GET'));
  answering = changing((_, response) => response.writeHead(405).end(), listed);
  const client = at({ changed: () => undefined });
  await client.list(never);
  await until(() => asked.some(({ method }) => method === 'GET'));
  t.equal(asked.filter(({ method }) => method === 'GET').length, 1);
  client.close();
});

t.test('a stream that breaks off before its answer is resumed behind its last event', async (t) => {
  const resumed: unknown[] = [];
  let call: Asked | undefined;
  answering = (message, response) => {
    if (message.method === 'GET') {
      resumed.push(message.headers['last-event-id']);
      const result = { content: [{ type: 'text', text: 'at last' }] };
      if (resumed.length < 2) return void streamed(response).end(`retry: 100\nid: b\ndata: {"ha\n`);
      streamed(response).write(
        `id: c\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: call?.id, result })}\n\n`,
      );
      return;
    }
    begins((each) => {
      call = each;
      streamed(response).write('retry: 100\nid: a\ndata: {}\n\n');
      setTimeout(() => response.destroy(), 20);
    })(message, response);
  };
  t.same(await at().call('look', {}, never), { ok: true, text: 'at last' });
  t.strictSame(resumed, ['a', 'a'], 'half an event is none');
  t.equal(asked.filter(({ method }) => method === 'tools/call').length, 1, 'the call is not repeated');
});

t.test('a stream without ids cannot be resumed, and one that never answers ends in time', async (t) => {
  answering = begins((_, response) => void streamed(response).end('data: {}\n\n'));
  await rejectsExactly(t, at().call('look', {}, never), {
    message: 'The server did not answer with JSON-RPC',
  });
  answering = (message, response) => {
    if (message.method === 'GET') streamed(response).end('retry: 100\nid: x\ndata: {}\n\n');
    else begins((_, each) => void streamed(each).end('retry: 100\nid: x\ndata: {}\n\n'))(message, response);
  };
  await rejectsExactly(t, at().call('look', {}, never), {
    message: 'The server did not answer with JSON-RPC',
  });
  t.equal(asked.filter(({ method }) => method === 'GET').length, LIMITS.mcp.resumes);
});

t.test('a refusal has its status, whatever body it comes with', async (t) => {
  const says = (status: number, body: object): Answering =>
    begins((_, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  answering = says(500, { error: { message: 'no' } });
  const refused = { message: 'The server reported: no', answered: 500 };
  await rejectsExactly(t, at().call('look', {}, never), refused);
  answering = (_, response) =>
    void response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"who?"}}');
  await rejectsExactly(
    t,
    at().list(never),
    { message: 'The server reported: who?', answered: 401 },
    'of a handshake',
  );
  answering = says(500, { error: { message: `${'x'.repeat(499)}🙂 and more` } });
  const cut = { message: `The server reported: ${'x'.repeat(499)}` };
  await t.rejects(at().call('look', {}, never), cut, 'no half a character at its end');
  answering = says(200, { jsonrpc: '2.0', id: null, error: { message: 'no' } });
  await rejectsExactly(t, at().call('look', {}, never), {
    message: 'The server reported: no',
    isLate: false,
  });
});

t.test('a stream whose answer never comes is one that did not come in time', async (t) => {
  answering = (message, response) => {
    if (message.method === 'GET') streamed(response);
    else
      begins((_, each) => void streamed(each).write('retry: 10\nid: x\ndata: {}\n\n', () => each.destroy()))(
        message,
        response,
      );
  };
  await rejectsExactly(t, at({ timeoutMs: 300 }).call('look', {}, never), {
    message: 'The server broke its answer off',
    isLate: true,
  });
});

t.test('a handshake that failed is made anew by the next request', async (t) => {
  answering = (_, response) => response.writeHead(503).end();
  const client = at();
  await rejectsExactly(t, client.list(never), { message: 'The server answered HTTP 503' });
  answering = answers(() => ({ tools: [] }));
  t.same(await client.list(never), []);
});

t.test('servers that speak something else, too much, or not at all', async (t) => {
  const says = async (answer: Answering, message: RegExp, timeoutMs = 5000) => {
    answering = begins(answer);
    await rejectsExactly(t, at({ timeoutMs }).call('look', {}, never), { message });
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
  await says(() => undefined, /^No response within 1 s$/, 1000);
  answering = ({ id }, response) =>
    json(response, { id, result: { ...INITIALIZED, protocolVersion: '1999-01-01' } });
  await rejectsExactly(t, at().list(never), { message: /another version/ });
});

t.test('a redirect to a private address is refused, and takes no secret with it', async (t) => {
  answering = (_, response) =>
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
  answering = () => undefined;
  const leaving = new AbortController();
  const listed = at().list(leaving.signal);
  while (asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  leaving.abort(new Error('gone'));
  await rejectsExactly(t, listed, { message: 'gone' });
});
