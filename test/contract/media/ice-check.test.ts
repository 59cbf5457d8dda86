/** The cheap question to STUN and TURN servers, at a double and at coturn: what is asked, and what becomes known (docs/operating.md). */
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import t from '../../fixtures/tap.js';
import type { Test } from 'tap';
import { LIMITS } from '../../../contracts/limits.js';
import { CHECKOUT } from '../../../contracts/places.js';
import { silentLog } from '../../../contracts/log.js';
import { readConfig } from '../../../gateway/config.js';
import { PartKeeper } from '../../../gateway/server/parts/keeper.js';
import { iceChecks } from '../../../gateway/wiring/ice-check.js';
import { startChecks } from '../../../gateway/wiring/start-checks.js';
import { iceAddress } from '../../../media/ice/ice-url.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { exactly } from '../../fixtures/exactly.js';
import { externalTool, skipReason } from '../../fixtures/external.js';
import { temporaryFolder } from '../../fixtures/folders.js';
import { freePort } from '../../fixtures/free-port.js';
import { TurnDouble } from '../../fixtures/media/turn-double.js';
import { until } from '../../fixtures/until.js';

const { answerMs, againMs } = LIMITS.partCheck;

/** Checks of these servers on a clock that stands still, and the lines about them. */
function checking(t: Test, servers: string, env: Record<string, string> = {}) {
  const checks = iceChecks(readConfig({ ICE_SERVERS: servers, ...env }));
  const clock = new SimulatedClock();
  const lines: string[] = [];
  const note = (_: object, msg: string): void => void lines.push(msg);
  const log = { ...silentLog, error: note, warn: note, info: note };
  const keeper = new PartKeeper({ clock, log });
  t.teardown(startChecks({ checks, keeper, asksAll: true, clock, log }));
  const found = () =>
    keeper.reports().map(({ part: { name }, status, error }) => [name, status, error?.outcome]);
  const becomes = (status: string) =>
    until(`it is ${status}`, () => found().every(([, each]) => each === status));
  return { checks, clock, keeper, lines, found, becomes };
}

const serversOf = (url: string, username: string, credential: string): string =>
  JSON.stringify([{ urls: [url], username, credential }]);

t.test('addresses are read as clients read them', (t) => {
  const of = (url: string) => {
    const { kind, host, port, transport } = iceAddress(url) ?? {};
    return [kind, host, port, transport];
  };
  t.strictSame(of('stun:stun.example.com'), ['stun', 'stun.example.com', 3478, 'udp']);
  t.strictSame(of('turn:10.0.0.1:80?transport=tcp'), ['turn', '10.0.0.1', 80, 'tcp']);
  t.strictSame(of('turns:relay.example.com'), ['turn', 'relay.example.com', 5349, 'tls']);
  t.strictSame(of('turn:[::1]:4000?transport=udp'), ['turn', '::1', 4000, 'udp']);
  t.equal(iceAddress('turn:'), undefined);
  t.end();
});

t.test('a TURN server allocates with its credentials, and has it back', async (t) => {
  const turn = await TurnDouble.start(t);
  const { becomes } = checking(t, turn.servers);
  await becomes('ok');
  await until('it is given back', () => turn.asked.length === 3);
  t.strictSame(turn.asked, [0x0003, 0x0003, 0x0004], 'allocate, allocate with credentials, refresh');
});

t.test('a server that refuses credentials is named with its address and setting', async (t) => {
  const turn = await TurnDouble.start(t);
  const { becomes, lines } = checking(t, serversOf(turn.url, turn.username, 'of-last-year'));
  await becomes('failing');
  const who = `The ICE server (turn) at ${turn.url}`;
  t.strictSame(lines, [`${who} refused its user name and credential (401): check ICE_SERVERS`]);
});

for (const [code, outcome] of [
  [486, 'limited'],
  [508, 'limited'],
  [500, 'failed'],
  [442, 'invalid'],
] as const)
  t.test(`the code ${code} of a TURN server is ${outcome}`, async (t) => {
    const turn = await TurnDouble.start(t);
    await turn.set(code);
    const { becomes, found } = checking(t, turn.servers);
    await becomes('failing');
    t.strictSame(found(), [['turn', 'failing', outcome]]);
  });

