/** The speech of a simulated caller: with pauses inside sentences, at the same loudness for every voice. */
import { joinSamples, PLAYOUT_RATE, samplesOf } from '../../../../contracts/audio.js';
import { pausesIn, textsIn } from '../../../../contracts/speech/pauses.js';
import type { Caller } from '../../../../contracts/ports/accounts/identity.js';
import type { Speech, SpeechOptions } from '../../../../contracts/ports/speech/speech.js';
import { CALL_SPEECH } from '../../conversations/call-speech.js';

/** Fewest words of a line that can get a pause in its middle. */
const FEWEST_WORDS = 4;
/** RMS of 16-bit samples, some 23 dB below full scale. */
export const VOICE_RMS = 2300;
const AUDIBLE = 100;
const LOUD_RMS = 150;
const FRAME = PLAYOUT_RATE / 50;
const MOST_GAIN = 20;

export type LinePart = { readonly text: string } | { readonly pauseMs: number };

/** The words of a line, without its pauses. */
export const wordsOf = (line: string): string => textsIn(line).join(' ').replace(/\s+/g, ' ').trim();

/** Adds a pause in the middle of a line without any. */
function withPause(line: string, pauseMs: number): string {
  const words = line.trim().split(/\s+/);
  if (pauseMs === 0 || words.length < FEWEST_WORDS || pausesIn(line).length > 0) return line;
  const middle = Math.ceil(words.length / 2);
  return [...words.slice(0, middle), `<break time="${pauseMs}ms"/>`, ...words.slice(middle)].join(' ');
}

/** The parts of a line in order; `pauseMs`: a pause for the middle of a line without any. */
export function partsOf(line: string, pauseMs: number): readonly LinePart[] {
  const paused = withPause(line, pauseMs);
  const pauses = pausesIn(paused);
  return textsIn(paused)
    .flatMap((text, index): LinePart[] => [{ text: text.trim() }, { pauseMs: pauses[index] ?? 0 }])
    .filter((part) => ('text' in part ? part.text !== '' : part.pauseMs > 0));
}

/** Cuts the silence around the speech. */
function trimmed(samples: Int16Array): Int16Array {
  const isSound = (sample: number): boolean => Math.abs(sample) > AUDIBLE;
  const from = samples.findIndex(isSound);
  return from < 0 ? new Int16Array(0) : samples.subarray(from, samples.findLastIndex(isSound) + 1);
}

/** Scales the speech to the loudness of all callers; clips samples beyond the range. */
function levelled(samples: Int16Array): Int16Array {
  let [energy, frames] = [0, 0];
  for (let at = 0; at < samples.length; at += FRAME) {
    const frame = samples.subarray(at, at + FRAME);
    const power = frame.reduce((sum, sample) => sum + sample * sample, 0) / frame.length;
    if (power > LOUD_RMS * LOUD_RMS) [energy, frames] = [energy + power, frames + 1];
  }
  const gain = frames === 0 ? 1 : Math.min(MOST_GAIN, VOICE_RMS / Math.sqrt(energy / frames));
  return samples.map((sample) => Math.max(-32_768, Math.min(32_767, sample * gain)));
}

export interface SimulatedVoice {
  readonly voiceId: string;
  readonly language: SpeechOptions['likelyLanguage'];
  readonly pauseMs: number;
}

export interface SimulatedVoiceParts {
  readonly speech: Pick<Speech, 'synthesize'>;
  readonly caller: Caller;
}

/** 16-bit mono at PLAYOUT_RATE. Errors: those of synthesis. */
export async function spoken(
  line: string,
  { voiceId, language, pauseMs }: SimulatedVoice,
  { speech, caller }: SimulatedVoiceParts,
  signal: AbortSignal,
): Promise<Int16Array> {
  const options = { ...CALL_SPEECH, voice: voiceId, ...(language && { likelyLanguage: language }) };
  const sounds: Int16Array[] = [];
  for (const part of partsOf(line, pauseMs)) {
    if ('pauseMs' in part) sounds.push(new Int16Array(Math.round((part.pauseMs * PLAYOUT_RATE) / 1000)));
    else {
      const chunks: Uint8Array[] = [];
      for await (const chunk of speech.synthesize({ ...options, text: part.text }, caller, signal))
        chunks.push(chunk);
      sounds.push(levelled(trimmed(samplesOf(Buffer.concat(chunks)))));
    }
  }
  return joinSamples(sounds);
}
