/** How agents speak in calls. */
import { PLAYOUT_RATE } from '../../../contracts/audio.js';
import { ONLINE_TIMES } from '../../../contracts/limits/online-times.js';
import type { SpeechOptions } from '../../../contracts/ports/speech/speech.js';
import { DEFAULT_SYNTHESIS_MODEL } from '../../../contracts/speech/models.js';

/** The default voice, as people in a call hear it. */
export const CALL_SPEECH: SpeechOptions = {
  model: DEFAULT_SYNTHESIS_MODEL,
  voice: '',
  references: [],
  output: { format: 'pcm', sampleRate: PLAYOUT_RATE },
  latency: 'low',
  speed: 1,
  volume: 0,
  normalizeLoudness: false,
  // Pieces of this length begin soon and still sound whole.
  chunkLength: 200,
  sentenceMs: ONLINE_TIMES.sentenceMs,
  keepsRepeated: true,
  sampling: {},
};
