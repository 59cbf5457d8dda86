/**
 * Portkey's gateway as a peer: another proxy in front of the same speech server. It lies in bench/peers, and is
 * installed there when it is first needed. `@hono/node-server` is held at the oldest version that it takes: with the
 * newest one it answers speech with 500.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-port.js';
import type { Server } from './server.js';

const PEERS = fileURLToPath(new URL('../../../peers', import.meta.url));
const MAIN = path.join(PEERS, 'node_modules/@portkey-ai/gateway/build/start-server.js');
const STARTS_WITHIN_MS = 30_000;
const LOOK_MS = 50;

async function install(): Promise<void> {
  if (existsSync(MAIN)) return;
  const npm = spawn('npm', ['ci', '--ignore-scripts'], { cwd: PEERS, stdio: 'ignore' });
  const [code] = (await once(npm, 'exit')) as [number | null];
  if (code !== 0) throw new Error('bench/peers: npm ci failed');
}

const answers = (origin: string): Promise<boolean> =>
  fetch(origin).then(
    ({ body }) => body?.cancel().then(() => true) ?? true,
    () => false,
  );

/** Passes OpenAI's dialect on to `upstream` (an address with its /v1). Throws Error where it cannot be installed or does not start. */
export async function startPortkey(upstream: string, pcmRate: number): Promise<Server> {
  await install();
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, [MAIN, `--port=${port}`, '--headless'], {
    env: { ...process.env, NODE_OPTIONS: '', NODE_ENV: 'production' },
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  for (
    const deadline = performance.now() + STARTS_WITHIN_MS;
    !(await answers(origin));
    await pause(LOOK_MS)
  ) {
    if (child.exitCode === null && performance.now() < deadline) continue;
    await stop();
    throw new Error('Portkey does not start');
  }
  return {
    name: 'Portkey 1.15.2',
    origin,
    key: 'none',
    headers: { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': upstream },
    openai: `${origin}/v1`,
    isNative: false,
    pcmRate,
    pid: child.pid ?? -1,
    stop,
  };
}
