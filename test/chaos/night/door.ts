/**
 * The way from the gateway to one service that it asks: it can be shut, held or refused without the service's doing. A
 * relay for HTTP in front of a double; what it forwards is streamed.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

/** `away`: nobody listens; `silent`: connections are taken, and nothing is answered; a number: this status for everything. */
export type DoorState = 'open' | 'away' | 'silent' | number;

const REFUSAL = JSON.stringify({ error: { message: 'no', type: 'error' } });

export class Door {
  #state: DoorState = 'open';
  /** Requests so far. */
  asked = 0;
  readonly #waiting = new Set<ServerResponse>();
  readonly #server = createServer((incoming, response) => this.#take(incoming, response));
  #port = 0;

  /** `target`: scheme, host and port of the service. */
  private constructor(private readonly target: URL) {
    // A client must not find that a connection that it kept is shut just now.
    this.#server.keepAliveTimeout = 0;
  }

  /** The same URL as that of the service, by way of the door. */
  static async before(t: Pick<Test, 'teardown'>, service: string): Promise<{ door: Door; url: string }> {
    const url = new URL(service);
    const door = new Door(new URL(url.origin));
    await door.#listen();
    t.teardown(() => door.#shut());
    url.host = `127.0.0.1:${door.#port}`;
    return { door, url: url.href.replace(/\/$/, '') };
  }

  async #listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async #shut(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async set(state: DoorState): Promise<void> {
    this.#state = state;
    for (const response of this.#waiting) response.destroy();
    if (state === 'away') await this.#shut();
    else if (!this.#server.listening) await this.#listen();
  }

  #take(incoming: IncomingMessage, response: ServerResponse): void {
    this.asked += 1;
    this.#waiting.add(response);
    response.on('close', () => this.#waiting.delete(response)).on('error', () => undefined);
    if (this.#state === 'open') return this.#forward(incoming, response);
    incoming.resume();
    if (typeof this.#state === 'number')
      response.writeHead(this.#state, { 'content-type': 'application/json' }).end(REFUSAL);
  }

  #forward(incoming: IncomingMessage, response: ServerResponse): void {
    const { method, url, headers } = incoming;
    const { hostname, port } = this.target;
    const outgoing = request({ hostname, port, method, path: url, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('error', () => response.destroy()).pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.on('error', () => outgoing.destroy()).pipe(outgoing);
  }
}
