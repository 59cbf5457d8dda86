/** Baselines as servers: processes of their own, so that their CPU is read as the gateway's is. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Server } from '../servers/server.js';

export interface Baseline extends Server {
  readonly pid: number;
  printed(): string;
}

/** Reads the first line that is a port followed by words; other lines are printed by libraries. */
async function addressFrom(stdout: NodeJS.ReadableStream): Promise<readonly string[]> {
  for await (const line of createInterface({ input: stdout })) {
    const [, ...found] = /^(\d+) (\S.*)$/.exec(line) ?? [];
    if (found.length > 0) return found;
  }
  return [];
}

/** Starts a script of this folder, which prints its port and what it is made of. */
export async function startBaseline(
  script: string,
  what: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Baseline> {
  const file = fileURLToPath(new URL(`./${script}.js`, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], {
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (printed += chunk));
  const exited = once(child, 'exit');
  const [port, made] = await Promise.race([addressFrom(child.stdout), exited.then((): string[] => [])]);
  if (port === undefined) throw new Error(`the baseline ${script} does not start: ${printed}`);
  const origin = `http://127.0.0.1:${port}`;
  return {
    name: `${what} (${made})`,
    origin,
    key: '',
    openai: origin,
    isNative: true,
    pcmRate: 24_000,
    pid: child.pid ?? -1,
    printed: () => printed,
    async stop() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** A bare handler that answers every request with these bytes: the cheapest that there is, or one that streams pieces. Port 0 is any. */
export async function startBareHttp(body: Buffer, type: string, piece = 0, port = 0): Promise<Baseline> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-'));
  const file = path.join(folder, 'body');
  await writeFile(file, body);
  try {
    const what = piece > 0 ? 'streaming handler of the same bytes' : 'bare handler of the same bytes';
    return await startBaseline('bare-http', what, [file, type, String(piece), String(port)]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
