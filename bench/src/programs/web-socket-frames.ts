/** WebSockets as bare connections: frames are made once, under a mask of zeros, and what comes back is not parsed. */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

export interface SocketAddress {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A client's text frame of less than 64 KiB. */
export function textFrame(event: object): Buffer {
  const payload = Buffer.from(JSON.stringify(event));
  const length =
    payload.length < 126 ? [0x80 | payload.length] : [0xfe, payload.length >> 8, payload.length & 0xff];
  return Buffer.concat([Buffer.from([0x81, ...length, 0, 0, 0, 0]), payload]);
}

/** Rejects where the upgrade is refused, with the answer's first line. */
export function openSocket({ host, port, path, headers }: SocketAddress): Promise<Socket> {
  const socket = connect({ port, host, noDelay: true });
  const lines = Object.entries({
    Host: `${host}:${port}`,
    Upgrade: 'websocket',
    Connection: 'Upgrade',
    'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
    'Sec-WebSocket-Version': '13',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed')));
    socket.once('data', (head: Buffer) => {
      const [first = ''] = head.toString('latin1').split('\r\n');
      if (first.startsWith('HTTP/1.1 101')) resolve(socket);
      else reject(new Error(first));
    });
  });
}
