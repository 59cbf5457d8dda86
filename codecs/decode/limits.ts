/**
 * Limits of a decoder process. Uploads may be hostile: a file of 3 MB can hold hours of audio, or make a
 * decoder loop. Enforced by `limited.sh` with ulimit, and by the reader (decoder.ts).
 */
import { BYTES_PER_SAMPLE, RECOGNITION_RATE } from '../../contracts/audio.js';
import { LIMITS } from '../../contracts/limits.js';

/** Tolerance above the limit, for the padding that codecs add at both ends. */
const SLACK_MS = 1000;

const bytesOfAudio = (ms: number): number => Math.floor((ms / 1000) * RECOGNITION_RATE) * BYTES_PER_SAMPLE;

/** Sample rates that a file may declare, in Hz. At 1 Hz, 7 KB of samples would become an hour of audio. */
export const DECLARED_RATE = { min: 1000, max: 1_000_000 } as const;

/** Gaps in a file's time stamps that become silence, in seconds; shorter ones are how containers round. */
export const GAPS = { least: 0.1, most: LIMITS.transcription.gapMs / 1000 } as const;

/** Most channels of a recording, as many as FFmpeg resamples. */
export const MOST_CHANNELS = 64;

/** Audio tracks of a file that are looked at. */
export const MOST_TRACKS = LIMITS.transcription.tracks;

/** A track whose loudest sample, of 16 bits, is below this is silent: -50 dB of full scale. */
export const SILENT_PEAK = 104;

export interface DecodeLimits {
  /** Most PCM that one file may contain, in bytes; more is `audio_too_long`. */
  readonly pcmBytes: number;
  /** The longest wait for a decoder's next bytes, in ms, its start included. */
  readonly waitMs: number;
  /** Most processes at once. */
  readonly processes: number;
  /** Most uploads that wait for a process; one more is `engine_busy`. */
  readonly queue: number;
}

export const decodeLimits = (processes: number): DecodeLimits => ({
  pcmBytes: bytesOfAudio(LIMITS.transcription.decodedMs + SLACK_MS),
  waitMs: 60_000,
  processes,
  queue: 64,
});

const MiB_IN_KIB = 1024;

/** Address space V8 reserves for compiled code. Up to Node 22 it does not count as data; from 23 on it does, used or not. */
export const CODE_RANGE_KIB = Number(process.versions.node.split('.')[0]) > 22 ? 512 * MiB_IN_KIB : 0;

/** Limits of one process. An hour of audio in the slowest codec takes half of the CPU time; ffmpeg takes 60 MB, node-av 82 MB. */
export const PROCESS_LIMITS = {
  cpuSeconds: 120,
  openFiles: 64,
  /** Address space of ffmpeg, in KiB. */
  addressSpaceKiB: 1024 * MiB_IN_KIB,
  /** Data segment of node, in KiB: V8 reserves address space that it never uses, so that cannot be capped. */
  dataKiB: 512 * MiB_IN_KIB + CODE_RANGE_KIB,
  /** JavaScript heap of node, in MB. */
  heapMb: 64,
  /** Added niceness, so that running speech jobs come first. */
  nice: 10,
} as const;

/** Memory of one process of node: its data segment in KiB, of which the JavaScript heap is a part, in MB. */
export interface NodeLimits {
  readonly dataKiB: number;
  readonly heapMb: number;
}

/** The arguments of `limited.sh` before the program; 0 means no limit. */
export const limitedArgs = (memory: { addressSpaceKiB?: number; dataKiB?: number }): readonly string[] =>
  [PROCESS_LIMITS.cpuSeconds, PROCESS_LIMITS.openFiles, memory.addressSpaceKiB ?? 0, memory.dataKiB ?? 0].map(
    String,
  );
