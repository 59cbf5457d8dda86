/**
 * Mixes the channels of a recording to one, so that each of them is heard wherever it stands. The matrices that decoders apply
 * leave out what they take for a subwoofer, and opposite phases cancel each other.
 *
 * Rule, for each window: all channels in equal parts. A mix that is much quieter than the loudest channel, since most others are
 * silent, is raised, at most to that channel's level. Where the channels cancel each other, the loudest one is taken alone.
 * Different thresholds for there and back keep the choice steady, and changes are faded. Memory: one window.
 */
import { RECOGNITION_RATE } from '../../contracts/audio.js';

const WINDOW_SAMPLES = RECOGNITION_RATE / 2;
const FADE_SAMPLES = RECOGNITION_RATE / 100;

/** A pair of energy ratios: below the first a state begins, above the second it ends. */
interface Thresholds {
  readonly begins: number;
  readonly ends: number;
}

const decibels = (value: number): number => 10 ** (value / 10);
/** The mix against what unrelated channels would add up to. */
const CANCELLED: Thresholds = { begins: decibels(-9), ends: decibels(-3) };
/** The mix against the loudest channel; one of two channels alone, 6 dB, is not raised. */
const QUIET: Thresholds = { begins: decibels(-9), ends: decibels(-7) };
/** By how much another channel must be louder than the one that is taken alone. */
const CLEARLY_LOUDER = decibels(3);

/** Sums of squares over one window. */
export interface WindowLevels {
  readonly channels: Float64Array;
  /** Of the mean of all channels. */
  readonly mix: number;
}

/** What is heard: one channel, or the mix of all with a gain. */
export interface MixChoice {
  readonly alone: number | undefined;
  readonly gain: number;
}

export const EQUAL_MIX: MixChoice = { alone: undefined, gain: 1 };

const holds = (ratio: number, { begins, ends }: Thresholds, already: boolean): boolean =>
  ratio < (already ? ends : begins);

function loudestOf(levels: Float64Array, { alone }: MixChoice): number {
  const loudest = levels.indexOf(Math.max(...levels));
  const isKept = alone !== undefined && (levels[loudest] ?? 0) < (levels[alone] ?? 0) * CLEARLY_LOUDER;
  return isKept ? alone : loudest;
}

/** The choice for a window, after that of the window before; silence changes nothing. */
export function mixChoice({ channels, mix }: WindowLevels, before: MixChoice): MixChoice {
  const count = channels.length;
  const sum = channels.reduce((total, level) => total + level, 0);
  if (sum === 0) return before;
  const unrelated = sum / count ** 2;
  if (holds(mix / unrelated, CANCELLED, before.alone !== undefined))
    return { alone: loudestOf(channels, before), gain: 1 };
  const loudest = Math.max(...channels);
  const isQuiet = holds(mix / loudest, QUIET, before.gain > 1);
  return { alone: undefined, gain: isQuiet ? Math.min(count, Math.sqrt(loudest / mix)) : 1 };
}

function levelsOf(samples: Int16Array, count: number): WindowLevels {
  const channels = new Float64Array(count);
  let mix = 0;
  for (let at = 0; at < samples.length; at += count) {
    let sum = 0;
    for (let channel = 0; channel < count; channel += 1) {
      const sample = samples[at + channel] ?? 0;
      sum += sample;
      channels[channel] = (channels[channel] ?? 0) + sample * sample;
    }
    mix += (sum / count) ** 2;
  }
  return { channels, mix };
}

const weightsOf = ({ alone, gain }: MixChoice, count: number): Float64Array =>
  Float64Array.from({ length: count }, (_, channel) => {
    if (alone === undefined) return gain / count;
    return channel === alone ? 1 : 0;
  });

const saturated = (value: number): number => Math.max(-32_768, Math.min(32_767, Math.round(value)));

/** The mix of a window, faded from the weights `from` to `to` in its first samples. */
function mixed(samples: Int16Array, from: Float64Array, to: Float64Array): Int16Array {
  const count = to.length;
  return Int16Array.from({ length: samples.length / count }, (_, index) => {
    const share = Math.min(1, index / FADE_SAMPLES);
    let value = 0;
    for (let channel = 0; channel < count; channel += 1) {
      const [before = 0, after = 0] = [from[channel], to[channel]];
      value += (samples[index * count + channel] ?? 0) * (before + (after - before) * share);
    }
    return saturated(value);
  });
}

/** Mixes interleaved samples of `count` channels at the recognisers' rate; an unfinished frame at the end is left out. */
export async function* mixDown(pieces: AsyncIterable<Int16Array>, count: number): AsyncGenerator<Int16Array> {
  if (count === 1) return yield* pieces;
  const window = new Int16Array(WINDOW_SAMPLES * count);
  let filled = 0;
  let choice: MixChoice | undefined;
  function mix(samples: Int16Array): Int16Array {
    const next = mixChoice(levelsOf(samples, count), choice ?? EQUAL_MIX);
    const to = weightsOf(next, count);
    const from = choice ? weightsOf(choice, count) : to;
    choice = next;
    return mixed(samples, from, to);
  }
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length;) {
      const part = piece.subarray(at, at + window.length - filled);
      window.set(part, filled);
      at += part.length;
      filled += part.length;
      if (filled < window.length) continue;
      yield mix(window);
      filled = 0;
    }
  }
  const whole = filled - (filled % count);
  if (whole > 0) yield mix(window.subarray(0, whole));
}
