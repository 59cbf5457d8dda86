/**
 * The streams of MCP servers (gateway/outbound/mcp.ts), against a hostile double: answers on them, changes of tools that they tell, and
 * how one that breaks off is resumed.
 */
import { LIMITS } from '../../../../contracts/limits.js';
import { rejectsExactly } from '../../../fixtures/exactly.js';
import {
  type Answering,
  type Asked,
  begins,
  changing,
  json,
  mcpServer,
  streamed,
  tool,
} from '../../../fixtures/outbound/mcp-server.js';
import t from '../../../fixtures/tap.js';
import { until } from '../../../fixtures/until.js';

const server = await mcpServer(t);
const { asked, at } = server;
const never = new AbortController().signal;
const CHANGED = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };

t.test('a stream of events is read up to the answer, past notifications and requests', async (t) => {
  server.answering = begins((message, response) => {
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

t.test(
  'changes of the tools are told, also after the stream ended, and until the client closes',
  async (t) => {
    const from: unknown[] = [];
    server.answering = changing(
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
    await until('they are told twice', () => changed >= 2);
    client.close();
    t.strictSame(from.slice(0, 2), [undefined, 'e1']);
    await until('it has taken its leave', () => asked.some(({ method }) => method === 'DELETE'));
  },
);

t.test('a server that tells no changes, or has no stream, is not asked again', async (t) => {
  const listed: Answering = (message, response) => json(response, { id: message.id, result: { tools: [] } });
  server.answering = begins(listed);
  await at({ changed: () => undefined }).list(never);
  t.notOk(asked.some(({ method }) => method === 'GET'));
  server.answering = changing((_, response) => response.writeHead(405).end(), listed);
  const client = at({ changed: () => undefined });
  await client.list(never);
  await until('a stream is asked for', () => asked.some(({ method }) => method === 'GET'));
  t.equal(asked.filter(({ method }) => method === 'GET').length, 1);
  client.close();
});

t.test('a stream that breaks off before its answer is resumed behind its last event', async (t) => {
  const resumed: unknown[] = [];
  let call: Asked | undefined;
  server.answering = (message, response) => {
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
  server.answering = begins((_, response) => void streamed(response).end('data: {}\n\n'));
  await rejectsExactly(t, at().call('look', {}, never), {
    message: 'The server did not answer with JSON-RPC',
  });
  server.answering = (message, response) => {
    if (message.method === 'GET') streamed(response).end('retry: 100\nid: x\ndata: {}\n\n');
    else begins((_, each) => void streamed(each).end('retry: 100\nid: x\ndata: {}\n\n'))(message, response);
  };
  await rejectsExactly(t, at().call('look', {}, never), {
    message: 'The server did not answer with JSON-RPC',
  });
  t.equal(asked.filter(({ method }) => method === 'GET').length, LIMITS.mcp.resumes);
});

t.test('a stream whose answer never comes is one that did not come in time', async (t) => {
  server.answering = (message, response) => {
    if (message.method === 'GET') streamed(response);
    else
      begins((_, each) => void streamed(each).write('retry: 10\nid: x\ndata: {}\n\n', () => each.destroy()))(
        message,
        response,
      );
  };
  // Long enough for a handshake of a machine with much to do.
  await rejectsExactly(t, at({ timeoutMs: 3000 }).call('look', {}, never), {
    message: 'The server broke its answer off',
    isLate: true,
  });
});
