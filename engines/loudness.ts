/** How loud a request's speech is to be: speech of engines with a loudness of their own keeps it, unless the request asks. */
import type { LevelOptions } from '../contracts/audio.js';
import type { SpeechOptions } from '../contracts/ports/speech/speech.js';
import type { TtsCapabilities } from '../contracts/ports/speech/tts.js';

export const levelOf = (
  { ownLoudness }: Pick<TtsCapabilities, 'ownLoudness'>,
  { volume, normalizeLoudness = !ownLoudness }: Pick<SpeechOptions, 'volume' | 'normalizeLoudness'>,
): LevelOptions => ({ volume, normalizeLoudness });
