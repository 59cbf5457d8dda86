/** A product to compare with, as a program that serves HTTP: started in a folder and a process group of its own, which end with it. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from './free-port.js';
import { answers, untilReady } from './peers.js';
import type { Server } from './server.js';

/** Hz of the raw PCM that OpenAI's dialect answers. */
export const ENGINE_RATE = 24_000;

interface Started {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

interface Program {
  /** With its version, where that is known. */
  readonly name: string;
  /** How it is started on this port. `folder` is empty, and goes when it stops. */
  start(port: number, folder: string): Promise<Started> | Started;
  readonly startsWithinMs?: number;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What has to be done once it answers. */
  prepare?(origin: string): Promise<void>;
}

const STARTS_WITHIN_MS = 30_000;
/** Of what a program printed that does not start. */
const KEPT_CHARACTERS = 300;

/** Starts it in a process group of its own, which ends with it. Throws Error where it is not installed or does not start. */
export async function startProgram(program: Program): Promise<Server> {
  const { name, startsWithinMs = STARTS_WITHIN_MS, key = 'none', headers } = program;
  const port = await freePort();
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-rival-'));
  const { command, args, env } = await program.start(port, folder);
  const child = spawn(command, args, {
    cwd: folder,
    detached: true,
    env: { ...process.env, NODE_OPTIONS: '', NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream
      .setEncoding('utf8')
      .on('data', (text: string) => (printed = (printed + text).slice(-KEPT_CHARACTERS)));
  const exited = new Promise<unknown>((resolve) => child.once('exit', resolve).once('error', resolve));
  let hasEnded = false;
  void exited.then(() => (hasEnded = true));
  const stop = async (): Promise<void> => {
    if (!hasEnded && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
  const origin = `http://127.0.0.1:${port}`;
  try {
    await untilReady(
      name,
      () => answers(origin),
      () => hasEnded,
      startsWithinMs,
    );
    await program.prepare?.(origin);
  } catch (error) {
    await stop();
    throw new Error(
      `${error instanceof Error ? error.message : String(error)}: ${printed.trim() || `is ${command} installed?`}`,
      { cause: error },
    );
  }
  const openai = `${origin}/v1`;
  const known = { name, origin, key, openai, isNative: false, pcmRate: ENGINE_RATE, pid: child.pid ?? -1 };
  return { ...known, ...(headers && { headers }), stop };
}
