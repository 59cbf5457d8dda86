/** A gateway of a checkout, started for one scenario with a data folder of its own, as a user would start it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Server } from './server.js';

export interface StartedServer extends Server {
  readonly pid: number;
  readonly dataDir: string;
  /** Milliseconds from the start of the process to the first ready answer of /health. */
  readonly startedIn: number;
  /** Its stderr so far, or the end of it. */
  printed(): string;
}

export type Environment = Readonly<Record<string, string>>;

const MAIN = path.join('bundle', 'gateway', 'main.js');
const PCM_RATE = 24_000;
const DEADLINE_MS = 60_000;
const LOOK_MS = 20;
const KEPT_CHARACTERS = 200_000;

/** Nothing that the caller's shell sets for a gateway of his own. */
const ALWAYS: Environment = {
  NODE_OPTIONS: '',
  HOST: '127.0.0.1',
  PORT: '0',
  MEDIA_UDP_PORT: '0',
  MEDIA_HOST: '127.0.0.1',
  DRAIN_ANNOUNCE_SECONDS: '0',
  // Nobody whom it has to wait for.
  DRAIN_SECONDS: '5',
  DATABASE_URL: '',
  LOG_LEVEL: 'warn',
  CONCURRENCY: '100000',
  PCM_RATE: String(PCM_RATE),
};

/** The engines whose audio is exact and costs next to nothing, so that everything else is seen. */
export const TONE: Environment = { TTS_ENGINES: 'tone', STT_ENGINES: 'tone' };

export const isCheckout = (folder: string): boolean => existsSync(path.join(folder, MAIN));

function collect(stream: NodeJS.ReadableStream): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => (text = (text + chunk).slice(-KEPT_CHARACTERS)));
  return () => text;
}

async function isReady(origin: string): Promise<boolean> {
  try {
    const answer = await fetch(`${origin}/health`);
    await answer.body?.cancel();
    return answer.status === 200;
  } catch {
    return false;
  }
}

/** The address that it prints, once it is ready there. Throws Error where it ends instead, or takes too long. */
async function readyAt(child: ChildProcess, stdout: () => string, stderr: () => string): Promise<string> {
  for (const deadline = performance.now() + DEADLINE_MS; performance.now() < deadline; await pause(LOOK_MS)) {
    if (child.exitCode !== null)
      throw new Error(`the gateway ended with ${child.exitCode}: ${stderr().slice(-500)}`);
    const origin = /https?:\/\/[^\s/]+/.exec(stdout())?.[0];
    if (origin !== undefined && (await isReady(origin))) return origin;
  }
  throw new Error('the gateway did not become ready within a minute');
}

export async function startCheckout(folder: string, env: Environment): Promise<StartedServer> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'bench-'));
  // The embedded Postgres may run as another user.
  await chmod(dataDir, 0o711);
  const key = `bench-${randomBytes(24).toString('hex')}`;
  const begun = performance.now();
  const child = spawn(process.execPath, [path.join(folder, MAIN)], {
    env: { ...process.env, ...ALWAYS, API_KEY: key, DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const exited = once(child, 'exit');
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const origin = await readyAt(child, stdout, stderr);
    const startedIn = performance.now() - begun;
    const dialects = { openai: `${origin}/compat/v1`, isNative: true, pcmRate: PCM_RATE };
    const pid = child.pid ?? -1;
    return { name: 'gateway', origin, key, ...dialects, pid, dataDir, startedIn, printed: stderr, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
