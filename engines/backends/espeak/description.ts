/** Capabilities and voices of eSpeak NG, as data: the gateway reads it without loading the program. */
import type { Language } from '../../../contracts/speech/languages.js';
import type { EngineVoice, TtsCapabilities } from '../../../contracts/ports/speech/tts.js';

export const ESPEAK_RATE = 22_050;

/** The program itself speaks at half to twice its pace; time-stretching covers the rest of the range. */
export const ESPEAK_SPEED = { min: 0.5, max: 2 } as const;

const capabilities: TtsCapabilities = {
  languages: ['en', 'ja', 'zh', 'ko', 'es', 'fr', 'de'],
  sampleRate: ESPEAK_RATE,
  streaming: true,
  timing: 'word',
  cloning: false,
  speakers: false,
  speed: true,
  speedRange: ESPEAK_SPEED,
  styleTags: false,
};

const voice = (name: string, language: Language, title: string): EngineVoice => ({
  name,
  title,
  languages: [language],
});

/** The first of a language is its default. */
const voices: readonly EngineVoice[] = [
  voice('en-us', 'en', 'eSpeak (US English)'),
  voice('en-gb', 'en', 'eSpeak (British English)'),
  voice('ja', 'ja', 'eSpeak (Japanese)'),
  voice('cmn', 'zh', 'eSpeak (Mandarin)'),
  voice('ko', 'ko', 'eSpeak (Korean)'),
  voice('es', 'es', 'eSpeak (Spanish)'),
  voice('es-419', 'es', 'eSpeak (Latin American Spanish)'),
  voice('fr-fr', 'fr', 'eSpeak (French)'),
  voice('de', 'de', 'eSpeak (German)'),
];

export const espeakDescription = { name: 'espeak', capabilities, voices } as const;

/** The program, and its data in one file. */
export const ESPEAK_DATA_PACKAGE = '@echogarden/espeak-ng-emscripten';

/** GPL-3, therefore optional, and loaded only in the espeak child. */
export const ESPEAK_PACKAGES = [ESPEAK_DATA_PACKAGE, 'kuromoji'] as const;
