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
  FormatContext,
  Frame,
  InputFormat,
  Packet,
  type Stream,
} from 'node-av/lib';
import { BYTES_PER_SAMPLE, RECOGNITION_RATE } from '../../contracts/audio.js';
import { check } from '../native.js';
import { Resampler } from '../resampler.js';
import { wavHeader } from '../wav.js';
import { ContainerClock } from './container-clock.js';
import { GAPS } from './limits.js';

const STDOUT = 1;

/**
 * Decodes the first audio stream of the file to standard output; `demuxer` is FFmpeg's name of the container.
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
  const input = new FormatContext();
  check(input.openInputSync(file, InputFormat.findInputFormat(demuxer)), 'open');
  check(input.findStreamInfoSync(null), 'stream information');
  const stream = input.streams.find(({ codecpar }) => codecpar.codecType === AVMEDIA_TYPE_AUDIO);
  if (stream === undefined) return false;
  const decoder = openDecoder(stream);
  const writer = new PcmWriter(timesOf(input, stream));
  const packet = new Packet();
  packet.alloc();
  let result = input.readFrameSync(packet);
  for (; result >= 0; result = input.readFrameSync(packet)) {
    // A broken packet is skipped, as ffmpeg does.
    if (packet.streamIndex === stream.index && decoder.sendPacketSync(packet) >= 0) writer.drain(decoder);
    packet.unref();
  }
  decoder.sendPacketSync(null);
  writer.drain(decoder);
  writer.finish();
  return result === AVERROR_EOF;
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
 * Resamples frames and writes them, and silence where the container's clock has a gap; a change of rate, format or layout within the
 * stream gets a new resampler to the channels that it began with.
 */
class PcmWriter {
  readonly #frame = new Frame();
  readonly #clock = new ContainerClock(GAPS);
  readonly #timeOf: TimeOf;
  #resampler: Resampler | undefined;
  #shape = '';
  #output: ChannelLayout | undefined;
  /** Sound and silence so far, in seconds. */
  #end = 0;

  constructor(timeOf: TimeOf) {
    this.#timeOf = timeOf;
    this.#frame.alloc();
  }

  /** Writes the frames that the decoder has ready. */
  drain(decoder: CodecContext): void {
    while (decoder.receiveFrameSync(this.#frame) >= 0) {
      const { nbSamples, sampleRate } = this.#frame;
      const resampler = this.#resamplerOfFrame();
      this.#fillGap();
      const planes = this.#frame.extendedData ?? this.#frame.data ?? [];
      writeAll(resampler.push(planes, nbSamples));
      this.#end += nbSamples / sampleRate;
      this.#frame.unref();
    }
  }

  finish(): void {
    if (this.#resampler) writeAll(this.#resampler.finish());
    this.#resampler?.free();
    this.#resampler = undefined;
  }

  /** The few samples that a resampler holds come behind the silence. */
  #fillGap(): void {
    const at = this.#timeOf(this.#frame.pts);
    const seconds = at === undefined ? 0 : this.#clock.silenceBefore(at, this.#end);
    this.#end += seconds;
    const sampleBytes = (this.#output?.nbChannels ?? 1) * BYTES_PER_SAMPLE;
    for (let left = Math.round(seconds * RECOGNITION_RATE); left > 0; left -= SILENT_SAMPLES)
      writeAll(Buffer.alloc(Math.min(left, SILENT_SAMPLES) * sampleBytes));
  }

  /** The channels of the first frame, whose number the header tells. */
  #outputLayout(layout: ChannelLayout): ChannelLayout {
    if (this.#output) return this.#output;
    writeAll(Buffer.from(wavHeader(RECOGNITION_RATE, layout.nbChannels)));
    return (this.#output = { ...layout });
  }

  #resamplerOfFrame(): Resampler {
    const { sampleRate: rate, channelLayout: layout } = this.#frame;
    const format = this.#frame.format as AVSampleFormat;
    const shape = `${rate} ${format} ${layout.nbChannels} ${layout.mask}`;
    if (this.#resampler && shape === this.#shape) return this.#resampler;
    this.finish();
    this.#shape = shape;
    const output = this.#outputLayout(layout);
    return (this.#resampler = new Resampler({ rate, format, layout }, RECOGNITION_RATE, output));
  }
}

function writeAll(bytes: Buffer): void {
  for (let written = 0; written < bytes.length;) written += writeSync(STDOUT, bytes, written);
}
