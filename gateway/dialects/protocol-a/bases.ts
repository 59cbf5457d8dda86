/** The three addresses of protocol A, and what differs between them (spec "Base paths"; decisions.md "Protocol A"). */
import type { Vocabulary } from '../../../contracts/vocabulary.js';
import type { NativeOptions } from '../../../contracts/schemas/native-options.js';

export interface Base {
  readonly path: string;
  /** `response_format` where the request names none. */
  readonly defaultFormat: 'mp3' | 'pcm';
  /** Native options that count as fields of the body itself; on the other bases they are unknown, so ignored. */
  readonly topLevel: readonly (keyof NativeOptions)[];
  /** Whether `input_references` counts. */
  readonly inputReferences: boolean;
}

const PLAIN = { defaultFormat: 'mp3', topLevel: ['references'], inputReferences: false } as const;

const AGGREGATOR = {
  defaultFormat: 'pcm',
  topLevel: ['references', 'temperature', 'top_p', 'repetition_penalty'],
  inputReferences: true,
} as const;

/** Everything below it that is nobody else's answers in this protocol's shape. */
export const COMPATIBILITY_ROOT = '/compat';

export const basesOf = ({ protocolASegment }: Pick<Vocabulary, 'protocolASegment'>): readonly Base[] => [
  { path: `${COMPATIBILITY_ROOT}/v1`, ...PLAIN },
  { path: `${COMPATIBILITY_ROOT}/api/v1`, ...AGGREGATOR },
  { path: `${COMPATIBILITY_ROOT}/${protocolASegment}/v1`, ...PLAIN },
];
