/** Callers on lines by the sockets of agents' clients, at a double of a gateway that says and drops what it is told to. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Destination } from '../src/calls/doors.js';
import { NOT_INTERRUPTED, Lines } from '../src/programs/lines.js';
import { readOptions } from '../src/options.js';
import { SCENARIOS } from '../src/scenarios/index.js';
import { runSuite } from '../src/suite.js';

const RATES = { realtime: 24_000, elevenlabs: 16_000 } as const;
type Door = keyof typeof RATES;

const loud = (rate: number, ms: number): Buffer =>
  Buffer.from(
    Int16Array.from({ length: (rate * ms) / 1000 }, (_, at) => Math.round(8000 * Math.sin(at / 5))).buffer,
  );

const SAYS: Readonly<Record<Door, (audio: string) => object>> = {
  realtime: (delta) => ({ type: 'response.output_audio.delta', delta }),
  elevenlabs: (audio) => ({ type: 'audio', audio_event: { audio_base_64: audio } }),
};
const DROPS = { realtime: 'input_audio_buffer.speech_started', elevenlabs: 'interruption' } as const;
const heardIn = (message: Record<string, unknown>): unknown =>
  message['audio'] ?? message['user_audio_chunk'];

/** Greets, answers the first voice, and is interrupted by the second if it `yields`. */
function answer(socket: WebSocket, door: Door, yields: boolean): void {
  const say = (): void => socket.send(JSON.stringify(SAYS[door](loud(RATES[door], 100).toString('base64'))));
  let voices = 0;
  let isVoiced = false;
  say();
  socket.on('message', (data: Buffer) => {
    const audio = heardIn(JSON.parse(data.toString()) as Record<string, unknown>);
    if (typeof audio !== 'string') return;
    const was = isVoiced;
    isVoiced = Buffer.from(audio, 'base64').some((byte) => byte !== 0);
    if (isVoiced && !was) voices += 1;
    if (!isVoiced && was && voices === 1) say();
    if (isVoiced && !was && voices === 2 && yields) socket.send(JSON.stringify({ type: DROPS[door] }));
  });
}

async function gateway(door: Door, yields: boolean): Promise<{ to: Destination; server: Server }> {
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => answer(socket, door, yields));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { to: { door, who: { url, headers: {} } }, server };
}

for (const door of ['realtime', 'elevenlabs'] as const)
  t.test(`${door}: a caller hears, is answered, and interrupts`, async (t) => {
    const { to, server } = await gateway(door, true);
    t.teardown(() => server.close());
    const pcm = loud(RATES[door], 200);
    const said = { pcm, text: '', origin: 'synthetic', source: 'a tone' } as const;
    const task = { to, calls: 1, spreadMs: 0, listenMs: 100, ask: said, interrupt: said };
    const { readings, failures } = await new Lines().run(task);
    t.strictSame(failures, {});
    for (const name of ['greeting', 'answer', 'bargeIn', 'clear'])
      t.ok((readings[name]?.[0] ?? Number.NaN) < 5000, `${name}: ${readings[name]?.[0]} ms`);
    t.equal(readings['frames']?.[0], 2);
  });

t.test('an agent that is not interrupted is counted as one', async (t) => {
  const { to, server } = await gateway('realtime', false);
  t.teardown(() => server.close());
  const said = { pcm: loud(24_000, 100), text: '', origin: 'synthetic', source: 'a tone' } as const;
  const task = { to, calls: 1, spreadMs: 0, listenMs: 100, ask: said, interrupt: said };
  t.strictSame((await new Lines().run(task)).failures, { [NOT_INTERRUPTED]: 1 });
});

t.test('a door that a scenario lacks leaves it out', async (t) => {
  const chosen = SCENARIOS.filter(({ name }) => name === 'conversation' || name === 'phone');
  const options = readOptions(['--door', 'window', '--checkout', '/nowhere']);
  const { scenarios } = await runSuite(chosen, options, () => undefined);
  t.strictSame(
    scenarios.map(({ skipped }) => skipped?.startsWith('--door')),
    [true, true],
  );
  t.strictSame(SCENARIOS.find(({ name }) => name === 'conversation')?.doors, ['realtime', 'elevenlabs']);
});
