/** Decoding by the one-shot `decode-once` child, on node-av, under the same limits as ffmpeg. */
import { type ChildProcess, spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import { limitedArgs, PROCESS_LIMITS } from './limits.js';
import {
  CANNOT_RUN,
  type DecoderExit,
  type DecoderProcess,
  isRefusal,
  LIMITED_SCRIPT,
  spawnOptions,
  type StartDecoder,
} from './process.js';

/** An uncaught error: node-av does not load on this machine. The entry's own answers are 0 and 2. */
const UNUSABLE = new Set([1, ...CANNOT_RUN]);

/** A starter of `decode-once` children; `entry` is the compiled gateway/workers/decode-once. */
export const onceDecoder =
  (entry: string): StartDecoder =>
  (file, demuxer) => {
    const { nice, dataKiB, heapMb } = PROCESS_LIMITS;
    const node = [process.execPath, `--max-old-space-size=${heapMb}`, entry, file, demuxer];
    const args = ['-n', String(nice), '/bin/sh', LIMITED_SCRIPT, ...limitedArgs({ dataKiB }), ...node];
    try {
      return running(spawn('nice', args, { stdio: ['ignore', 'pipe', 'ignore'], ...spawnOptions() }));
    } catch (error) {
      return notStarted(error);
    }
  };

const failed = (error: unknown): DecoderExit => {
  const refused = isRefusal(error);
  return { orderly: false, incapable: !refused, refused };
};

/** Without a descriptor to spare a child has no streams, and says so a moment later. */
function running(child: ChildProcess): DecoderProcess {
  const exited = new Promise<DecoderExit>((resolve) => {
    child.on('exit', (code) =>
      resolve({
        orderly: code !== null,
        incapable: code !== null && UNUSABLE.has(code),
        refused: false,
      }),
    );
    child.on('error', (error) => resolve(failed(error)));
  });
  return { pcm: child.stdout ?? Readable.from([]), exited, kill: () => child.kill('SIGKILL') };
}

const notStarted = (error: unknown): DecoderProcess => ({
  pcm: Readable.from([]),
  exited: Promise.resolve(failed(error)),
  kill: () => undefined,
});
