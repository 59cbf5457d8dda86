/**
 * The gateway's overhead over writing bytes: POST speech through `tone` (pcm, 16 kHz) against a bare handler
 * of the same adapter that writes the same bytes. Rounds alternate, so that the machine's drift cancels.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startGateway } from '../test/fixtures/gateway.js';
import { cpuMs, median, row, timedPost } from './measure.js';

const BODY = { text: 'All audio of this benchmark is made of tones.', format: 'pcm', sample_rate: 16_000 };
const ROUNDS = 7;
const REQUESTS = 60;

const gateway = await startGateway();
const folder = await mkdtemp(join(tmpdir(), 'bench-'));

async function startBare() {
  const audio = await fetch(`${gateway.base}/v1/tts`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/json' },
    body: JSON.stringify(BODY),
  });
  const file = join(folder, 'audio.pcm');
  await writeFile(file, Buffer.from(await audio.arrayBuffer()));
  const script = fileURLToPath(new URL('./bare-server.js', import.meta.url));
  const child = spawn(process.execPath, [script, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { base: `http://127.0.0.1:${String(line).trim()}`, pid: child.pid ?? -1, stop: () => child.kill() };
}

interface Round {
  readonly latency: number;
  readonly cpu: number;
  readonly bytes: number;
}

async function round(base: string, pid: number): Promise<Round> {
  const latencies: number[] = [];
  let bytes = 0;
  const before = cpuMs(pid);
  for (let request = 0; request < REQUESTS; request++) {
    const timed = await timedPost(`${base}/v1/tts`, gateway.authorization, BODY);
    latencies.push(timed.total);
    bytes = timed.bytes;
  }
  return { latency: median(latencies), cpu: (cpuMs(pid) - before) / REQUESTS, bytes };
}

const bare = await startBare();
try {
  const rounds: { ours: Round; bare: Round }[] = [];
  await round(gateway.base, gateway.pid);
  await round(bare.base, bare.pid);
  for (let index = 0; index < ROUNDS; index++) {
    rounds.push({ ours: await round(gateway.base, gateway.pid), bare: await round(bare.base, bare.pid) });
  }
  const of = (pick: (pair: { ours: Round; bare: Round }) => number) => median(rounds.map(pick));
  row('audio a request', (rounds[0]?.ours.bytes ?? 0) / 32_000, 's');
  row(
    'latency of a whole request, bare handler',
    of(({ bare }) => bare.latency),
    'ms',
  );
  row(
    'latency of a whole request, added by the gateway',
    of(({ ours, bare }) => ours.latency - bare.latency),
    'ms',
  );
  row(
    'CPU a request, bare handler',
    of(({ bare }) => bare.cpu),
    'ms',
  );
  row(
    'CPU a request, added by the gateway',
    of(({ ours, bare }) => ours.cpu - bare.cpu),
    'ms',
  );
} finally {
  bare.stop();
  await gateway.stop();
  await rm(folder, { recursive: true, force: true });
}
