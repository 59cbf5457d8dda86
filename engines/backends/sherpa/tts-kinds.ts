/**
 * The kinds of synthesis models that sherpa-onnx runs, as a table: how a folder of the kind is recognised and
 * opened, and its speakers. A new kind is a row. Piper's voices are of the kind `vits`.
 */
import type { OfflineTtsConfig } from 'sherpa-onnx-node';
import { LANGUAGE_CODES, type LanguageCode } from '../../../contracts/speech/languages.js';
import type { EngineVoice } from '../../../contracts/ports/speech/tts.js';
import type { TtsDescription } from '../../child-engines.js';
import { type ModelFolder, SHERPA } from './folder.js';

type Metadata = ReadonlyMap<string, string>;
type ModelConfig = OfflineTtsConfig['model'];

interface Kind {
  /** Fits `model_type` in the model's metadata. */
  readonly types: RegExp;
  config(folder: ModelFolder): Pick<ModelConfig, 'kokoro' | 'kitten' | 'matcha' | 'vits'>;
  /** The speaker's languages; a speaker without any is left out. Absent: those of the model. */
  languagesOf?(speaker: string, folder: ModelFolder): readonly LanguageCode[];
  /** eSpeak's name of the language that a speaker is asked with; absent: the model needs none. */
  langOf?(speaker: string, folder: ModelFolder): string | undefined;
}

export interface SherpaTts {
  readonly description: TtsDescription;
  /** The model's number of each voice. */
  readonly speakers: ReadonlyMap<string, number>;
  readonly model: ModelConfig;
  /** eSpeak's name of the language that the model is asked with for a voice; undefined: it needs none. */
  langOf(voice: string): string | undefined;
}

const MODEL = /^(?!.*(vocos|hifigan|vocoder)).*\.onnx$/;
const VOCODER = /^(vocos|hifigan|vocoder).*\.onnx$/;
const MOST_SPEAKERS = 2000;
const DEFAULT_RATE = 22_050;

const tokens = (folder: ModelFolder) => folder.file(/^tokens\.txt$/, 'tokens.txt');
const dataDir = (folder: ModelFolder) => folder.find(/^espeak-ng-data$/) ?? '';
const lexicon = (folder: ModelFolder) => folder.files(/^lexicon.*\.txt$/).join(',');
const model = (folder: ModelFolder) => folder.file(MODEL, 'model (*.onnx)');
const voices = (folder: ModelFolder) => folder.file(/^voices\.bin$/, 'voices.bin');

/**
 * Languages of Kokoro that eSpeak pronounces, by the letter that its speakers begin with, and eSpeak's voice for each: the name of
 * its file, the only one that the runtime finds it by. English is left to a lexicon where there is one. It speaks no Japanese.
 */
const KOKORO_BY_ESPEAK: Readonly<Record<string, { readonly code: LanguageCode; readonly lang: string }>> = {
  a: { code: 'en', lang: 'en-us' },
  b: { code: 'en', lang: 'en' },
  e: { code: 'es', lang: 'es' },
  f: { code: 'fr', lang: 'fr' },
  h: { code: 'hi', lang: 'hi' },
  i: { code: 'it', lang: 'it' },
  p: { code: 'pt', lang: 'pt-br' },
};

const englishLexicon = (folder: ModelFolder) => folder.find(/^lexicon-us-en\.txt$/);
const isEnglish = (speaker: string) => /^[ab][fm]?(_|$)/.test(speaker);

const kokoroByEspeak = (speaker: string, folder: ModelFolder) =>
  /^.[fm]_/.test(speaker) && dataDir(folder) !== '' ? KOKORO_BY_ESPEAK[speaker[0] ?? ''] : undefined;

/** Kokoro's speakers begin with the letter of their language. */
function kokoroLanguages(speaker: string, folder: ModelFolder): readonly LanguageCode[] {
  if (isEnglish(speaker)) return ['en'];
  const other = kokoroByEspeak(speaker, folder);
  if (other) return [other.code];
  return /^z[fm]_/.test(speaker) && folder.find(/^lexicon-zh\.txt$/) ? ['zh'] : [];
}

function kokoroLang(speaker: string, folder: ModelFolder): string | undefined {
  if (isEnglish(speaker) && englishLexicon(folder)) return undefined;
  return kokoroByEspeak(speaker, folder)?.lang;
}

const KINDS: readonly Kind[] = [
  {
    types: /^kokoro/,
    config: (folder) => ({
      kokoro: {
        model: model(folder),
        voices: voices(folder),
        tokens: tokens(folder),
        dataDir: dataDir(folder),
        lexicon: folder.files(/^lexicon-(us-en|zh)\.txt$/).join(','),
        // Without a lexicon the runtime ends the process unless it is opened with a language.
        ...(englishLexicon(folder) ? {} : { lang: 'en-us' }),
      },
    }),
    languagesOf: kokoroLanguages,
    langOf: kokoroLang,
  },
  {
    types: /^kitten/,
    config: (folder) => ({
      kitten: {
        model: model(folder),
        voices: voices(folder),
        tokens: tokens(folder),
        dataDir: dataDir(folder),
      },
    }),
    languagesOf: () => ['en'],
  },
  {
    types: /^matcha/,
    config: (folder) => ({
      matcha: {
        acousticModel: model(folder),
        vocoder: folder.file(VOCODER, 'vocoder (vocos*.onnx or hifigan*.onnx) beside its model'),
        tokens: tokens(folder),
        dataDir: dataDir(folder),
        lexicon: lexicon(folder),
      },
    }),
  },
  {
    types: /^(vits|piper|melo)/,
    config: (folder) => ({
      vits: {
        model: model(folder),
        tokens: tokens(folder),
        dataDir: dataDir(folder),
        lexicon: lexicon(folder),
      },
    }),
  },
];

