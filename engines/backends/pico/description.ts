/** Capabilities and voices of SVOX Pico, as data: the gateway reads it without loading the program. */
import type { EngineVoice, TtsCapabilities } from '../../../contracts/ports/speech/tts.js';
import type { LanguageCode } from '../../../contracts/speech/languages.js';

export const PICO_RATE = 16_000;

const capabilities: TtsCapabilities = {
  languages: ['de', 'es', 'fr', 'it', 'en'],
  sampleRate: PICO_RATE,
  streaming: false,
  timing: 'word',
  cloning: false,
  speakers: false,
  // Its pauses keep their length whatever the pace, and a pace is markup, at which it adds one more.
  speed: false,
  styleTags: false,
};

interface PicoVoice extends EngineVoice {
  /** Its files of lingware: of text analysis, and of the voice's signal. */
  readonly files: readonly [string, string];
}

const voice = (name: string, signal: string, language: LanguageCode, title: string): PicoVoice => ({
  name,
  title: `Pico (${title})`,
  languages: [language],
  files: [`${name}_ta.bin`, `${name}_${signal}_sg.bin`],
});

/** One a language, but for English, whose default is another engine's. */
export const PICO_VOICES: readonly PicoVoice[] = [
  voice('de-DE', 'gl0', 'de', 'German'),
  voice('es-ES', 'zl0', 'es', 'Spanish'),
  voice('fr-FR', 'nk0', 'fr', 'French'),
  voice('it-IT', 'cm0', 'it', 'Italian'),
  voice('en-GB', 'kh0', 'en', 'British English'),
  voice('en-US', 'lh0', 'en', 'US English'),
];

export const picoDescription = {
  name: 'pico',
  capabilities,
  voices: PICO_VOICES.map(({ files: _files, ...shown }) => shown),
} as const;
