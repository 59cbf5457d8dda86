/**
 * A decoder process; the interface is the same for both programs (ffmpeg.ts, once.ts).
 * Invariant: `exited` always settles, even if the program could not be started.
 */
import { fileURLToPath } from 'node:url';
import type { Readable } from 'node:stream';
import { CHECKOUT } from '../../contracts/places.js';
import { limitedArgs, type NodeLimits, PROCESS_LIMITS } from './limits.js';

export interface DecoderProcess {
  /** A WAV stream (decoder-output.ts), in pieces of any length; ends when the process does. */
  readonly pcm: Readable;
  readonly exited: Promise<DecoderExit>;
  /** Its number, if it runs. */
  pid(): number | undefined;
  /** Sends SIGKILL, also to a process that is still being spawned. Idempotent. */
  kill(): void;
}

export interface DecoderExit {
  /** Exited by itself, with any exit code. */
  readonly orderly: boolean;
  /** The program could not run, or does not know the container or the codec. */
  readonly incapable: boolean;
  /** The system had no process, memory or descriptor left; a later try may succeed. */
  readonly refused: boolean;
}

/** Starts a decoder on a file; `demuxer` is FFmpeg's name of its container. */
export type StartDecoder = (file: string, demuxer: string) => DecoderProcess;

export const LIMITED_SCRIPT = fileURLToPath(new URL('codecs/decode/limited.sh', CHECKOUT));

/** A script of ours in node under limits, behind all others on the processor: the program to spawn, and its arguments. */
export const limitedNode = (
  script: string,
  args: readonly string[],
  { dataKiB, heapMb }: NodeLimits,
): [program: string, args: string[]] => [
  'nice',
  [
    ...['-n', String(PROCESS_LIMITS.nice), '/bin/sh', LIMITED_SCRIPT, ...limitedArgs({ dataKiB })],
    ...[process.execPath, `--max-old-space-size=${heapMb}`, script, ...args],
  ],
];

const REFUSALS = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM']);

/** Whether the system refused a process or file for lack of a resource that may become free again. */
export const isRefusal = (error: unknown): boolean =>
  REFUSALS.has((error as NodeJS.ErrnoException | undefined)?.code ?? '');

/**
 * Options for spawning decoders: only the search paths of the environment, and a separate process group, so that
 * a signal to the gateway's group does not end decoders that a drain waits for.
 */
export function spawnOptions() {
  const { PATH, LD_LIBRARY_PATH } = process.env;
  const env = {
    ...(PATH !== undefined && { PATH }),
    ...(LD_LIBRARY_PATH !== undefined && { LD_LIBRARY_PATH }),
  };
  return { env: env as NodeJS.ProcessEnv, detached: true } as const;
}

/** Exit codes of `exec` and `nice` for a program that is missing or does not run here. */
export const CANNOT_RUN = new Set([126, 127]);
