/**
 * The work of the `decode-once` child: decodes any container to 16 kHz mono PCM with node-av's low-level
 * synchronous reader. One file per process, so native memory is left to the exit.
 * Writes to the pipe block, which is the back-pressure; if the reader has left, EPIPE ends the work.
 */
import { writeSync } from 'node:fs';
import { AVERROR_EOF, AVMEDIA_TYPE_AUDIO, type AVSampleFormat } from 'node-av/constants';
import { Codec, CodecContext, FormatContext, Frame, InputFormat, Packet, type Stream } from 'node-av/lib';
import { RECOGNITION_RATE } from '../../contracts/audio.js';
import { check } from '../native.js';
import { Resampler } from '../resampler.js';

const STDOUT = 1;

/**
 * Decodes the first audio stream of the file to standard output; `demuxer` is FFmpeg's name of the container.
 * True if the file was read to its end; false if it broke off, after what could be decoded was written.
 */
export function decodeToStdout(file: string, demuxer: string): boolean {
  try {
    return decode(file, demuxer, new PcmWriter());
  } catch {
    return false;
  }
}

function decode(file: string, demuxer: string, writer: PcmWriter): boolean {
  const input = new FormatContext();
  check(input.openInputSync(file, InputFormat.findInputFormat(demuxer)), 'open');
  check(input.findStreamInfoSync(null), 'stream information');
  const stream = input.streams.find(({ codecpar }) => codecpar.codecType === AVMEDIA_TYPE_AUDIO);
  if (stream === undefined) return false;
  const decoder = openDecoder(stream);
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

/** Resamples frames and writes them; a change of rate, format or layout within the stream gets a new resampler. */
class PcmWriter {
  readonly #frame = new Frame();
  #resampler: Resampler | undefined;
  #shape = '';

  constructor() {
    this.#frame.alloc();
  }

  /** Writes the frames that the decoder has ready. */
  drain(decoder: CodecContext): void {
    while (decoder.receiveFrameSync(this.#frame) >= 0) {
      const planes = this.#frame.extendedData ?? this.#frame.data ?? [];
      writeAll(this.#resamplerOfFrame().push(planes, this.#frame.nbSamples));
      this.#frame.unref();
    }
  }

  finish(): void {
    if (this.#resampler) writeAll(this.#resampler.finish());
    this.#resampler?.free();
    this.#resampler = undefined;
  }

  #resamplerOfFrame(): Resampler {
    const { sampleRate: rate, channelLayout: layout } = this.#frame;
    const format = this.#frame.format as AVSampleFormat;
    const shape = `${rate} ${format} ${layout.nbChannels} ${layout.mask}`;
    if (this.#resampler && shape === this.#shape) return this.#resampler;
    this.finish();
    this.#shape = shape;
    return (this.#resampler = new Resampler({ rate, format, layout }, RECOGNITION_RATE));
  }
}

function writeAll(bytes: Buffer): void {
  for (let written = 0; written < bytes.length;) written += writeSync(STDOUT, bytes, written);
}
