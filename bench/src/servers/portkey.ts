/**
 * Portkey's gateway as a peer: another proxy in front of the same speech server. `@hono/node-server` is held at the oldest
 * version that it takes: with the newest one it answers speech with 500.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { installed } from '../packages.js';
import { freePort } from './free-port.js';
import { answers, untilReady } from './peers.js';
import type { Server } from './server.js';

const MAIN = 'node_modules/@portkey-ai/gateway/build/start-server.js';
const STARTS_WITHIN_MS = 30_000;

/** Passes OpenAI's dialect on to `upstream` (an address with its /v1). Throws Error where it cannot be installed or does not start. */
export async function startPortkey(upstream: string, pcmRate: number): Promise<Server> {
  const main = path.join(await installed('peers/portkey'), MAIN);
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, [main, `--port=${port}`, '--headless'], {
    env: { ...process.env, NODE_OPTIONS: '', NODE_ENV: 'production' },
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  try {
    const hasEnded = (): boolean => child.exitCode !== null;
    await untilReady('Portkey', () => answers(origin), hasEnded, STARTS_WITHIN_MS);
  } catch (error) {
    await stop();
    throw error;
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
