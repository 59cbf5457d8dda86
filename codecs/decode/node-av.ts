/**
 * The work of the `decode-once` child: decodes any container to a WAV stream of 16 kHz (decoder-output.ts) with node-av's low-level
 * synchronous reader. One file per process, so native memory is left to the exit.
 * Writes to the pipe block, which is the back-pressure; if the reader has left, EPIPE ends the work.
 */
import { writeSync } from 'node:fs';
import { AV_NOPTS_VALUE, AVERROR_EOF, AVMEDIA_TYPE_AUDIO, type AVSampleFormat } from 'node-av/constants';
import {
  type ChannelLayout,
  Codec,
  CodecContext,
  Dictionary,
  FormatContext,
  Frame,
  InputFormat,
  Packet,
  type Stream,
} from 'node-av/lib';
import { BYTES_PER_SAMPLE, RECOGNITION_RATE, samplesOf } from '../../contracts/audio.js';
import { check } from '../native.js';
import { Resampler } from '../resampler.js';
import { wavHeader } from '../wav.js';
import { ContainerClock } from './container-clock.js';
import { GAPS, MOST_TRACKS, SILENT_PEAK } from './limits.js';

const STDOUT = 1;

/**
 * Decodes the track of the file that is heard to standard output; `demuxer` is FFmpeg's name of the container.
 * True if the file was read to its end; false if it broke off, after what could be decoded was written.
 */
export function decodeToStdout(file: string, demuxer: string): boolean {
  try {
    return decode(file, demuxer);
  } catch {
    return false;
  }
}

function decode(file: string, demuxer: string): boolean {
  const index = heardTrack(openInput(file, demuxer));
  const input = openInput(file, demuxer);
  const stream = input.streams.find((one) => one.index === index);
  if (stream === undefined) return false;
  const decoder = openDecoder(stream);
  const writer = new PcmWriter(timesOf(input, stream));
  const isWhole = eachPacket(input, (packet) => {
    // A broken packet is skipped, as ffmpeg does.
    if (packet.streamIndex === index && decoder.sendPacketSync(packet) >= 0) writer.drain(decoder);
    return true;
  });
  decoder.sendPacketSync(null);
  writer.drain(decoder);
  writer.finish();
  return isWhole;
}

function openInput(file: string, demuxer: string): FormatContext {
  const input = new FormatContext();
  const options = Dictionary.fromObject({ protocol_whitelist: 'file' });
  check(input.openInputSync(file, InputFormat.findInputFormat(demuxer), options), 'open');
  check(input.findStreamInfoSync(null), 'stream information');
  return input;
}

/** Shows `take` one packet after the other, until it returns false. True if that, or the end of the file, came before an error. */
function eachPacket(input: FormatContext, take: (packet: Packet) => boolean): boolean {
  const packet = new Packet();
  packet.alloc();
  for (;;) {
    const result = input.readFrameSync(packet);
    if (result < 0) return result === AVERROR_EOF;
    const goesOn = take(packet);
    packet.unref();
    if (!goesOn) return true;
  }
}

/**
 * The index of the audio track that is heard, of the first MOST_TRACKS: the first one that can be decoded and is not silent; of
 * silent ones the loudest; undefined if there is none. One track needs no look; of several the file is read until the first one is
 * heard, and to its end if that one is silent.
 */
function heardTrack(input: FormatContext): number | undefined {
  const streams = input.streams.filter(({ codecpar }) => codecpar.codecType === AVMEDIA_TYPE_AUDIO);
  if (streams.length < 2) return streams[0]?.index;
  const tracks = streams.slice(0, MOST_TRACKS).map((stream) => new TrackLevel(stream));
  eachPacket(input, (packet) => {
    tracks.find(({ index }) => index === packet.streamIndex)?.take(packet);
    return !isHeard(tracks.find(({ canDecode }) => canDecode));
  });
  for (const track of tracks) track.take(null);
  const decoded = tracks.filter(({ peak }) => peak >= 0).toSorted((one, other) => other.peak - one.peak);
  return (tracks.find(isHeard) ?? decoded[0] ?? tracks[0])?.index;
}

const isHeard = (track: TrackLevel | undefined): boolean => track !== undefined && track.peak >= SILENT_PEAK;

class TrackLevel {
  readonly index: number;
  /** The loudest sample so far, of 16 bits; -1 before the first one. */
  peak = -1;
  readonly #decoder: CodecContext | undefined;
  readonly #frame = new Frame();
  readonly #samples = new FrameSamples(() => undefined);

  constructor(stream: Stream) {
    this.index = stream.index;
    this.#frame.alloc();
    this.#decoder = decoderFor(stream);
  }

  /** Whether there is a decoder for its codec. */
  get canDecode(): boolean {
    return this.#decoder !== undefined;
  }

