/**
 * Implements the `Decode` port (contracts/ports/speech/codec.ts): decodes hostile uploads to PCM, each in its own process.
 *
 * Invariants: no process is started for an unknown container; however the reader leaves, the process has
 * ended and the temporary file is removed before the slot is free; one file yields at most `pcmBytes`; a
 * truncated file yields what could be decoded, and one that yields nothing is an error.
 */
import { availableParallelism } from 'node:os';
import { FairPlaces } from '../../contracts/admission/fair-places.js';
import { ServiceError } from '../../contracts/errors.js';
import type { Decode } from '../../contracts/ports/speech/codec.js';
import { CHILD_SILENCE, lookEveryMs, SilenceWatch } from '../../processes/caller/silence.js';
import { type ProcessState, restOf } from '../../processes/process-table.js';
import { engineFrozen } from '../../processes/errors.js';
import { ownerOf } from '../../processes/job-owner.js';
import { findFfmpegs } from './binaries.js';
import { ffmpegDecoder } from './ffmpeg.js';
import { lengthEdits } from './declared-length.js';
import { monoOf } from './decoder-output.js';
import { checkDeclaredRate } from './declared-rate.js';
import { type DecodeLimits, decodeLimits } from './limits.js';
import { onceDecoder } from './once.js';
import type { DecoderProcess, StartDecoder } from './process.js';
import { type InputContainer, DEMUXERS, sniff } from './sniff.js';
import { headOf } from './file-head.js';
import { isPlainWebm } from './plain-webm.js';
import { Uploads } from './uploads.js';

export interface DecodeOptions {
  /** Folder of the uploads that are being decoded; created if missing. Gateways may share it. */
  readonly tempFolder: string;
  /** The compiled gateway/workers/decode-once. */
  readonly decodeOnce: string;
  /** FFMPEG_PATH; absent or empty: the build from npm, and for what it lacks `ffmpeg` on `searchPath`. */
  readonly ffmpegPath?: string | undefined;
  /** Default: PATH. */
  readonly searchPath?: string | undefined;
  /** Overrides individual limits. */
  readonly limits?: Partial<DecodeLimits>;
}

/**
 * Containers whose audio may begin late, have gaps, or be in several tracks: node-av, which keeps their clock (container-clock.ts) and
 * finds the track that is heard, comes first.
 */
const CLOCKED: ReadonlySet<InputContainer> = new Set<InputContainer>([
  ...(['mp4', 'webm', 'asf', 'avi', 'flv', 'mpeg', 'mpegts'] as const),
]);

/** A decoder mostly waits for its reader, so there may be more decoders than cores. */
const PROCESSES_PER_CORE = 4;

/**
 * Creates a decoder with one temporary folder, and removes stale files there in the background.
 * Throws if `ffmpegPath` is not an executable file.
 */
export function createDecode(options: DecodeOptions): Decode {
  const limits = { ...decodeLimits(PROCESSES_PER_CORE * availableParallelism()), ...options.limits };
  const places = new FairPlaces({ slots: limits.processes, queue: limits.queue });
  const uploads = new Uploads(options.tempFolder);
  const binaries = findFfmpegs(options.ffmpegPath, options.searchPath);
  const [ffmpegs, once] = [binaries.map(ffmpegDecoder), onceDecoder(options.decodeOnce)];
  const startersFor = (isClocked: boolean): readonly StartDecoder[] =>
    isClocked ? [once, ...ffmpegs] : [...ffmpegs, once];

  return async function* decode(file, caller, signal) {
    const head = await headOf(file);
    const container = sniff(head);
    if (container === undefined) throw new ServiceError('audio_unreadable');
    checkDeclaredRate(head, container);
    const leave = await places.turn(ownerOf(caller), signal);
    try {
      const demuxer = DEMUXERS[container];
      const starters = startersFor(CLOCKED.has(container) && !(await isPlainWebm(file, container)));
      const edits = await lengthEdits(file, head, container);
      yield* uploads.with(file, edits, (path) => attempts(starters, { path, demuxer, limits, signal }));
    } finally {
      leave();
    }
  };
}

