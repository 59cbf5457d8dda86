/**
 * The least that a server can do to answer a request: it reads the body to its end, and answers bytes that it has, in
 * one write. `bare-http.js FILE TYPE [PIECE [PORT]]` prints its port, and what it is made of. With PIECE it is what one would
 * write by hand, a handler of node:http that streams pieces of so many bytes.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadUws, type Uws } from './binding.js';

const [, , file = '', type = 'application/octet-stream', pieceText = '', portText = ''] = process.argv;
const body = readFileSync(file);
const piece = Number(pieceText);
const wanted = Number(portText);

function serveUws(uws: Uws): void {
  uws
    .App()
    .any('/*', (response) => {
      response.onAborted(() => {});
      response.onData((_chunk, isLast) => {
        if (!isLast) return;
        response.cork(() => {
          response.writeHeader('content-type', type);
          response.end(body);
        });
      });
    })
    .listen('127.0.0.1', wanted, (socket) => {
      if (socket === false) process.exit(1);
      console.log(`${uws.us_socket_local_port(socket)} uWebSockets.js`);
    });
}

function serveNode(): void {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', type);
      if (piece > 0)
        for (let at = 0; at < body.length; at += piece) response.write(body.subarray(at, at + piece));
      response.end(piece > 0 ? undefined : body);
    });
  });
  server.listen(wanted, '127.0.0.1', () =>
    console.log(`${(server.address() as AddressInfo).port} node:http`),
  );
}

const uws = piece > 0 ? undefined : await loadUws();
if (uws) serveUws(uws);
else serveNode();
