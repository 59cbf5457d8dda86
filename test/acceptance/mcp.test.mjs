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
async function serve(t, transportFor) {
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
  return createMcp(outbound)({ url: `http://127.0.0.1:${port}/mcp`, headers: [], timeoutMs: 20_000 });
}

async function holds(t, client) {
  const tools = await client.list(signal);
  t.match(tools, [
    { name: 'weather', description: 'Tells the weather', parameters: { required: ['city'] } },
    { name: 'broken' },
  ]);
  const calls = [client.call('weather', { city: 'Kyōto' }, signal), client.call('broken', {}, signal)];
  const [told, failed] = await Promise.all(calls);
  t.same(told, { ok: true, text: 'It is sunny in Kyōto.' });
  t.match(failed, { ok: false, text: /out of order/ });
  t.match(await client.call('weather', {}, signal).catch(({ message }) => ({ ok: false, text: message })), {
    ok: false,
    text: /city/,
  });
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