  /** Null is the end of the file. */
  take(packet: Packet | null): void {
    const decoder = this.#decoder;
    if (!decoder || decoder.sendPacketSync(packet) < 0) return;
    while (decoder.receiveFrameSync(this.#frame) >= 0) {
      for (const sample of samplesOf(this.#samples.push(this.#frame)))
        this.peak = Math.max(this.peak, Math.abs(sample));
      this.#frame.unref();
    }
  }
}

/** The decoder of a track; undefined if there is none, or it does not take the track's parameters. */
function decoderFor(stream: Stream): CodecContext | undefined {
  try {
    return openDecoder(stream);
  } catch {
    return undefined;
  }
}

function openDecoder(stream: Stream): CodecContext {
  const codec = Codec.findDecoder(stream.codecpar.codecId);
  if (codec === null) throw new Error('no decoder');
  const decoder = new CodecContext();
  decoder.allocContext3(codec);
  check(decoder.parametersToContext(stream.codecpar), 'decoder parameters');
  decoder.pktTimebase = stream.timeBase;
  decoder.threadCount = 1;
  check(decoder.open2Sync(codec, null), 'decoder');
  return decoder;
}

/** Reads time stamps as seconds since the start of the file; undefined for a frame without one. */
type TimeOf = (stamp: bigint) => number | undefined;

const MICROSECONDS = 1e6;

/** The file starts with whichever of its streams does first, as players have it. */
function timesOf({ startTime }: FormatContext, { timeBase: { num, den } }: Stream): TimeOf {
  const start = startTime === AV_NOPTS_VALUE ? 0 : Number(startTime) / MICROSECONDS;
  return (stamp) => (stamp === AV_NOPTS_VALUE ? undefined : (Number(stamp) * num) / den - start);
}

const SILENT_SAMPLES = RECOGNITION_RATE;

/**
 * Resamples frames to the channels of the first one, of which `begin` is told; a change of rate, format or layout within the stream
 * gets a new resampler.
 */
class FrameSamples {
  readonly #begin: (channels: number) => void;
  #resampler: Resampler | undefined;
  #shape = '';
  #output: ChannelLayout | undefined;

  constructor(begin: (channels: number) => void) {
    this.#begin = begin;
  }

  get channels(): number {
    return this.#output?.nbChannels ?? 1;
  }

  push(frame: Frame): Buffer {
    const { sampleRate: rate, channelLayout: layout } = frame;
    const format = frame.format as AVSampleFormat;
    const shape = `${rate} ${format} ${layout.nbChannels} ${layout.mask}`;
    const rest = shape === this.#shape ? Buffer.alloc(0) : this.finish();
    this.#shape = shape;
    if (!this.#output) this.#begin(layout.nbChannels);
    this.#output ??= { ...layout };
    this.#resampler ??= new Resampler({ rate, format, layout }, RECOGNITION_RATE, this.#output);
    const samples = this.#resampler.push(frame.extendedData ?? frame.data ?? [], frame.nbSamples);
    return rest.length === 0 ? samples : Buffer.concat([rest, samples]);
  }

  /** What the resampler still holds. */
  finish(): Buffer {
    const rest = this.#resampler?.finish();
    this.#resampler?.free();
    this.#resampler = undefined;
    return rest ?? Buffer.alloc(0);
  }
}

/** Writes frames, and silence where the container's clock has a gap. */
class PcmWriter {
  readonly #frame = new Frame();
  readonly #clock = new ContainerClock(GAPS);
  readonly #samples = new FrameSamples((channels) =>
    writeAll(Buffer.from(wavHeader(RECOGNITION_RATE, channels))),
  );
  readonly #timeOf: TimeOf;
  /** Sound and silence so far, in seconds. */
  #end = 0;

  constructor(timeOf: TimeOf) {
    this.#timeOf = timeOf;
    this.#frame.alloc();
  }

  /** Writes the frames that the decoder has ready. The few samples that a resampler holds come behind a gap's silence. */
  drain(decoder: CodecContext): void {
    while (decoder.receiveFrameSync(this.#frame) >= 0) {
      const { nbSamples, sampleRate, pts } = this.#frame;
      const silence = this.#silenceBefore(pts);
      const samples = this.#samples.push(this.#frame);
      writeSilence(silence, this.#samples.channels);
      writeAll(samples);
      this.#end += silence + nbSamples / sampleRate;
      this.#frame.unref();
    }
  }

  finish(): void {
    writeAll(this.#samples.finish());
  }

  /** Seconds. */
  #silenceBefore(stamp: bigint): number {
    const at = this.#timeOf(stamp);
    return at === undefined ? 0 : this.#clock.silenceBefore(at, this.#end);
  }
}

function writeSilence(seconds: number, channels: number): void {
  for (let left = Math.round(seconds * RECOGNITION_RATE); left > 0; left -= SILENT_SAMPLES)
    writeAll(Buffer.alloc(Math.min(left, SILENT_SAMPLES) * channels * BYTES_PER_SAMPLE));
}

function writeAll(bytes: Buffer): void {
  for (let written = 0; written < bytes.length;) written += writeSync(STDOUT, bytes, written);
}
