/** The tone engines: text to tones and back, exactly. For tests and benchmarks; never a default. */
import { createTranscriber, type Transcriber } from '../../long-audio.js';
import { createToneHearing, toneActivity } from './hearing.js';

export { createToneHearing, toneActivity } from './hearing.js';
export { createToneSpeech } from './speech.js';

/** Reads tones of any length back, in this process. */
export const createToneTranscriber = (): Transcriber =>
  createTranscriber({ engine: createToneHearing(), voiceActivity: toneActivity });
