/**
 * Serves a page that talks to an agent. The API key stays on this server: the page requests a session from it, and gets a
 * token for one call.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { GATEWAY, KEY } from '../gateway.mjs';

const file = (path) => new URL(path, import.meta.url);
/** A page has a file or a text, and more headers if need be. */
const PAGE = { type: 'text/html; charset=utf-8', at: file('./index.html') };
const FILES = {
  '/livekit-client.js': {
    type: 'text/javascript',
    at: file('../../node_modules/livekit-client/dist/livekit-client.esm.mjs'),
  },
};

/** A file of the session SDK, which `npm start` builds. */
function sdkFile(path) {
  const [, name] = /^\/sdk\/([\w-]+\.js)$/.exec(path) ?? [];
  return name && { type: 'text/javascript', at: file(`../../client/dist/${name}`) };
}

/** The gateway's answer is passed on as it is, refusals too. */
async function makeSession(agentId) {
  const response = await fetch(`${GATEWAY}/v1/agent/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ agent_id: agentId }),
  });
  const retry = response.headers.get('retry-after');
  const headers = { 'content-type': 'application/json', ...(retry && { 'retry-after': retry }) };
  return { status: response.status, headers, body: await response.text() };
}

async function answer(request, response, agentId, page) {
  if (request.method === 'POST' && request.url === '/session') {
    const { status, headers, body } = await makeSession(agentId);
    return response.writeHead(status, headers).end(body);
  }
  const found = request.url === '/' ? page : (FILES[request.url] ?? sdkFile(request.url));
  if (!found) return response.writeHead(404).end();
  const { type, headers, text, at } = found;
  return response.writeHead(200, { 'content-type': type, ...headers }).end(text ?? (await readFile(at)));
}

/** Resolves with the page's address. Port 0: any that is free. */
export async function serveCallPage(agentId, port, page = PAGE) {
  const server = createServer((request, response) => {
    answer(request, response, agentId, page).catch((error) => response.writeHead(500).end(String(error)));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return `http://localhost:${server.address().port}`;
}
