/** Products that the load tests compare with: one folder of bench/peers each, installed when first needed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const PEERS = fileURLToPath(new URL('../../../peers', import.meta.url));
const LOOK_MS = 50;

/** The folder of a peer, with its packages. Throws Error where they cannot be installed. */
export async function installed(name: string): Promise<string> {
  const cwd = path.join(PEERS, name);
  if (existsSync(path.join(cwd, 'node_modules'))) return cwd;
  const npm = spawn('npm', ['ci', '--ignore-scripts'], { cwd, stdio: 'ignore' });
  const [code] = (await once(npm, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`bench/peers/${name}: npm ci failed`);
  return cwd;
}

/** Whether something answers there, whatever it says. */
export const answers = (origin: string): Promise<boolean> =>
  fetch(origin).then(
    ({ body }) => body?.cancel().then(() => true) ?? true,
    () => false,
  );

/** Waits until it does. Throws Error once it has `failed`, or takes longer. */
export async function untilReady(
  name: string,
  isReady: () => Promise<boolean>,
  hasEnded: () => boolean,
  withinMs: number,
): Promise<void> {
  for (const deadline = performance.now() + withinMs; !(await isReady()); await pause(LOOK_MS))
    if (hasEnded() || performance.now() > deadline) throw new Error(`${name} does not start`);
}
