/**
 * The least that a server can do with what sockets send: `sink` reads messages and forgets them, `decode` parses them as
 * JSON and decodes the base64 of their `audio`. `web-socket.js MODE` prints its port, and what it is made of.
 */
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { loadUws, type Uws } from './binding.js';

let decoded = 0;

function decode(message: ArrayBuffer | Buffer): void {
  const text = Buffer.from(message as ArrayBuffer).toString();
  const { audio } = JSON.parse(text) as { audio?: string };
  if (audio !== undefined) decoded += Buffer.from(audio, 'base64').length;
}

const MODES: Readonly<Record<string, (message: ArrayBuffer | Buffer) => void>> = { sink: () => {}, decode };

const take = MODES[process.argv[2] ?? ''];
if (take === undefined) throw new Error(`the mode is one of ${Object.keys(MODES).join(', ')}`);
// Uses the result, so that the compiler cannot leave the work out.
process.on('exit', () => process.stderr.write(decoded < 0 ? '' : ' '));

const MOST_BYTES = 40 * 1024 * 1024;

function serveUws(uws: Uws, handle: (message: ArrayBuffer) => void): void {
  uws
    .App()
    .ws('/*', {
      maxPayloadLength: MOST_BYTES,
      idleTimeout: 0,
      message: (_socket: object, message: ArrayBuffer) => handle(message),
    })
    .listen('127.0.0.1', 0, (socket) => {
      if (socket === false) process.exit(1);
      console.log(`${uws.us_socket_local_port(socket)} uWebSockets.js`);
    });
}

function serveNode(handle: (message: Buffer) => void): void {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, maxPayload: MOST_BYTES });
  server.on('listening', () => console.log(`${(server.address() as AddressInfo).port} ws`));
  server.on('connection', (socket) => socket.on('message', (message: Buffer) => handle(message)));
}

const uws = await loadUws();
if (uws) serveUws(uws, take);
else serveNode(take);
