/** FFmpeg's program as the least work of an encoder: all of the audio at once, in one process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const PROGRAM = process.env['FFMPEG_PATH'] || 'ffmpeg';

/** The line that `ffmpeg -benchmark` prints. */
const SPENT = /bench: utime=([\d.]+)s stime=([\d.]+)s/;

/** Seconds of CPU to encode 16-bit mono PCM with these arguments; undefined where there is no such program. Throws Error where it fails. */
export async function encodeCost(
  pcm: Buffer,
  rate: number,
  args: readonly string[],
): Promise<number | undefined> {
  const input = ['-f', 's16le', '-ar', String(rate), '-ac', '1', '-i', 'pipe:0'];
  const child = spawn(PROGRAM, ['-hide_banner', '-benchmark', ...input, ...args, 'pipe:1'], {
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (told += chunk));
  child.stdin.on('error', () => {});
  child.stdin.end(pcm);
  try {
    await once(child, 'close');
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined;
    throw error;
  }
  const [, user = '', system = ''] = SPENT.exec(told) ?? [];
  if (user === '') throw new Error(`ffmpeg fails: ${told.slice(-300)}`);
  return Number(user) + Number(system);
}
