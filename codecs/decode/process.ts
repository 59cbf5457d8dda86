/**
 * One decoder process, whichever program it runs: both kinds (ffmpeg.ts, once.ts) look like this.
 * Invariant: `exited` always settles, also where the program could not be started.
 */
import { fileURLToPath } from 'node:url';
import type { Readable } from 'node:stream';
import { CHECKOUT } from '../../contracts/places.js';

export interface DecoderProcess {
  /** 16-bit mono PCM at 16 kHz, in pieces of any length; ends when the process does. */
  readonly pcm: Readable;
  readonly exited: Promise<DecoderExit>;
  /** SIGKILL, also when it has not been spawned yet. Idempotent. */
  kill(): void;
}

export interface DecoderExit {
  /** Ended by itself, whatever its exit code. */
  readonly orderly: boolean;
  /** The program could not run, or does not know the container or the codec. */
  readonly incapable: boolean;
  /** The system had no process, memory or descriptor to spare: it may have one later. */
  readonly refused: boolean;
}

/** Starts a decoder on a file of the container that FFmpeg calls `demuxer`. */
export type StartDecoder = (file: string, demuxer: string) => DecoderProcess;

export const LIMITED_SCRIPT = fileURLToPath(new URL('codecs/decode/limited.sh', CHECKOUT));

const REFUSALS = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM']);

/** Whether a process, or a file, could not be had for want of what others may give back. */
export const isRefusal = (error: unknown): boolean =>
  REFUSALS.has((error as NodeJS.ErrnoException | undefined)?.code ?? '');

/**
 * How decoders are spawned: with none of our environment but where programs and libraries are, and in a process
 * group of their own, so that a signal to ours lets them finish what is being drained.
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
