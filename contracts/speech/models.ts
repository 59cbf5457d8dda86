/**
 * The model catalogue and its aliases as data (docs/contract/decisions.md "Models and voices"). Ids without the
 * vendor's prefix.
 */
export const SYNTHESIS_MODELS = ['s2.1-pro', 's2.1-pro-free', 's2-pro', 's1'] as const;
export const TRANSCRIPTION_MODELS = ['transcribe-1'] as const;

export type SynthesisModel = (typeof SYNTHESIS_MODELS)[number];
export type TranscriptionModel = (typeof TRANSCRIPTION_MODELS)[number];

export const DEFAULT_SYNTHESIS_MODEL: SynthesisModel = 's2.1-pro';
export const DEFAULT_TRANSCRIPTION_MODEL: TranscriptionModel = 'transcribe-1';

/** A model's entry in the catalogues for clients. */
interface ModelDetails {
  readonly name: string;
  readonly description: string;
  /** Seconds since the epoch. */
  readonly created: number;
}

export const MODEL_DETAILS: Readonly<Record<SynthesisModel | TranscriptionModel, ModelDetails>> = {
  's2.1-pro': {
    name: 'S2.1 Pro',
    description: 'Multilingual text to speech with voice cloning, for production',
    created: 1_767_225_600,
  },
  's2.1-pro-free': {
    name: 'S2.1 Pro (free)',
    description: 'The free tier of S2.1 Pro, without a guarantee of latency',
    created: 1_767_225_600,
  },
  's2-pro': { name: 'S2 Pro', description: 'Multilingual text to speech', created: 1_756_684_800 },
  s1: { name: 'S1', description: 'Text to speech with control of emotion', created: 1_748_736_000 },
  'transcribe-1': {
    name: 'Transcribe 1',
    description: 'Speech to text with word timestamps; needs no language hint',
    created: 1_748_736_000,
  },
};

/** Vendors' ids, so that code written for a vendor runs unchanged; ids listed in full take precedence. */
const SYNTHESIS_ALIASES = ['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts', 'playai-tts'] as const;
const TRANSCRIPTION_ALIASES = [
  'whisper-1',
  'whisper-large-v3',
  'whisper-large-v3-turbo',
  'distil-whisper-large-v3-en',
  'gpt-4o-transcribe',
  'gpt-4o-mini-transcribe',
  'gpt-transcribe',
  'gpt-live-transcribe',
  'gpt-realtime-whisper',
] as const;

/** Prefixes of ids that belong to one kind: dated versions, and families of speaking models. */
const SYNTHESIS_FAMILIES = [
  'eleven_',
  'canopylabs/orpheus-',
  'playai-tts-',
  'gpt-4o-mini-tts-',
  'gpt-realtime',
  'gpt-audio',
  'gpt-4o-audio-preview',
  'gpt-4o-mini-audio-preview',
  'gpt-4o-realtime-preview',
  'gpt-4o-mini-realtime-preview',
] as const;
const TRANSCRIPTION_FAMILIES = ['scribe_', 'gpt-4o-transcribe-', 'gpt-4o-mini-transcribe-'] as const;

interface Kind<M extends string> {
  readonly models: readonly M[];
  readonly aliases: readonly string[];
  readonly families: readonly string[];
  /** The model that every alias stands for. */
  readonly aliased: M;
}

const SYNTHESIS: Kind<SynthesisModel> = {
  models: SYNTHESIS_MODELS,
  aliases: SYNTHESIS_ALIASES,
  families: SYNTHESIS_FAMILIES,
  aliased: DEFAULT_SYNTHESIS_MODEL,
};

const TRANSCRIPTION: Kind<TranscriptionModel> = {
  models: TRANSCRIPTION_MODELS,
  aliases: TRANSCRIPTION_ALIASES,
  families: TRANSCRIPTION_FAMILIES,
  aliased: DEFAULT_TRANSCRIPTION_MODEL,
};

const EXACT: ReadonlySet<string> = new Set([...SYNTHESIS_ALIASES, ...TRANSCRIPTION_ALIASES]);

function find<M extends string>(
  id: string,
  vendor: string,
  { models, aliases, families, aliased }: Kind<M>,
): M | undefined {
  const bare = id.startsWith(`${vendor}/`) ? id.slice(vendor.length + 1) : id;
  const own = models.find((model) => model === bare);
  if (own) return own;
  const isAlias = EXACT.has(id) ? aliases.includes(id) : families.some((family) => id.startsWith(family));
  return isAlias ? aliased : undefined;
}

/** The synthesis model behind an id with or without the vendor's prefix, or an alias; undefined if there is none. */
export const findSynthesisModel = (id: string, vendor: string): SynthesisModel | undefined =>
  find(id, vendor, SYNTHESIS);

/** The transcription model, likewise. */
export const findTranscriptionModel = (id: string, vendor: string): TranscriptionModel | undefined =>
  find(id, vendor, TRANSCRIPTION);
