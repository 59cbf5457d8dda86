/** The tone engines: text to tones and back, exactly. For tests and benchmarks; never a default. */
import { createTranscriber, type Transcriber } from '../../long-audio.js';
import { createToneStt, toneActivity } from './transcription.js';

export { createToneStt, toneActivity } from './transcription.js';
export { createToneSpeech } from './synthesis.js';

/** Decodes tones of any length, in this process. */
export const createToneTranscriber = (): Transcriber =>
  createTranscriber({ engine: createToneStt(), voiceActivity: toneActivity });
