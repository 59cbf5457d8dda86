/** Kept connections to addresses of account owners: where they go, and that they are used again. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Test } from 'tap';
import t from '../../../fixtures/tap.js';
import { meaningOf } from '../../../../contracts/parts/outcome-of.js';
import { ask } from '../../../../engines/backends/remote/request.js';
import { createOpenaiChat } from '../../../../engines/chat/openai-compatible.js';
import { guardedConnections } from '../../../../gateway/outbound/connections.js';
import type { Lookup } from '../../../../gateway/outbound/lookup.js';
import { delta, sse } from '../../../fixtures/chat/server.js';
import { httpDouble } from '../../../fixtures/http-double.js';

async function serverOf(t: Test) {
  const seen = { requests: 0, connections: 0 };
  const server = httpDouble((_, response) => {
    seen.requests += 1;
    response.end('{}');
  }).listen(0, '127.0.0.1');
  server.on('connection', () => (seen.connections += 1));
  await once(server, 'listening');
  t.teardown(() => void server.closeAllConnections());
  t.teardown(() => void server.close());
  return { seen, port: (server.address() as AddressInfo).port };
}

type Connections = ReturnType<typeof guardedConnections>;

async function asked(url: string, connections: Connections): Promise<string> {
  const { signal } = new AbortController();
  const reply = await ask({ url, connections }, { path: '/chat/completions', body: '{}' }, signal);
  return reply.body.text();
}

const outcomeOf = (url: string, connections: Connections) =>
  asked(url, connections).then(
    () => 'ok',
    (error: unknown) => meaningOf(error).outcome,
  );

t.test('connections serve request after request', async (t) => {
  const { seen, port } = await serverOf(t);
  const connections = guardedConnections({ allow: ['127.0.0.1'] });
  t.teardown(async () => (await connections()).destroy());
  for (let nth = 0; nth < 20; nth += 1)
    t.equal(await asked(`http://127.0.0.1:${port}/v1`, connections), '{}');
  t.equal(seen.requests, 20);
  // The next request may come before the end of the last answer is seen.
  t.ok(seen.connections < 10, `${seen.connections} connections`);
});

t.test('an address that is not allowed is not reached, however its name resolves', async (t) => {
  const { seen, port } = await serverOf(t);
  const looked: string[] = [];
  const lookup: Lookup = (host) => {
    looked.push(host);
    return host === 'gone.example'
      ? Promise.reject(new Error('no such name'))
      : Promise.resolve(['127.0.0.1']);
  };
  const connections = guardedConnections({ allow: [], lookup });
  t.teardown(async () => (await connections()).destroy());
  for (const host of ['127.0.0.1', 'llm.example', 'localhost', '[::ffff:7f00:1]'])
    t.equal(await outcomeOf(`http://${host}:${port}/v1`, connections), 'refused', host);
  t.equal(await outcomeOf('https://gone.example/v1', connections), 'unreachable');
  t.strictSame(looked, ['llm.example', 'gone.example'], 'what is refused as written is not looked up');
  t.equal(seen.connections, 0);
});

t.test('it goes to the address that was judged, whatever the name would say next', async (t) => {
  const { seen, port } = await serverOf(t);
  let lookups = 0;
  const lookup: Lookup = () => Promise.resolve([(lookups += 1) === 1 ? '127.0.0.1' : '127.0.0.2']);
  const connections = guardedConnections({ allow: [`127.0.0.1:${port}`], lookup });
  t.teardown(async () => (await connections()).destroy());
  t.equal(await asked(`http://llm.example:${port}/v1`, connections), '{}');
  t.strictSame([lookups, seen.connections], [1, 1]);
});

t.test(
  'answers of a language model use one connection, though its stream ends after the answer',
  async (t) => {
    let connections = 0;
    const server = httpDouble((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(sse(delta({ content: 'Hi' }), '[DONE]'));
        setTimeout(() => response.end(), 5);
      });
    }).listen(0, '127.0.0.1');
    server.on('connection', () => (connections += 1));
    await once(server, 'listening');
    t.teardown(() => void server.closeAllConnections());
    t.teardown(() => void server.close());
    const kept = guardedConnections({ allow: ['127.0.0.1'] });
    t.teardown(async () => (await kept()).destroy());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const chat = createOpenaiChat({ url, model: 'm', silenceMs: 60_000, connections: kept });
    const request = { messages: [{ role: 'user', content: 'Hi' }], tools: [], passages: [] } as const;
    for (let nth = 0; nth < 10; nth += 1) {
      for await (const _ of chat.chat(request, new AbortController().signal)) continue;
      await pause(50);
    }
    t.ok(connections < 5, `${connections} connections`);
  },
);
