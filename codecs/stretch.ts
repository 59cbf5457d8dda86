/**
 * Changes the speed of audio without its pitch, for engines that cannot do so themselves (decision 4): FFmpeg's `atempo`
 * on 16-bit mono PCM of one rate. Native: child processes only; synchronous, the caller slices its input.
 * Invariants: the number of samples out is that of samples in divided by the speed, rounded; output follows input with a
 * delay of about 0.1 s; `free` is idempotent and must be called on every path.
 */
import { AV_CHANNEL_LAYOUT_MONO, AV_SAMPLE_FMT_S16 } from 'node-av/constants';
import { Filter, type FilterContext, FilterGraph, Frame } from 'node-av/lib';
import { BYTES_PER_SAMPLE } from '../contracts/audio.js';
import { check } from './native.js';

/** Wider than the range of any protocol (0.25 to 4); bounds the chain of filters. */
const MIN_SPEED = 1 / 16;
const MAX_SPEED = 16;
/** Silence after the end, which pushes the rest of the speech out of the filters' windows. */
const TAIL_SECONDS = 0.25;
/** Length of a frame; short, since the filters hold back the last one. */
const SLICE_SECONDS = 0.02;

export class TimeStretch {
  readonly #graph = new FilterGraph();
  readonly #output = new Frame();
  readonly #rate: number;
  readonly #speed: number;
  readonly #sliceBytes: number;
  #source: FilterContext;
  #sink: FilterContext;
  #samplesIn = 0;
  #samplesOut = 0;
  #freed = false;

  /** `rate` in Hz; `speed` above 1 is faster. */
  constructor(rate: number, speed: number) {
    if (!(speed >= MIN_SPEED && speed <= MAX_SPEED)) throw new RangeError(`speed ${speed}`);
    this.#rate = rate;
    this.#speed = speed;
    this.#sliceBytes = Math.ceil(rate * SLICE_SECONDS) * BYTES_PER_SAMPLE;
    try {
      this.#graph.alloc();
      // No filter here divides its work: FFmpeg's thread for each processor would cost more to start than a second of sound to stretch.
      this.#graph.nbThreads = 1;
      this.#output.alloc();
      [this.#source, this.#sink] = this.#open();
    } catch (error) {
      this.free();
      throw error;
    }
  }

  /** Returns the output that is ready, often none. */
  push(pcm: Buffer): Buffer {
    const pieces: Buffer[] = [];
    for (let start = 0; start < pcm.length; start += this.#sliceBytes) {
      const slice = pcm.subarray(start, start + this.#sliceBytes);
      this.#send(slice);
      this.#samplesIn += slice.length / BYTES_PER_SAMPLE;
      pieces.push(this.#drain());
    }
    return this.#counted(Buffer.concat(pieces));
  }

  /** Returns the rest. Call once, last. */
  finish(): Buffer {
    const left = Math.round(this.#samplesIn / this.#speed) - this.#samplesOut;
    const tailSamples = Math.ceil(this.#rate * TAIL_SECONDS);
    this.#send(Buffer.alloc(tailSamples * BYTES_PER_SAMPLE));
    check(this.#source.buffersrcAddFrameSync(null), 'stretching to the end');
    return this.#counted(this.#drain().subarray(0, Math.max(0, left) * BYTES_PER_SAMPLE));
  }

  free(): void {
    if (this.#freed) return;
    this.#freed = true;
    this.#output.free();
    this.#graph.free();
  }

  /**
   * Creates source, tempo filters and sink, which the graph owns and frees. One filter covers half to double speed
   * without skipping samples; a chain of equal ones covers more.
   */
  #open(): [source: FilterContext, sink: FilterContext] {
    const count = Math.max(1, Math.ceil(Math.abs(Math.log2(this.#speed))));
    const rate = this.#rate;
    const source = this.#filter(
      'abuffer',
      `time_base=1/${rate}:sample_rate=${rate}:sample_fmt=s16:channel_layout=mono`,
    );
    let last = source;
    for (let i = 0; i < count; i++)
      last = this.#filter('atempo', `tempo=${this.#speed ** (1 / count)}`, last);
    const sink = this.#filter('abuffersink', null, last);
    check(this.#graph.configSync(), 'stretching');
    return [source, sink];
  }

  #filter(kind: string, options: string | null, behind?: FilterContext): FilterContext {
    const filter = Filter.getByName(kind);
    const made = filter && this.#graph.createFilter(filter, `${kind} ${this.#graph.nbFilters}`, options);
    if (!made) throw new Error(`FFmpeg has no filter ${kind} with ${options}`);
    if (behind) check(behind.link(0, made, 0), `link to ${kind}`);
    return made;
  }

  #send(pcm: Buffer): void {
    const frame = Frame.fromAudioBuffer(pcm, {
      nbSamples: pcm.length / BYTES_PER_SAMPLE,
      pts: BigInt(this.#samplesIn),
      format: AV_SAMPLE_FMT_S16,
      sampleRate: this.#rate,
      channelLayout: AV_CHANNEL_LAYOUT_MONO,
    });
    try {
      check(this.#source.buffersrcAddFrameSync(frame), 'stretching');
    } finally {
      frame.free();
    }
  }

  /** Takes frames until the filters need more input or have ended; both return a negative code. */
  #drain(): Buffer {
    const pieces: Buffer[] = [];
    while (this.#sink.buffersinkGetFrameSync(this.#output) >= 0) {
      const [samples] = this.#output.data ?? [];
      if (samples) pieces.push(Buffer.from(samples.subarray(0, this.#output.nbSamples * BYTES_PER_SAMPLE)));
      this.#output.unref();
    }
    return Buffer.concat(pieces);
  }

  #counted(pcm: Buffer): Buffer {
    this.#samplesOut += pcm.length / BYTES_PER_SAMPLE;
    return pcm;
  }
}
