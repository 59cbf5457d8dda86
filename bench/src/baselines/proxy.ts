/**
 * The least that a proxy for Node can do: `node` pipes both ways with node:http, `uws` is uWebSockets.js in front of undici's pool,
 * where that loads. `proxy.js KIND ORIGIN` prints its port, and what it is made of.
 */
import { Agent, createServer, request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { loadUws, type Uws, type UwsRequest, type UwsResponse } from './binding.js';

const [, , kind = '', origin = ''] = process.argv;

function serveNode(): void {
  const { hostname, port } = new URL(origin);
  const agent = new Agent({ keepAlive: true });
  const server = createServer((request, response) => {
    const { method, url, headers } = request;
    const onward = ask({ hostname, port, method, path: url, headers, agent }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  server.listen(0, '127.0.0.1', () => console.log(`${(server.address() as AddressInfo).port} node:http`));
}

async function passOn(
  pool: Pool,
  path: string,
  type: string,
  body: Buffer,
  response: UwsResponse,
): Promise<void> {
  const answer = await pool.request({ path, method: 'POST', headers: { 'content-type': type }, body });
  const bytes = Buffer.from(await answer.body.arrayBuffer());
  response.cork(() => {
    response.writeHeader('content-type', String(answer.headers['content-type']));
    response.end(bytes);
  });
}

function serveUws(uws: Uws): void {
  const pool = new Pool(origin);
  uws
    .App()
    .any('/*', (response: UwsResponse, request: UwsRequest) => {
      const [path, type] = [request.getUrl(), request.getHeader('content-type')];
      const pieces: Buffer[] = [];
      let isGone = false;
      response.onAborted(() => (isGone = true));
      response.onData((chunk, isLast) => {
        // The memory of the chunk is the binding's, and is used again.
        pieces.push(Buffer.from(Buffer.from(chunk)));
        if (isLast && !isGone) void passOn(pool, path, type, Buffer.concat(pieces), response);
      });
    })
    .listen('127.0.0.1', 0, (socket) => {
      if (socket === false) process.exit(1);
      console.log(`${uws.us_socket_local_port(socket)} uWebSockets.js and undici`);
    });
}

const uws = kind === 'uws' ? await loadUws() : undefined;
if (uws) serveUws(uws);
else serveNode();
