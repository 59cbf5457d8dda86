/**
 * Serves a page that talks to an agent. The API key stays on this server: the page requests a session from it, and gets a
 * token for one call.
 */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';

const { GATEWAY = 'http://localhost:8080', KEY, AGENT, PORT = '3000' } = process.env;
if (!KEY) throw new Error('Set KEY to an API key, for example KEY=$(cat ../../data/api-key)');
if (!AGENT) throw new Error('Set AGENT to the id of a published agent');

const file = (path) => new URL(path, import.meta.url);
const FILES = {
  '/': { type: 'text/html; charset=utf-8', at: file('./index.html') },
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

async function makeSession() {
  const response = await fetch(`${GATEWAY}/v1/agent/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ agent_id: AGENT }),
  });
  return { status: response.status, body: await response.text() };
}

async function answer(request, response) {
  if (request.method === 'POST' && request.url === '/session') {
    const { status, body } = await makeSession();
    return response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  }
  const found = FILES[request.url] ?? sdkFile(request.url);
  if (!found) return response.writeHead(404).end();
  return response.writeHead(200, { 'content-type': found.type }).end(await readFile(found.at));
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => response.writeHead(500).end(String(error)));
});
server.listen(Number(PORT), () => console.log(`http://localhost:${server.address().port}`));
