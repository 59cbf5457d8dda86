/**
 * Resamples to 16-bit samples, mono or the channels as they are, with libswresample. Native: child processes only.
 * Invariants: no sample is lost, since `finish` returns what the filter still holds; `free` is idempotent and
 * must be called on every path.
 */
import { AV_CHANNEL_LAYOUT_MONO, type AVSampleFormat, AV_SAMPLE_FMT_S16 } from 'node-av/constants';
import { type ChannelLayout, SoftwareResampleContext } from 'node-av/lib';
import { BYTES_PER_SAMPLE } from '../contracts/audio.js';
import { check } from './native.js';

export interface ResamplerInput {
  /** Hz */
  readonly rate: number;
  readonly format: AVSampleFormat;
  readonly layout: ChannelLayout;
}

export class Resampler {
  readonly #context = new SoftwareResampleContext();
  readonly #sampleBytes: number;

  /** `outputLayout`: default mono. */
  constructor(
    input: ResamplerInput,
    outputRate: number,
    outputLayout: ChannelLayout = AV_CHANNEL_LAYOUT_MONO,
  ) {
    this.#sampleBytes = outputLayout.nbChannels * BYTES_PER_SAMPLE;
    const { rate, format, layout } = input;
    try {
      check(
        this.#context.allocSetOpts2(outputLayout, AV_SAMPLE_FMT_S16, outputRate, layout, format, rate),
        'resampler options',
      );
      check(this.#context.init(), 'resampler');
    } catch (error) {
      this.free();
      throw error;
    }
  }

  static mono(inputRate: number, outputRate: number): Resampler {
    return new Resampler(
      { rate: inputRate, format: AV_SAMPLE_FMT_S16, layout: AV_CHANNEL_LAYOUT_MONO },
      outputRate,
    );
  }

  /** Takes `count` samples per channel in `planes`; returns interleaved 16-bit samples. */
  push(planes: Buffer[], count: number): Buffer {
    return this.#convert(planes, count);
  }

  /** Returns the rest. Call once, last. */
  finish(): Buffer {
    return this.#convert(null, 0);
  }

  free(): void {
    this.#context.free();
  }

  #convert(planes: Buffer[] | null, count: number): Buffer {
    const room = this.#context.getOutSamples(count);
    if (room <= 0) return Buffer.alloc(0);
    const output = Buffer.allocUnsafeSlow(room * this.#sampleBytes);
    const written = check(this.#context.convertSync([output], room, planes, count), 'resampling');
    return output.subarray(0, written * this.#sampleBytes);
  }
}
