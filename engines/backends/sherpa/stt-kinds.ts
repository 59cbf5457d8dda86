/**
 * The kinds of recognition models that sherpa-onnx runs, as a table: how a folder of the kind is recognised and
 * opened, its longest piece, its languages, and how a language is set. A new kind is a row.
 */
import type { OfflineModelConfig, OnlineModelConfig } from 'sherpa-onnx-node';
import type { LanguageCode } from '../../../contracts/speech/languages.js';
import type { SttCapabilities } from '../../../contracts/ports/speech/stt.js';
import type { SttDescription } from '../../child-engines.js';
import { type ModelFolder, SHERPA } from './folder.js';

type Metadata = ReadonlyMap<string, string>;
type Languages = SttCapabilities['languages'];
export type OfflineConfig = Omit<OfflineModelConfig, 'tokens' | 'numThreads' | 'debug'>;

/** How the language is set for a model of several languages. */
export interface LanguageHint {
  /** The model's code of each language that can be set: any other makes the runtime end the process. */
  readonly codes: ReadonlyMap<LanguageCode, string>;
  /** Whether an open model can change its language; otherwise it is opened once for each. */
  readonly changes: boolean;
  config(code: string): OfflineConfig;
}

/** A model for whole pieces, or a streaming model that gets a piece in chunks. */
export type SherpaModel =
  | {
      readonly streaming: false;
      readonly config: OfflineConfig;
      /** Absent: the model knows one language, or takes no hint. */
      readonly hint?: LanguageHint;
    }
  | { readonly streaming: true; readonly config: Omit<OnlineModelConfig, 'tokens' | 'numThreads' | 'debug'> };

interface Kind {
  readonly name: string;
  /** The file whose metadata is checked, and its type there; absent if file names identify the kind. */
  readonly types?: readonly [file: RegExp, type: RegExp];
  /** Files that must be there. */
  readonly files: readonly RegExp[];
  readonly maxPieceSeconds: number;
  /** Whether it assumes a language that it is not told. */
  readonly wantsLanguage?: true;
  languages(metadata: Metadata): Languages;
  model(folder: ModelFolder, metadata: Metadata): SherpaModel;
}

export interface SherpaStt {
  readonly description: SttDescription;
  readonly model: SherpaModel;
  readonly tokens: string;
}

const ENCODER = /(^|[-_])encoder.*\.onnx$/;
const DECODER = /(^|[-_])decoder.*\.onnx$/;
const JOINER = /(^|[-_])joiner.*\.onnx$/;
const ANY = /\.onnx$/;
const TOKENS = /(^|-)tokens\.txt$/;

const english = (): Languages => ['en'];
const offline = (config: OfflineConfig): SherpaModel => ({ streaming: false, config });
/** A model of several languages: opened without a language, which a hint sets. */
const told = (
  codes: ReadonlyMap<LanguageCode, string>,
  changes: boolean,
  config: (code: string) => OfflineConfig,
): SherpaModel => ({ streaming: false, config: config(''), hint: { codes, changes, config } });

/** Languages whose code in Whisper differs from ours. */
const WHISPER_NAMES: Readonly<Record<string, LanguageCode>> = { no: 'nb', jw: 'jv' };

/** Whisper's codes from the model's metadata; none for an English-only model. */
function whisperCodes(metadata: Metadata): ReadonlyMap<LanguageCode, string> {
  const codes = metadata.get('all_language_codes')?.split(',').filter(Boolean) ?? [];
  const renamed = codes.flatMap((code) =>
    WHISPER_NAMES[code] ? [[WHISPER_NAMES[code], code] as const] : [],
  );
  return new Map([...codes.map((code) => [code, code] as const), ...renamed]);
}

const sameCodes = (codes: readonly LanguageCode[]) => new Map(codes.map((code) => [code, code]));
const SENSE_VOICE = sameCodes(['zh', 'en', 'ja', 'ko', 'yue']);
const CANARY = sameCodes(['en', 'es', 'de', 'fr']);

const one = (folder: ModelFolder, pattern = ANY): { readonly model: string } => ({
  model: folder.file(pattern, 'model (*.onnx)'),
});
const transducer = (folder: ModelFolder) => ({
  encoder: folder.file(ENCODER, 'encoder'),
  decoder: folder.file(DECODER, 'decoder'),
  joiner: folder.file(JOINER, 'joiner'),
});

/** A model in one file whose metadata gives its type. */
const ctc = (
  name: string,
  type: RegExp,
  config: (folder: ModelFolder) => OfflineConfig,
  languages: (metadata: Metadata) => Languages = english,
): Kind => ({
  name,
  types: [ANY, type],
  files: [ANY],
  maxPieceSeconds: 20,
  languages,
  model: (folder) => offline(config(folder)),
});

