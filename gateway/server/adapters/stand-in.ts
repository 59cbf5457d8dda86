/**
 * A response that is corked in place of one that becomes a WebSocket. When a response's own cork ends, uWebSockets.js up to 20.56 reads
 * the state of the response once more, although it became a socket within the cork. The state is then in memory that the socket gave
 * back: whatever was put there since may read as "close", and the socket is closed as soon as it is open (mended by its author in
 * µWebSockets 20.79, https://github.com/uNetworking/uWebSockets/pull/1929). Outside of any cork the binding complains on standard error
 * each time. While another response is corked it does neither. So the process asks itself once, over the loopback interface, and
 * never answers.
 */
import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { HttpResponse, us_listen_socket } from 'uWebSockets.js';
import type { UwsModule } from './uws-module.js';

const HOST = '127.0.0.1';

export class StandInServer {
  #response: HttpResponse | undefined;
  #client: Socket | undefined;
  #arrived: () => void = () => undefined;

  /** Where the process cannot reach itself there is none: tasks run all the same, and the binding complains. */
  static async open(uws: UwsModule): Promise<StandInServer> {
    const standIn = new StandInServer();
    // Nobody else knows the path.
    const path = `/${randomUUID()}`;
    const app = uws.App().get(path, (response) => standIn.#keep(response));
    let listening: us_listen_socket | false = false;
    app.listen(HOST, 0, (socket) => void (listening = socket));
    if (listening === false) return standIn;
    await standIn.#ask(uws.us_socket_local_port(listening), path);
    uws.us_listen_socket_close(listening);
    return standIn;
  }

  /** Runs the task while this response is corked; within a cork, in that one. */
  cork(task: () => void): void {
    if (this.#response) this.#response.cork(task);
    else task();
  }

  end(): void {
    this.#client?.destroy();
  }

  /** Resolves once the request has arrived, or cannot. */
  #ask(port: number, path: string): Promise<void> {
    return new Promise((resolve) => {
      this.#arrived = resolve;
      this.#client = connect(port, HOST);
      this.#client.on('error', () => undefined).on('close', resolve);
      this.#client.write(`GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
    });
  }

  #keep(response: HttpResponse): void {
    response.onAborted(() => (this.#response = undefined));
    this.#response = response;
    this.#arrived();
  }
}
