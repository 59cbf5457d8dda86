/**
 * The official MCP server on the other side of our client (gateway/outbound/mcp.ts): with and without sessions, in streams of
 * events and in JSON. It runs through the outbound guard, as calls do.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import {
  fromJsonSchema,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { exactly } from '../../dist/test/fixtures/exactly.js';
import t from '../../dist/test/fixtures/tap.js';
import { systemClock } from '../../dist/contracts/clock.js';
import { createOutbound } from '../../dist/gateway/outbound/fetch.js';
import { createMcp } from '../../dist/gateway/outbound/mcp.js';
import { until } from '../../dist/test/fixtures/until.js';

const CITY = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const signal = new AbortController().signal;

function weatherServer() {
  const server = new McpServer({ name: 'weather', version: '1.0.0' });
  server.registerTool(
    'weather',
    { description: 'Tells the weather', inputSchema: fromJsonSchema(CITY) },
    ({ city }) => ({ content: [{ type: 'text', text: `It is sunny in ${city}.` }] }),
  );
  server.registerTool('broken', { description: 'Fails' }, () => {
    throw new Error('out of order');
  });
  return server;
}

const requestOf = ({ url, method, headers }, body) =>
  new Request(new URL(url, 'http://server'), { method, headers, ...(body.length > 0 && { body }) });

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Starts a server; `transportFor` gives the transport of a request. */
async function serve(t, transportFor, changed) {
  const server = createServer((request, response) => {
    void (async () => {
      const transport = await transportFor(request.headers['mcp-session-id']);
      const answer = await transport.handleRequest(requestOf(request, await bodyOf(request)));
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      if (answer.body) Readable.fromWeb(answer.body).pipe(response);
      else response.end();
    })();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address();
  const outbound = createOutbound({ allow: [`127.0.0.1:${port}`], clock: systemClock });
  return createMcp(outbound)({
    url: `http://127.0.0.1:${port}/mcp`,
    headers: [],
    timeoutMs: 20_000,
    changed,
  });
}

async function holds(t, client) {
  const tools = await client.list(signal);
  exactly(t, tools, [
    { name: 'weather', description: 'Tells the weather', parameters: { required: ['city'] } },
    { name: 'broken' },
  ]);
  const calls = [client.call('weather', { city: 'Kyōto' }, signal), client.call('broken', {}, signal)];
  const [told, failed] = await Promise.all(calls);
  t.same(told, { ok: true, text: 'It is sunny in Kyōto.' });
  exactly(t, failed, { ok: false, text: /out of order/ });
  exactly(
    t,
    await client.call('weather', {}, signal).catch(({ message }) => ({ ok: false, text: message })),
    {
      ok: false,
      text: /city/,
    },
  );
}

for (const enableJsonResponse of [false, true])
  t.test(`the official server with sessions, in ${enableJsonResponse ? 'JSON' : 'events'}`, async (t) => {
    const sessions = new Map();
    const closed = [];
    const client = await serve(t, async (id) => {
      if (sessions.has(id)) return sessions.get(id);
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        enableJsonResponse,
        onsessioninitialized: (named) => void sessions.set(named, transport),
        onsessionclosed: (named) => void closed.push(named),
      });
      await weatherServer().connect(transport);
      return transport;
    });
    await holds(t, client);
    t.equal(sessions.size, 1);
    client.close();
    await until('the session is given back', () => closed.length > 0);
    t.same(closed, [...sessions.keys()]);
  });

t.test('the official server without sessions', async (t) => {
  const client = await serve(t, async () => {
    const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await weatherServer().connect(transport);
    return transport;
  });
  await holds(t, client);
});

/** Transports by session; `restart` forgets all of them, as a deployment does. */
function deployed(serverOf) {
  const sessions = new Map();
  return {
    restart: () => sessions.clear(),
    async transportFor(id) {
      if (sessions.has(id)) return sessions.get(id);
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (named) => void sessions.set(named, transport),
      });
      await serverOf().connect(transport);
      return transport;
    },
  };
}

t.test('the official server that is deployed in mid-call is asked again in a new session', async (t) => {
  const { restart, transportFor } = deployed(weatherServer);
  const client = await serve(t, transportFor);
  t.equal((await client.list(signal)).length, 2);
  restart();
  t.same(await client.call('weather', { city: 'Bonn' }, signal), { ok: true, text: 'It is sunny in Bonn.' });
  client.close();
});

t.test('the official server tells that its tools have changed', async (t) => {
  let server;
  const { transportFor } = deployed(() => (server = weatherServer()));
  let changed = 0;
  const client = await serve(t, transportFor, () => (changed += 1));
  await client.list(signal);
  const adds = setInterval(() => {
    if (changed === 0)
      server.registerTool(`tool_${Date.now()}`, { description: 'New' }, () => ({ content: [] }));
  }, 50);
  await until('the change is told', () => changed > 0).finally(() => clearInterval(adds));
  t.ok((await client.list(signal)).length > 2);
  client.close();
});