let names: Intl.DisplayNames | undefined;
/** Made at its first use: the runtime takes 10 ms to load its names of languages. */
const nameOf = (code: string): string | undefined =>
  (names ??= new Intl.DisplayNames('en', { type: 'language' })).of(code);

/** Languages named in the metadata by words like `en-us`, `cmn`, `ru`, `English`, `Chinese+English`. */
function languagesIn(metadata: Metadata): readonly LanguageCode[] {
  const code = metadata.get('voice')?.split('-')[0] ?? '';
  if (code === 'cmn') return ['zh'];
  if (LANGUAGE_CODES.includes(code)) return [code];
  const told = metadata.get('language')?.toLowerCase() ?? '';
  const words = told.split(/[^a-z]+/);
  return LANGUAGE_CODES.filter(
    (language) => told === language || words.includes(nameOf(language)?.toLowerCase() ?? language),
  );
}

/** What people see, in the file beside a Piper voice. */
interface PiperWords {
  readonly speaker_id_map?: Readonly<Record<string, number>>;
  /** Its recordings; most have the speaker's name. */
  readonly dataset?: string;
  readonly language?: { readonly name_english?: string; readonly country_english?: string };
}

const piperWords = (folder: ModelFolder): PiperWords => folder.json(/\.onnx\.json$/) ?? {};

/** `Joe (English, United States)`; undefined if the voice has no file that tells. */
function piperTitle(folder: ModelFolder): string | undefined {
  const { dataset, language } = piperWords(folder);
  if (typeof dataset !== 'string' || dataset === '') return undefined;
  const name = dataset[0]!.toUpperCase() + dataset.slice(1).replaceAll('_', ' ');
  const spoken = [language?.name_english, language?.country_english].filter(Boolean).join(', ');
  return spoken === '' ? name : `${name} (${spoken})`;
}

/** The names of a Piper voice's speakers. */
function piperSpeakers(folder: ModelFolder): readonly string[] {
  const { speaker_id_map: map } = piperWords(folder);
  const entries = Object.entries(map ?? {});
  return entries.sort(([, one], [, other]) => one - other).map(([name]) => name);
}

function speakersOf(folder: ModelFolder, metadata: Metadata): readonly string[] {
  const count = Math.min(MOST_SPEAKERS, Math.max(1, Number(metadata.get('n_speakers')) || 1));
  const told = metadata.get('speaker_names')?.split(',') ?? piperSpeakers(folder);
  if (told.length === count) return told;
  return count === 1 ? [folder.name] : Array.from({ length: count }, (_, sid) => String(sid));
}

/** A voice for each speaker whose languages are known. */
function voicesOf(
  folder: ModelFolder,
  speakers: readonly string[],
  known: readonly LanguageCode[],
  { languagesOf }: Kind,
): readonly EngineVoice[] {
  const title = speakers.length === 1 ? piperTitle(folder) : undefined;
  return speakers
    .map((name) => ({ name, title: title ?? name, languages: languagesOf?.(name, folder) ?? known }))
    .filter(({ languages }) => languages.length > 0);
}

/**
 * Capabilities of the folder's model and how it is opened; `languages` replaces those in its metadata.
 * Throws, with an error for the operator, if the folder holds no model of a known kind.
 */
export function describeSherpaTts(folder: ModelFolder, languages?: readonly LanguageCode[]): SherpaTts {
  const metadata = folder.metadata(MODEL);
  const type = metadata.get('model_type') ?? '';
  const kind = KINDS.find(({ types }) => types.test(type));
  if (!kind) {
    throw new Error(
      `The model folder ${folder.path} holds no speaking model that is known: the model must call itself ` +
        `kokoro, kitten, matcha or vits in its metadata (model_type), this one says "${type}"`,
    );
  }
  const speakers = speakersOf(folder, metadata);
  const voices = voicesOf(folder, speakers, languages ?? folder.toldLanguages ?? languagesIn(metadata), kind);
  if (voices.length === 0)
    throw new Error(`Say in SHERPA_TTS_LANGUAGES what the model in ${folder.path} speaks`);
  const capabilities = {
    languages: LANGUAGE_CODES.filter((language) =>
      voices.some((voice) => voice.languages.includes(language)),
    ),
    sampleRate: Number(metadata.get('sample_rate')) || DEFAULT_RATE,
    streaming: false,
    timing: 'none',
    cloning: false,
    speakers: false,
    // Models follow a wanted pace only loosely (Piper: 0.62 for 0.5), time-stretching exactly.
    speed: false,
    styleTags: false,
  } as const;
  return {
    description: { name: `${SHERPA}/${folder.name}`, capabilities, voices },
    speakers: new Map(speakers.map((name, sid) => [name, sid])),
    model: { ...kind.config(folder), numThreads: 1, debug: 0, provider: 'cpu' },
    langOf: (voice) => kind.langOf?.(voice, folder),
  };
}
