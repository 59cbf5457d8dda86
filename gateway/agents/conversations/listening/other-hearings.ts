/**
 * The same voice in other forms, for a recogniser that has not heard in it what was asked for: a small one that fails at a spelled name or
 * an address at one pace, and with silence around it, often hears it a little faster, or without the silence.
 */
import { bytesOf, joinSamples, RECOGNITION_RATE, samplesOf } from '../../../../contracts/audio.js';
import { voicedPart } from './voiced-part.js';

/** How much faster: an eighth, which also raises the voice by two semitones. */
const FASTER = 1.125;
/** Longest voice that is heard again, and the shortest in which there can be a spelling. */
const MOST = 12 * RECOGNITION_RATE;
const LEAST = 0.6 * RECOGNITION_RATE;

/** By straight lines between the samples: what is above speech is no matter here. */
function faster(samples: Int16Array): Int16Array {
  const length = Math.floor((samples.length - 1) / FASTER);
  return Int16Array.from({ length }, (_, at) => {
    const place = at * FASTER;
    const before = Math.floor(place);
    const [one, other] = [samples[before] ?? 0, samples[before + 1] ?? 0];
    return Math.round(one + (place - before) * (other - one));
  });
}

/** Audio of 16 kHz PCM in chunks; none if it is too long or too short to be worth it. */
export function otherHearings(chunks: readonly Uint8Array[]): readonly Uint8Array[] {
  const whole = joinSamples(chunks.map(samplesOf));
  if (whole.length > MOST || whole.length < LEAST) return [];
  const voiced = voicedPart(chunks);
  return [bytesOf(faster(whole)), ...(voiced ? [voiced] : [])];
}