const KINDS: readonly Kind[] = [
  {
    name: 'moonshine',
    files: [/^encoder_model.*\.onnx$/, /^decoder_model_merged.*\.onnx$/],
    maxPieceSeconds: 15,
    languages: english,
    model: (folder) =>
      offline({
        moonshine: {
          encoder: folder.file(/^encoder_model/, 'encoder'),
          mergedDecoder: folder.file(/^decoder_model_merged/, 'decoder'),
        },
      }),
  },
  {
    name: 'moonshine, first version',
    files: [
      /^preprocess.*\.onnx$/,
      /^encode.*\.onnx$/,
      /^uncached_decode.*\.onnx$/,
      /^cached_decode.*\.onnx$/,
    ],
    maxPieceSeconds: 15,
    languages: english,
    model: (folder) =>
      offline({
        moonshine: {
          preprocessor: folder.file(/^preprocess/, 'preprocessor'),
          encoder: folder.file(/^encode/, 'encoder'),
          uncachedDecoder: folder.file(/^uncached_decode/, 'decoder'),
          cachedDecoder: folder.file(/^cached_decode/, 'decoder'),
        },
      }),
  },
  {
    name: 'streaming transducer',
    types: [ENCODER, /^(zipformer2?|lstm|conformer)$/],
    files: [ENCODER, DECODER, JOINER],
    maxPieceSeconds: 20,
    languages: english,
    model: (folder) => ({ streaming: true, config: { transducer: transducer(folder) } }),
  },
  {
    name: 'transducer',
    files: [ENCODER, DECODER, JOINER],
    maxPieceSeconds: 20,
    languages: english,
    model: (folder) => offline({ transducer: transducer(folder) }),
  },
  {
    name: 'whisper',
    types: [ENCODER, /^whisper/],
    files: [ENCODER, DECODER],
    maxPieceSeconds: 28,
    languages: (metadata) => {
      const codes = [...whisperCodes(metadata).keys()];
      if (metadata.get('is_multilingual') === '0') return ['en'];
      return codes.length > 0 ? codes : 'any';
    },
    // Without a language it finds it by itself.
    model: (folder, metadata) =>
      told(whisperCodes(metadata), true, (language) => ({
        whisper: {
          encoder: folder.file(ENCODER, 'encoder'),
          decoder: folder.file(DECODER, 'decoder'),
          language,
          task: 'transcribe',
        },
      })),
  },
  {
    name: 'canary',
    types: [ENCODER, /^EncDecMultiTask/],
    files: [ENCODER, DECODER],
    maxPieceSeconds: 20,
    languages: () => [...CANARY.keys()],
    // Without a language it assumes English.
    wantsLanguage: true,
    model: (folder) =>
      told(CANARY, true, (language) => ({
        canary: {
          encoder: folder.file(ENCODER, 'encoder'),
          decoder: folder.file(DECODER, 'decoder'),
          srcLang: language,
          tgtLang: language,
          usePnc: 1,
        },
      })),
  },
  {
    name: 'sense-voice',
    types: [ANY, /^sense_voice/],
    files: [ANY],
    maxPieceSeconds: 20,
    languages: () => [...SENSE_VOICE.keys()],
    // Without a language it finds it by itself.
    model: (folder) =>
      told(SENSE_VOICE, false, (language) => ({
        senseVoice: { ...one(folder), language, useInverseTextNormalization: 1 },
      })),
  },
  ctc(
    'paraformer',
    /^paraformer/,
    (folder) => ({ paraformer: one(folder) }),
    () => ['zh', 'en'],
  ),
  ctc('nemo-ctc', /^EncDec/, (folder) => ({ nemoCtc: one(folder) })),
  ctc('zipformer-ctc', /^zipformer2_ctc/, (folder) => ({ zipformerCtc: one(folder) })),
  ctc('wenet-ctc', /^wenet_ctc/, (folder) => ({ wenetCtc: one(folder) })),
];

/** Metadata that only streaming encoders have. */
const CHUNKED = ['decode_chunk_len', 'chunk_size', 'rnn_hidden_size'];

const streams = (metadata: Metadata): boolean => CHUNKED.some((key) => metadata.has(key));

function fits(folder: ModelFolder, { types, files, model }: Kind): boolean {
  if (!files.every((pattern) => folder.find(pattern))) return false;
  if (!types) return true;
  const metadata = folder.metadata(types[0]);
  if (!types[1].test(metadata.get('model_type') ?? '')) return false;
  return !model(folder, metadata).streaming || streams(metadata);
}

/**
 * Capabilities of the folder's model and how it is opened; `languages` replaces those known of it.
 * Throws, with an error for the operator, if the folder holds no model of a known kind.
 */
export function describeSherpaStt(folder: ModelFolder, languages?: readonly LanguageCode[]): SherpaStt {
  const kind = KINDS.find((row) => fits(folder, row));
  if (!kind) {
    throw new Error(
      `The model folder ${folder.path} holds no recognition model that is known: ` +
        `there are ${KINDS.map(({ name }) => name).join('; ')}`,
    );
  }
  const metadata = kind.types ? folder.metadata(kind.types[0]) : new Map<string, string>();
  const { maxPieceSeconds, wantsLanguage } = kind;
  const known = languages ?? folder.toldLanguages ?? kind.languages(metadata);
  const capabilities = {
    languages: known,
    maxPieceSeconds,
    words: false,
    ...(wantsLanguage && { wantsLanguage }),
  };
  return {
    description: { name: `${SHERPA}/${folder.name}`, capabilities },
    model: kind.model(folder, metadata),
    tokens: folder.file(TOKENS, 'tokens.txt'),
  };
}
