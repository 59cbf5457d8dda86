/**
 * Runs one of FFmpeg's audio encoders on 16-bit mono PCM in chunks of any size. Native: child processes only.
 * Invariants: the encoder gets frames of exactly its frame size, except that the last may be shorter; packets
 * are passed synchronously and are valid only during that call; `free` is idempotent.
 */
import {
  type AVSampleFormat,
  type FFEncoderCodec,
  AV_CHANNEL_LAYOUT_MONO,
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_SAMPLE_FMT_S16,
  AV_SAMPLE_FMT_S16P,
  FF_ENCODER_LIBMP3LAME,
  FF_ENCODER_LIBOPUS,
} from 'node-av/constants';
import { Codec, CodecContext, Frame, Packet, Rational } from 'node-av/lib';
import { BYTES_PER_SAMPLE } from '../../contracts/audio.js';
import { check } from '../native.js';

/** Each encoder with its 16-bit sample format; in mono, planar and interleaved are the same bytes. */
const ENCODERS = {
  mp3: { name: FF_ENCODER_LIBMP3LAME, format: AV_SAMPLE_FMT_S16P },
  opus: { name: FF_ENCODER_LIBOPUS, format: AV_SAMPLE_FMT_S16 },
} as const;

export interface EncoderSettings {
  readonly codec: keyof typeof ENCODERS;
  /** Hz */
  readonly rate: number;
  /** bit/s; undefined: chosen by the encoder */
  readonly bitrate: number | undefined;
}

export class FrameEncoder {
  readonly context = new CodecContext();
  readonly rate: number;
  readonly #format: AVSampleFormat;
  readonly #packet = new Packet();
  /** Filled again for each frame: a new frame each time takes a twelfth of the time of encoding. */
  readonly #frame = new Frame();
  readonly #frameBytes: number;
  #pending: Buffer = Buffer.alloc(0);
  #samplesSent = 0n;

  constructor({ codec, rate, bitrate }: EncoderSettings) {
    const { name, format } = ENCODERS[codec];
    this.rate = rate;
    this.#format = format;
    try {
      this.#packet.alloc();
      this.#open(name, bitrate);
      this.#allocateFrame();
    } catch (error) {
      this.free();
      throw error;
    }
    this.#frameBytes = this.context.frameSize * BYTES_PER_SAMPLE;
  }

  /** Encodes all complete frames so far. */
  push(pcm: Buffer, take: (packet: Packet) => void): void {
    const bytes = this.#pending.length === 0 ? pcm : Buffer.concat([this.#pending, pcm]);
    let start = 0;
    for (; start + this.#frameBytes <= bytes.length; start += this.#frameBytes) {
      this.#encode(bytes.subarray(start, start + this.#frameBytes), take);
    }
    this.#pending = Buffer.from(bytes.subarray(start));
  }

  /** Encodes the rest and flushes the encoder. Call once, last. */
  finish(take: (packet: Packet) => void): void {
    if (this.#pending.length > 0) this.#encode(this.#pending, take);
    check(this.context.sendFrameSync(null), 'encoder flush');
    this.#drain(take);
  }

  free(): void {
    this.#frame.free();
    this.#packet.free();
    this.context.freeContext();
  }

  #open(name: FFEncoderCodec, bitrate: number | undefined): void {
    const codec = Codec.findEncoderByName(name);
    this.context.allocContext3(codec);
    this.context.sampleRate = this.rate;
    this.context.sampleFormat = this.#format;
    this.context.channelLayout = AV_CHANNEL_LAYOUT_MONO;
    this.context.timeBase = new Rational(1, this.rate);
    this.context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
    if (bitrate !== undefined) this.context.bitRate = BigInt(bitrate);
    check(this.context.open2Sync(codec, null), `encoder ${name}`);
  }

  #allocateFrame(): void {
    this.#frame.alloc();
    this.#frame.nbSamples = this.context.frameSize;
    this.#frame.format = this.#format;
    this.#frame.sampleRate = this.rate;
    this.#frame.channelLayout = AV_CHANNEL_LAYOUT_MONO;
    check(this.#frame.getBuffer(), 'frame');
  }

  /** At most a whole frame; less only at the end. */
  #encode(pcm: Buffer, take: (packet: Packet) => void): void {
    const samples = pcm.length / BYTES_PER_SAMPLE;
    // Copies the frame if the encoder still holds the last one.
    check(this.#frame.makeWritable(), 'frame');
    this.#frame.nbSamples = samples;
    this.#frame.pts = this.#samplesSent;
    this.#samplesSent += BigInt(samples);
    check(this.#frame.fromBuffer(pcm), 'frame');
    check(this.context.sendFrameSync(this.#frame), 'encoding');
    this.#drain(take);
  }

  /** Takes packets until the encoder needs more input or has ended; both return a negative code. */
  #drain(take: (packet: Packet) => void): void {
    while (this.context.receivePacketSync(this.#packet) >= 0) {
      take(this.#packet);
      this.#packet.unref();
    }
  }
}
