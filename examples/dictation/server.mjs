/**
 * Serves a page that writes down what you say. The API key stays on this server: the page gets a key from it that is good for
 * ten minutes and one socket, and talks to the gateway itself.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { api, GATEWAY } from '../gateway.mjs';

const { PORT = '3000', LANGUAGE } = process.env;

const FILES = {
  '/': { type: 'text/html; charset=utf-8', name: 'index.html' },
  '/dictation.js': { type: 'text/javascript', name: 'dictation.js' },
  '/microphone.js': { type: 'text/javascript', name: 'microphone.js' },
};

/** Samples a second of what the page sends. */
const RATE = 24_000;

/** A key for one page, with the session that it opens. */
async function makeSecret() {
  const transcription = LANGUAGE && { transcription: { model: 'whisper-1', language: LANGUAGE } };
  const { value } = await api('POST', '/v1/realtime/client_secrets', {
    session: {
      type: 'transcription',
      audio: { input: { format: { type: 'audio/pcm', rate: RATE }, ...transcription } },
    },
  });
  const address = `${GATEWAY.replace(/^http/, 'ws')}/v1/realtime?intent=transcription`;
  return { address, secret: value, rate: RATE };
}

async function answer(request, response) {
  if (request.method === 'POST' && request.url === '/secret') {
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify(await makeSecret()));
  }
  const found = FILES[request.url];
  if (!found) return response.writeHead(404).end();
  const body = await readFile(new URL(found.name, import.meta.url));
  return response.writeHead(200, { 'content-type': found.type }).end(body);
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => response.writeHead(500).end(String(error)));
});
server.listen(Number(PORT), '127.0.0.1');
await once(server, 'listening');
console.log(`http://localhost:${server.address().port}`);
