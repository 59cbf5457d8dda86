/**
 * A sink turns 16-bit mono PCM of one rate into the bytes of one format, as far as it gets with what it
 * has. Native: child processes only. Everything here is synchronous; the caller slices its input.
 * Invariant: `free` must be called once on every path, whatever threw before.
 */
import type { AudioFormat, OutputFormat } from '../../contracts/audio.js';
import { DEFAULT_MP3_BITRATE } from '../formats.js';
import { Resampler } from '../resampler.js';
import { type Container, OggPages, RawPackets } from './containers.js';
import { type EncoderSettings, FrameEncoder } from './frame-encoder.js';

export interface Sink {
  /** Takes PCM and gives what is ready, often nothing. */
  push(pcm: Buffer): Buffer;
  /** The rest. Call once, last. */
  finish(): Buffer;
  free(): void;
}

/** Opens the sink for PCM at `rate` Hz. */
export function openSink(rate: number, output: OutputFormat): Sink {
  const sink = SINKS[output.format](output);
  return rate === output.sampleRate ? sink : resampled(rate, output.sampleRate, sink);
}

/** Raw MP3 packets, without ID3 and Xing or LAME frames: a stream may be cut and joined anywhere. */
const SINKS: Record<AudioFormat, (output: OutputFormat) => Sink> = {
  mp3: ({ sampleRate: rate, mp3Bitrate = DEFAULT_MP3_BITRATE }) =>
    encoded({ codec: 'mp3', rate, bitrate: mp3Bitrate * 1000 }, () => new RawPackets()),
  opus: ({ sampleRate: rate, opusBitrate }) =>
    encoded({ codec: 'opus', rate, bitrate: opusBitrate }, (encoder) => new OggPages(encoder)),
  pcm: () => RAW,
  wav: () => RAW,
};

/** The WAV header is put in front by the caller, who knows when the first audio leaves. */
const RAW: Sink = { push: (pcm) => pcm, finish: () => Buffer.alloc(0), free: () => {} };

function encoded(settings: EncoderSettings, open: (encoder: FrameEncoder) => Container): Sink {
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

function resampled(inputRate: number, outputRate: number, sink: Sink): Sink {
  const resampler = orFree(sink, () => Resampler.mono(inputRate, outputRate));
  return {
    push: (pcm) => sink.push(resampler.push([pcm], pcm.length >> 1)),
    finish: () => Buffer.concat([sink.push(resampler.finish()), sink.finish()]),
    free() {
      resampler.free();
      sink.free();
    },
  };
}

/** What `open` gives; frees `owner` where it throws. */
function orFree<T>(owner: { free(): void }, open: () => T): T {
  try {
    return open();
  } catch (error) {
    owner.free();
    throw error;
  }
}