interface Job {
  readonly path: string;
  readonly demuxer: string;
  readonly limits: DecodeLimits;
  readonly signal: AbortSignal;
}

/** Tries the decoders in order; the next one is used only if the previous one cannot run or lacks the codec. */
async function* attempts(starters: readonly StartDecoder[], job: Job): AsyncGenerator<Int16Array> {
  for (const start of starters) {
    job.signal.throwIfAborted();
    const known = yield* samplesFrom(start(job.path, job.demuxer), job);
    if (known) return;
  }
  throw new ServiceError('engine_failed', { message: 'No audio decoder runs on this machine' });
}

const noProcess = (): ServiceError =>
  new ServiceError('overloaded', {
    message: 'No process can be started to decode the audio, try again later',
    retryAfter: 1,
  });

/** Yields the decoded samples. Returns false if there were none because the process cannot run or lacks the codec. */
async function* samplesFrom(
  decoder: DecoderProcess,
  { limits, signal }: Job,
): AsyncGenerator<Int16Array, boolean> {
  const kill = (): void => decoder.kill();
  signal.addEventListener('abort', kill, { once: true });
  decoder.pcm.on('error', () => undefined);
  let bytes = 0;
  try {
    for await (const piece of monoOf(patiently(decoder, limits.waitMs))) {
      bytes += piece.byteLength;
      if (bytes > limits.pcmBytes) throw new ServiceError('audio_too_long');
      yield piece;
      signal.throwIfAborted();
    }
    const exit = await decoder.exited;
    signal.throwIfAborted();
    if (exit.refused) throw noProcess();
    if (bytes === 0 && exit.incapable) return false;
    if (bytes === 0 || !exit.orderly) throw new ServiceError('audio_unreadable');
    return true;
  } finally {
    signal.removeEventListener('abort', kill);
    await ended(decoder);
  }
}

/** Kills the process and waits for its end. Its pipe is read to the end, or the descriptor would stay open. */
async function ended(decoder: DecoderProcess): Promise<void> {
  decoder.kill();
  decoder.pcm.resume();
  await decoder.exited;
}

/**
 * The decoder's output. A decoder silent for `waitMs` is killed, which ends its output. A broken pipe counts as the end.
 * Errors: `engine_lost` if its process was stopped, which is no fault of the file.
 */
async function* patiently(decoder: DecoderProcess, waitMs: number): AsyncGenerator<Buffer> {
  const pieces = decoder.pcm.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
  for (;;) {
    const watch = watchSilence(decoder, waitMs);
    const step = await pieces.next().catch(() => undefined);
    if (watch.ends()) throw engineFrozen();
    if (step === undefined || step.done === true) return;
    yield step.value;
  }
}

/** Kills a decoder that says nothing for `waitMs`, or is stopped for five seconds. `ends` ends the watch: true if it was stopped. */
function watchSilence({ pid, kill }: DecoderProcess, waitMs: number): { ends(): boolean } {
  const times = { ...CHILD_SILENCE, announcedMs: waitMs };
  const silence = new SilenceWatch(times);
  let [silentMs, isStopped] = [0, false];
  const rest = (): ProcessState | undefined => {
    const number = pid();
    return number === undefined ? undefined : restOf(number);
  };
  const look = (): void => {
    silentMs += lookEveryMs(times);
    // Decoding is long work by nature.
    if (!silence.look({ now: performance.now(), heard: 0, announced: true, rest })) return;
    isStopped = silentMs < waitMs;
    kill();
  };
  look();
  const timer = setInterval(look, lookEveryMs(times));
  return {
    ends() {
      clearInterval(timer);
      return isStopped;
    },
  };
}
