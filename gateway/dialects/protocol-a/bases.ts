/** The four addresses of protocol A, and what differs between them (docs/contract/protocol-a.md 0.1). */
import { FORMATS } from '../../../codecs/formats.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';
import type { NativeOptions } from '../../../contracts/schemas/native-options.js';

export interface Base {
  readonly path: string;
  /** `response_format` where the request names none. */
  readonly defaultFormat: 'mp3' | 'pcm';
  /** Hz of `pcm` where the request names none. */
  readonly pcmRate: number;
  /** Native options that count as fields of the body itself; on the other bases they are unknown, so ignored. */
  readonly topLevel: readonly (keyof NativeOptions)[];
  /** Whether `input_references` counts. */
  readonly inputReferences: boolean;
  /** Whether a transcript in JSON names its request as the inference provider's clients read it. */
  readonly groqId: boolean;
  /** Whether voices and speaking models are listed below `/audio`. */
  readonly audioLists: boolean;
}

/** Hz by a base's path; by `EVERY_BASE` for those that are not named. */
export type PcmRates = ReadonlyMap<string, number>;
export const EVERY_BASE = '';

const PLAIN = {
  defaultFormat: 'mp3',
  topLevel: ['references'],
  inputReferences: false,
  groqId: false,
  audioLists: false,
} as const;

const AGGREGATOR = {
  ...PLAIN,
  defaultFormat: 'pcm',
  topLevel: ['references', 'temperature', 'top_p', 'repetition_penalty'],
  inputReferences: true,
} as const;

/** Everything below it that is nobody else's answers in this protocol's shape. */
const COMPATIBILITY_ROOT = '/compat';

/** Where those look who know this protocol from other servers of their own. */
const PLAIN_ROOT = '/v1';

/** The parts of `/v1` that are this protocol's, a 404 included; the rest is the native API's and the platform's. */
const FAMILIES = ['audio', 'chat', 'models', 'realtime'] as const;

export const PREFIXES: readonly string[] = [
  COMPATIBILITY_ROOT,
  ...FAMILIES.map((family) => `${PLAIN_ROOT}/${family}`),
];

export const basesOf = (
  { protocolASegment }: Pick<Vocabulary, 'protocolASegment'>,
  pcmRates: PcmRates = new Map(),
): readonly Base[] =>
  [
    { path: `${COMPATIBILITY_ROOT}/v1`, ...PLAIN },
    { path: `${COMPATIBILITY_ROOT}/api/v1`, ...AGGREGATOR },
    { path: `${COMPATIBILITY_ROOT}/${protocolASegment}/v1`, ...PLAIN, groqId: true },
    { path: PLAIN_ROOT, ...PLAIN, audioLists: true },
  ].map((base) => ({
    ...base,
    pcmRate: pcmRates.get(base.path) ?? pcmRates.get(EVERY_BASE) ?? FORMATS.pcm.defaultRate,
  }));
