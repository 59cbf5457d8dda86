/**
 * A sink encodes 16-bit mono PCM of one rate into one format, as far as the input so far allows.
 * Native: child processes only. Everything here is synchronous; the caller slices its input.
 * Invariant: `free` must be called once on every path, also after an error.
 */
import type { AudioFormat, OutputFormat } from '../../contracts/audio.js';
import { DEFAULT_MP3_BITRATE } from '../formats.js';
import { Resampler } from '../resampler.js';
import { TimeStretch } from '../stretch.js';
import { type OutputContainer, OggPages, RawPackets } from './containers.js';
import { type EncoderSettings, FrameEncoder } from './frame-encoder.js';

export interface Sink {
  /** Takes PCM and returns the bytes that are ready, often none. */
  push(pcm: Buffer): Buffer;
  /** Returns the rest. Call once, last. */
  finish(): Buffer;
  free(): void;
}

/** Opens a sink for PCM at `rate` Hz; `speed` is the tempo factor. */
export function openSink(rate: number, output: OutputFormat, speed = 1): Sink {
  const sink = SINKS[output.format](output);
  const atRate =
    rate === output.sampleRate ? sink : staged(() => Resampler.mono(rate, output.sampleRate), pushMono, sink);
  return speed === 1 ? atRate : staged(() => new TimeStretch(rate, speed), pushPcm, atRate);
}

/** MP3 is raw packets, without ID3, Xing or LAME frames, so that a stream may be cut and joined anywhere. */
const SINKS: Record<AudioFormat, (output: OutputFormat) => Sink> = {
  mp3: ({ sampleRate: rate, mp3Bitrate = DEFAULT_MP3_BITRATE }) =>
    encoded({ codec: 'mp3', rate, bitrate: mp3Bitrate * 1000 }, () => new RawPackets()),
  opus: ({ sampleRate: rate, opusBitrate }) =>
    encoded({ codec: 'opus', rate, bitrate: opusBitrate }, (encoder) => new OggPages(encoder)),
  pcm: () => RAW,
  wav: () => RAW,
};

/** Passes PCM through. The caller writes the WAV header, since it knows when the first audio leaves. */
const RAW: Sink = { push: (pcm) => pcm, finish: () => Buffer.alloc(0), free: () => {} };

function encoded(settings: EncoderSettings, open: (encoder: FrameEncoder) => OutputContainer): Sink {
  const encoder = new FrameEncoder(settings);
  const container = orFree(encoder, () => open(encoder));
  return {
    push(pcm) {
      encoder.push(pcm, (packet) => container.write(packet));
      return container.take();
    },
    finish() {
      encoder.finish((packet) => container.write(packet));
      container.finish();
      return container.take();
    },
    free() {
      container.free();
      encoder.free();
    },
  };
}

/** A step before the sink: resampling or time-stretching. */
interface Stage {
  finish(): Buffer;
  free(): void;
}

const pushMono = (resampler: Resampler, pcm: Buffer): Buffer => resampler.push([pcm], pcm.length >> 1);
const pushPcm = (stretch: TimeStretch, pcm: Buffer): Buffer => stretch.push(pcm);

/** Puts the stage that `open` returns before the sink. */
function staged<S extends Stage>(open: () => S, push: (stage: S, pcm: Buffer) => Buffer, sink: Sink): Sink {
  const stage = orFree(sink, open);
  return {
    push: (pcm) => sink.push(push(stage, pcm)),
    finish: () => Buffer.concat([sink.push(stage.finish()), sink.finish()]),
    free() {
      stage.free();
      sink.free();
    },
  };
}

/** Calls `open`, and frees `owner` if it throws. */
function orFree<T>(owner: { free(): void }, open: () => T): T {
  try {
    return open();
  } catch (error) {
    owner.free();
    throw error;
  }
}
