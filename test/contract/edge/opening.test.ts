/**
 * WebSockets whose handshake waits for something, on uWebSockets.js: whatever the process does with its memory while a socket opens,
 * the socket stays open, and the binding has nothing to say on standard error (gateway/server/adapters/stand-in.ts).
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { BUILT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';
import { WebSocket } from 'ws';
import { stacks } from '../../fixtures/edge/edge.js';

const SERVER = fileURLToPath(new URL('test/fixtures/edge/opening-server.js', BUILT));
const SOCKETS = 60;

/** What the socket got: its first frame, or the code of its close. */
function fateOf(port: number): Promise<string> {
  return new Promise((resolve) => {
    const client = new WebSocket(`ws://127.0.0.1:${port}/waits`);
    client.on('error', () => undefined);
    client.on('message', (data: Buffer) => resolve(data.toString()));
    client.on('close', (code) => resolve(String(code)));
  });
}

const skip = stacks(t.comment).includes('uws') ? false : 'no binding loads here';

t.test(
  'a socket that opens late stays open, whatever memory is written to meanwhile',
  { skip },
  async (t) => {
    const server = fork(SERVER, { stdio: ['ignore', 'inherit', 'pipe', 'ipc'] });
    t.teardown(() => server.disconnect());
    let said = '';
    server.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
    const [port] = (await once(server, 'message')) as [number];
    const fates: string[] = [];
    for (let socket = 0; socket < SOCKETS; socket++) fates.push(await fateOf(port));
    t.same(new Set(fates), new Set(['open']));
    t.equal(said, '', 'no complaint of the binding');
  },
);
