/** The baseline of realtime.bench: a bare uWebSockets.js server that sends back what it is sent. */
import { loadBinding } from '../gateway/server/bindings.js';

const { module: uws } = loadBinding();

uws
  .App()
  .ws('/*', {
    maxPayloadLength: 40 * 1024 * 1024,
    idleTimeout: 120,
    sendPingsAutomatically: true,
    message(socket, message, isBinary) {
      socket.send(message, isBinary);
    },
  })
  .listen('127.0.0.1', 0, (socket) => console.log(socket ? uws.us_socket_local_port(socket) : 'failed'));
