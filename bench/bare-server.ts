/** The baseline of overhead.bench: a bare uWebSockets.js handler that writes a file's bytes in pieces of 100 ms. */
import { readFileSync } from 'node:fs';
import { loadBinding } from '../gateway/server/bindings.js';

const { module: uws } = loadBinding();

const audio = readFileSync(process.argv[2] ?? '');
const PIECE = 3200;

uws
  .App()
  .post('/v1/tts', (response) => {
    response.onAborted(() => {});
    response.onData((_chunk, isLast) => {
      if (!isLast) return;
      response.cork(() => {
        response.writeHeader('content-type', 'audio/pcm');
        for (let at = 0; at < audio.length; at += PIECE) response.write(audio.subarray(at, at + PIECE));
        response.end();
      });
    });
  })
  .listen('127.0.0.1', 0, (socket) => console.log(socket ? uws.us_socket_local_port(socket) : 'failed'));
