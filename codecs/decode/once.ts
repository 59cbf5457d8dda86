/** Decoding by the one-shot `decode-once` child, on node-av, under the same limits as ffmpeg. */
import { spawn } from 'node:child_process';
import { limitedArgs, PROCESS_LIMITS } from './limits.js';
import { CANNOT_RUN, type DecoderExit, LIMITED_SCRIPT, type StartDecoder } from './process.js';

/** An uncaught error: node-av does not load on this machine. The entry's own answers are 0 and 2. */
const UNUSABLE = new Set([1, ...CANNOT_RUN]);

/** A starter of `decode-once` children; `entry` is the compiled gateway/workers/decode-once. */
export const onceDecoder =
  (entry: string): StartDecoder =>
  (file, demuxer) => {
    const { nice, dataKiB, heapMb } = PROCESS_LIMITS;
    const node = [process.execPath, `--max-old-space-size=${heapMb}`, entry, file, demuxer];
    const args = ['-n', String(nice), '/bin/sh', LIMITED_SCRIPT, ...limitedArgs({ dataKiB }), ...node];
    const child = spawn('nice', args, { stdio: ['ignore', 'pipe', 'ignore'] });
    const exited = new Promise<DecoderExit>((resolve) => {
      child.on('exit', (code) =>
        resolve({ orderly: code !== null, incapable: code !== null && UNUSABLE.has(code) }),
      );
      child.on('error', () => resolve({ orderly: false, incapable: true }));
    });
    return { pcm: child.stdout, exited, kill: () => child.kill('SIGKILL') };
  };