t.test('it is asked while it works too, as nobody else asks it', async (t) => {
  const turn = await TurnDouble.start(t);
  const { clock, becomes, found, lines } = checking(t, turn.servers);
  await becomes('ok');
  await turn.set('away');
  await new Promise(setImmediate);
  clock.advance(againMs);
  await becomes('failing');
  t.strictSame(found(), [['turn', 'failing', 'unreachable']]);
  await turn.set('open');
  await until('it is back', async () => {
    await new Promise(setImmediate);
    clock.advance(againMs);
    return found()[0]?.[1] === 'ok';
  });
  t.match(lines.at(-1), /^The ICE server \(turn\) at turn:\S+ is back after \d+ s$/);
});

t.test('a server that says nothing is given up after five seconds', async (t) => {
  const turn = await TurnDouble.start(t);
  await turn.set('silent');
  const { clock, becomes, found } = checking(t, turn.servers);
  await until('it is asked', () => turn.asked.length === 1);
  clock.advance(answerMs);
  await becomes('failing');
  t.strictSame(found(), [['turn', 'failing', 'timeout']]);
});

t.test('a STUN server is asked for a binding, once more if a datagram is lost', async (t) => {
  const server = createSocket('udp4').bind(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  let asked = 0;
  server.on('message', (message, { port, address }) => {
    asked += 1;
    if (asked === 1) return;
    const answer = Buffer.from(message.subarray(0, 20));
    answer.writeUInt16BE(0x0101, 0);
    server.send(answer, port, address);
  });
  const { becomes } = checking(t, JSON.stringify([{ urls: [`stun:127.0.0.1:${server.address().port}`] }]));
  await becomes('ok');
  t.equal(asked, 2);
});

t.test('a port for datagrams at which nobody listens cannot be reached', async (t) => {
  const { becomes, found } = checking(t, JSON.stringify([{ urls: ['stun:127.0.0.1:9'] }]));
  await becomes('failing');
  t.strictSame(found(), [['stun', 'failing', 'unreachable']]);
});

t.test('over TLS a certificate that clients would refuse is said', async (t) => {
  const file = (name: string) => readFileSync(new URL(`test/fixtures/${name}`, CHECKOUT));
  const server = createTlsServer({ cert: file('edge-cert.pem'), key: file('edge-key.pem') });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  server.on('tlsClientError', () => undefined);
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { becomes, keeper } = checking(t, serversOf(`turns:127.0.0.1:${port}`, 'gateway', 'secret'));
  await becomes('failing');
  exactly(t, keeper.reports()[0]?.error, { outcome: 'unreachable', code: /CERT/ });
});

t.test('a LiveKit server has servers of its own', async (t) => {
  const livekit = { LIVEKIT_URL: 'ws://127.0.0.1:7880', LIVEKIT_API_KEY: 'k', LIVEKIT_API_SECRET: 's' };
  t.strictSame(iceChecks(readConfig({ ICE_SERVERS: '[{"urls":["stun:a"]}]', ...livekit })), []);
});

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

t.test('coturn takes the same credentials, by UDP and TCP', { skip: skipReason('turnserver') }, async (t) => {
  const port = await freePort();
  const folder = temporaryFolder();
  const flags = [
    ...['-n', '--no-cli', '--no-tls', '--no-dtls', '--lt-cred-mech', '--no-stdout-log'],
    ...['-L', '127.0.0.1', '-E', '127.0.0.1', '-p', String(port), '-r', 'local', '-u', 'gateway:secret'],
    ...['--pidfile', join(folder, 'pid'), '--userdb', join(folder, 'users'), '-l', join(folder, 'log')],
  ];
  const server = spawn(externalTool('turnserver')!, flags, { stdio: 'ignore' });
  t.teardown(() => {
    server.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  await until('it listens', () => listens(port));
  for (const transport of ['udp', 'tcp']) {
    const url = `turn:127.0.0.1:${port}?transport=${transport}`;
    const right = checking(t, serversOf(url, 'gateway', 'secret'));
    // It listens for TCP before it does for datagrams.
    await until('it answers', async () => {
      const isOk = await until('it is ok', () => right.found()[0]?.[1] === 'ok', 2000).catch(() => false);
      if (!isOk) right.clock.advance(againMs);
      return isOk;
    });
    const wrong = checking(t, serversOf(url, 'gateway', 'wrong'));
    await wrong.becomes('failing');
    t.strictSame(wrong.found(), [['turn', 'failing', 'refused_key']], transport);
  }
});
