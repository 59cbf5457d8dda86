/** The four addresses of protocol A, and what differs between them (docs/contract/protocol-a.md 0.1). */
import { FORMATS } from '../../../codecs/formats.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';

export interface Base {
  readonly path: string;
  /** `response_format` if the request names none. */
  readonly defaultFormat: 'mp3' | 'pcm';
  /** Rate of `pcm` in Hz if the request names none. */
  readonly pcmRate: number;
  /** Whether it is the base for aggregators, which has options of its own. */
  readonly aggregator: boolean;
  /** Whether a transcript in JSON carries the request's id in the form that the inference provider's clients read. */
  readonly groqId: boolean;
  /** Whether `/audio` lists the voices and the synthesis models. */
  readonly audioLists: boolean;
  /** Whether its realtime takes an agent as the model. */
  readonly agents: boolean;
}

/** Rates in Hz by a base's path; `EVERY_BASE` is the key for all other bases. */
export type PcmRates = ReadonlyMap<string, number>;
export const EVERY_BASE = '';

const PLAIN = {
  defaultFormat: 'mp3',
  aggregator: false,
  groqId: false,
  audioLists: false,
  agents: false,
} as const;

const AGGREGATOR = {
  ...PLAIN,
  defaultFormat: 'pcm',
  aggregator: true,
} as const;

/** Root of the compatibility bases: any path below it that no other dialect claims is answered in this protocol's shape. */
const COMPATIBILITY_ROOT = '/compat';

/** Root for clients that know this protocol from other self-hosted servers. */
const PLAIN_ROOT = '/v1';

/** Parts of `/v1` that belong to this protocol, including their 404s; the rest belongs to the native API and the platform. */
const FAMILIES = ['audio', 'chat', 'models', 'realtime'] as const;

/**
 * Parts of OpenAI's API that are not served here, since they are not about speech. Their 404 has this protocol's shape,
 * because it is the only one whose message OpenAI's SDKs show.
 */
const NOT_SERVED = ['completions', 'embeddings', 'images', 'moderations', 'responses'] as const;

export const PREFIXES: readonly string[] = [
  COMPATIBILITY_ROOT,
  ...[...FAMILIES, ...NOT_SERVED].map((family) => `${PLAIN_ROOT}/${family}`),
];

export const basesOf = (
  { protocolASegment }: Pick<Vocabulary, 'protocolASegment'>,
  pcmRates: PcmRates = new Map(),
): readonly Base[] =>
  [
    { path: `${COMPATIBILITY_ROOT}/v1`, ...PLAIN },
    { path: `${COMPATIBILITY_ROOT}/api/v1`, ...AGGREGATOR },
    { path: `${COMPATIBILITY_ROOT}/${protocolASegment}/v1`, ...PLAIN, groqId: true },
    { path: PLAIN_ROOT, ...PLAIN, audioLists: true, agents: true },
  ].map((base) => ({
    ...base,
    pcmRate: pcmRates.get(base.path) ?? pcmRates.get(EVERY_BASE) ?? FORMATS.pcm.defaultRate,
  }));
