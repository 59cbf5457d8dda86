/** Programs of the system that are given a text or a file and print sound. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** What it printed. Throws Error where it is not installed, or fails. */
export async function printedBy(program: string, args: readonly string[], input = ''): Promise<Buffer> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const printed: Buffer[] = [];
  child.stdout.on('data', (bytes: Buffer) => printed.push(bytes));
  child.stdin.on('error', () => {}).end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
  return Buffer.concat(printed);
}

/** Samples at that rate of a file that ffmpeg can read; `FFMPEG_PATH`, else the PATH, says which. */
export async function decodedFile(file: string, rate: number): Promise<Int16Array> {
  const program = process.env['FFMPEG_PATH'] || 'ffmpeg';
  const args = ['-v', 'error', '-i', file, '-f', 's16le', '-ac', '1', '-ar', String(rate), '-'];
  return new Int16Array(Uint8Array.from(await printedBy(program, args)).buffer);
}
