/** Decodes with node-av, in a `decode-once` child per file, under the same limits as ffmpeg. */
import { type ChildProcess, spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import { PROCESS_LIMITS } from './limits.js';
import {
  CANNOT_RUN,
  type DecoderExit,
  type DecoderProcess,
  isRefusal,
  limitedNode,
  spawnOptions,
  type StartDecoder,
} from './process.js';

/** Exit codes if node or node-av does not run here; 1 is an uncaught error. The entry itself exits with 0 or 2. */
const UNUSABLE = new Set([1, ...CANNOT_RUN]);

/** Starts `decode-once` children; `entry` is the compiled gateway/workers/decode-once. */
export const onceDecoder =
  (entry: string): StartDecoder =>
  (file, demuxer) => {
    const [program, args] = limitedNode(entry, [file, demuxer], PROCESS_LIMITS);
    try {
      return running(spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'], ...spawnOptions() }));
    } catch (error) {
      return notStarted(error);
    }
  };

const failed = (error: unknown): DecoderExit => {
  const refused = isRefusal(error);
  return { orderly: false, incapable: !refused, refused };
};

/** If no descriptor is free, the child has no streams, and reports the error a moment later. */
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
  return {
    pcm: child.stdout ?? Readable.from([]),
    exited,
    pid: () => child.pid,
    kill: () => child.kill('SIGKILL'),
  };
}

const notStarted = (error: unknown): DecoderProcess => ({
  pcm: Readable.from([]),
  exited: Promise.resolve(failed(error)),
  pid: () => undefined,
  kill: () => undefined,
});
