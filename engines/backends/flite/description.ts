/** Capabilities and voices of Flite, as data: the gateway reads it without loading the program. */
import type { EngineVoice, TtsCapabilities } from '../../../contracts/ports/speech/tts.js';

export const FLITE_RATE = 16_000;

const capabilities: TtsCapabilities = {
  languages: ['en'],
  sampleRate: FLITE_RATE,
  streaming: false,
  timing: 'word',
  cloning: false,
  speakers: false,
  speed: true,
  styleTags: false,
};

const english = (name: string, title: string): EngineVoice => ({ name, title, languages: ['en'] });

/**
 * The first is the default: it is the most intelligible (docs/engines.md "How well the voices are understood"), and it
 * speaks faster than rms. Left out: `awb_time`, a talking clock, and `kal`, which has 8 kHz.
 */
const voices: readonly EngineVoice[] = [
  english('slt', 'Susan (US English)'),
  english('rms', 'Robert (US English)'),
  english('awb', 'Alan (Scottish English)'),
  english('kal16', 'Kevin (US English, robotic)'),
];

export const fliteDescription = { name: 'flite', capabilities, voices } as const;
