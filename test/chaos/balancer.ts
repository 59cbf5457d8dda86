/**
 * A load balancer like those of operators: it checks whether nodes are ready, gives each connection to the next ready one, tries
 * another only if no connection could be made, and answers 502 if a node dies before it has answered.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

const LOOK_MS = 300;
const LOOK_TIMEOUT_MS = 1000;
const ANSWER_MS = 10_000;

export interface Balancer {
  readonly base: string;
  isReady(port: number): boolean;
  stop(): void;
}

const refuse = (response: ServerResponse, status: number): void => {
  if (response.headersSent) response.destroy();
  else response.writeHead(status, { 'retry-after': '1' }).end('{}');
};

const headOf = ({ method, url, rawHeaders }: IncomingMessage): string => {
  const lines = rawHeaders.flatMap((name, at) => (at % 2 ? [] : [`${name}: ${rawHeaders[at + 1]}`]));
  return [`${method} ${url} HTTP/1.1`, ...lines, '', ''].join('\r\n');
};

/** Copies bytes both ways until either side ends. */
function join(one: Socket, other: Socket): void {
  one.pipe(other).pipe(one);
  one.on('error', () => undefined).on('close', () => other.destroy());
  other.on('error', () => undefined).on('close', () => one.destroy());
}

/** `path`: the readiness check of a node. */
export async function startBalancer(ports: readonly number[], path = '/health'): Promise<Balancer> {
  const ready = new Set<number>();
  let turn = 0;
  const look = async (port: number): Promise<void> => {
    const signal = AbortSignal.timeout(LOOK_TIMEOUT_MS);
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { signal }).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer?.status === 200) ready.add(port);
    else ready.delete(port);
  };
  const looking = setInterval(() => ports.forEach((port) => void look(port)), LOOK_MS);
  /** The ready nodes, round robin. */
  const candidates = (): number[] => {
    const all = ports.filter((port) => ready.has(port));
    turn += 1;
    return all.map((_, index) => all[(turn + index) % all.length] ?? 0);
  };

  async function forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const send = ([port, ...others]: readonly number[]): void => {
      if (port === undefined) return refuse(response, 503);
      const { method, url, headers } = incoming;
      const options = {
        host: '127.0.0.1',
        port,
        method,
        path: url,
        headers,
        timeout: ANSWER_MS,
        agent: false,
      };
      const outgoing = request(options, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.on('error', () => response.destroy()).pipe(response);
      });
      outgoing.on('timeout', () => outgoing.destroy());
      outgoing.on('error', ({ code }: NodeJS.ErrnoException) =>
        code === 'ECONNREFUSED' ? send(others) : refuse(response, 502),
      );
      outgoing.end(Buffer.concat(parts));
    };
    send(candidates());
  }

  const server = createServer((incoming, response) => {
    forward(incoming, response).catch(() => refuse(response, 502));
  });
  server.on('upgrade', (incoming: IncomingMessage, client: Socket) => {
    client.on('error', () => undefined);
    const refuseUpgrade = (status: number) => client.end(`HTTP/1.1 ${status} -\r\ncontent-length: 0\r\n\r\n`);
    const send = ([port, ...others]: readonly number[]): void => {
      if (port === undefined) return void refuseUpgrade(503);
      const upstream = connect(port, '127.0.0.1');
      const late = setTimeout(() => upstream.destroy(), ANSWER_MS);
      /** Only before the first byte: after it the balancer cannot answer in the node's place. */
      const failed = ({ code }: NodeJS.ErrnoException = new Error('closed')): void => {
        settled();
        if (code === 'ECONNREFUSED') send(others);
        else refuseUpgrade(502);
      };
      const closed = (): void => failed();
      const settled = (): void => {
        clearTimeout(late);
        upstream.off('error', failed).off('close', closed);
        upstream.on('error', () => undefined);
      };
      upstream.once('error', failed).once('close', closed);
      upstream.once('connect', () => upstream.write(headOf(incoming)));
      upstream.once('data', (first: Buffer) => {
        settled();
        client.write(first);
        join(client, upstream);
      });
    };
    send(candidates());
  });
  // Otherwise a client may send on an idle connection that is just being closed.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isReady: (port) => ready.has(port),
    stop() {
      clearInterval(looking);
      server.closeAllConnections();
      server.close();
    },
  };
}
