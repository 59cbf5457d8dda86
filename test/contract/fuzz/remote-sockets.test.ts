/**
 * Seeded fuzz of our engines on sockets of services: whatever frames come, of wrong types, damaged, too few, or cut off, they are either read
 * as what they say or a failure of the service. `end`: the code with which it closes; 0: it breaks off, -1: it says nothing more.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import t from '../../fixtures/tap.js';
import type { Draws } from '../../fixtures/fuzz/draws.js';
import { SOCKETS, type SocketTarget } from '../../fixtures/fuzz/remote-sockets.js';
import { fuzz, roundsOf } from '../../fixtures/fuzz/rounds.js';

/** What each socket sends, by the first part of its path. */
const served = new Map<string, (socket: WebSocket) => void>();
const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
await once(server, 'listening');
server.on('connection', (socket, request) => {
  const [, round = ''] = (request.url ?? '').split('/');
  served.get(round)?.(socket);
});
t.teardown(() => {
  for (const client of server.clients) client.terminate();
  server.close();
});
const { port } = server.address() as AddressInfo;

function drawn(draws: Draws, { frame, last }: SocketTarget) {
  const frames = draws.list(6, () => Buffer.from(JSON.stringify(frame(draws)) ?? ''));
  const sent = [...frames, ...(draws.chance(0.7) ? [Buffer.from(JSON.stringify(last))] : [])].map((each) => ({
    data: draws.perhapsDamaged(each, 0.1),
    binary: draws.chance(0.05),
  }));
  // A service may take minutes for its first frame.
  const end = draws.pick([1000, 1000, 1008, 1011, 0, sent.length > 0 ? -1 : 1000]);
  const serve = (socket: WebSocket): void => {
    socket.on('error', () => undefined);
    for (const { data, binary } of sent) socket.send(binary ? data : data.toString());
    if (end > 0) socket.close(end);
    else if (end === 0) socket.terminate();
  };
  return { serve, shown: `${sent.map(({ data }) => data.toString().slice(0, 200)).join(', ')}, then ${end}` };
}

let round = 0;
async function ask(target: SocketTarget, draws: Draws): Promise<string | undefined> {
  const own = String((round += 1));
  const { serve, shown } = drawn(draws, target);
  served.set(own, serve);
  const problem = await target.ask(`http://127.0.0.1:${port}/${own}`);
  served.delete(own);
  return problem && `${problem}: to ${shown}`;
}

fuzz(t, SOCKETS, { rounds: roundsOf(60, 6000), atOnce: 8, round: ask });
