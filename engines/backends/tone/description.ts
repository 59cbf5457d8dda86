/** Capabilities of the tone engines, as data. For tests and benchmarks; never a default. */
import { LANGUAGES } from '../../../contracts/speech/languages.js';
import type { SttCapabilities } from '../../../contracts/ports/speech/stt.js';
import type { EngineVoice, TtsCapabilities } from '../../../contracts/ports/speech/tts.js';

export const TONE_RATE = 16_000;

const speaking: TtsCapabilities = {
  languages: LANGUAGES,
  anyScript: true,
  sampleRate: TONE_RATE,
  streaming: true,
  timing: 'word',
  cloning: false,
  speakers: false,
  speed: false,
  styleTags: false,
};

const voices: readonly EngineVoice[] = [{ name: 'tone', title: 'Tone (for tests)', languages: LANGUAGES }];

const transcription: SttCapabilities = { languages: 'any', maxPieceSeconds: 120, words: true };

export const toneSpeechDescription = { name: 'tone', capabilities: speaking, voices } as const;
export const toneSttDescription = { name: 'tone', capabilities: transcription } as const;
