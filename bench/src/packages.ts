/** Packages that only some scenarios need: folders of bench/ with a lock file, installed when first needed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const BENCH = fileURLToPath(new URL('../..', import.meta.url));

/** Path of the folder, such as `peers/portkey`, with its packages installed. Throws Error if they cannot be installed. */
export async function installed(folder: string): Promise<string> {
  const cwd = path.join(BENCH, folder);
  if (existsSync(path.join(cwd, 'node_modules'))) return cwd;
  const npm = spawn('npm', ['ci', '--ignore-scripts'], { cwd, stdio: 'ignore' });
  const [code] = (await once(npm, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`bench/${folder}: npm ci failed`);
  return cwd;
}
