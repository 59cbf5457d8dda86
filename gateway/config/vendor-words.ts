/** Settings of the vendor words (contracts/vocabulary.ts), one row each (settings.ts). */
import { defaultVocabulary as words, type Vocabulary } from '../../contracts/vocabulary.js';
import { ConfigError, parsed, type Setting, text } from './setting.js';

interface Shape {
  readonly pattern: RegExp;
  readonly wanted: string;
  /** Words with another meaning in the same place. */
  readonly taken?: readonly string[];
}

const NAME: Shape = { pattern: /^[\w.-]+$/, wanted: 'letters, digits, _, . and -' };
/** Part of a path below /compat, where two names are ours. */
const SEGMENT: Shape = { ...NAME, taken: ['v1', 'api', '.', '..'] };
/** The name of a header, or the beginning of one (RFC 9110, 5.6.2). */
const HEADER: Shape = {
  pattern: /^[\w!#$%&'*+.^`|~-]+$/,
  wanted: 'the name of a header',
  taken: ['authorization', 'content-type'],
};
const FIELD: Shape = {
  pattern: /^[A-Za-z_]\w*$/,
  wanted: 'the name of a field',
  taken: ['session_id', 'expires_at', 'max_duration_seconds', 'transport', 'token'],
};

const word = (env: string, initial: string, shape: Shape, meaning: string): Setting<string> => {
  const { pattern, wanted, taken = [] } = shape;
  const parse = (raw: string): string | undefined =>
    pattern.test(raw) && !taken.includes(raw.toLowerCase()) ? raw : undefined;
  const but = taken.length > 0 ? `, other than ${taken.join(', ')}` : '';
  return parsed(env, initial, { parse, wanted: `${wanted}${but}`, kind: 'text' }, meaning);
};

/** Vendor names in URLs, headers and models (contracts/vocabulary.ts). */
export const VOCABULARY: Readonly<Record<keyof Vocabulary, Setting<string>>> = {
  vendor: word('VENDOR', words.vendor, NAME, 'Vendor in model ids, option keys and payloads.'),
  headerPrefix: word(
    'VENDOR_HEADER_PREFIX',
    words.headerPrefix,
    HEADER,
    'Prefix of the native-option headers.',
  ),
  providerName: text('VENDOR_PROVIDER_NAME', words.providerName, 'Name in metadata.provider_name.'),
  transport: word('VENDOR_TRANSPORT', words.transport, NAME, "Name of the calls' transport."),
  transportUrlField: word(
    'VENDOR_TRANSPORT_URL_FIELD',
    words.transportUrlField,
    FIELD,
    "Field of a session with the calls' address.",
  ),
  protocolASegment: word(
    'PROTOCOL_A_SEGMENT',
    words.protocolASegment,
    SEGMENT,
    'Vendor of the first protocol in paths.',
  ),
  protocolBSegment: word(
    'PROTOCOL_B_SEGMENT',
    words.protocolBSegment,
    SEGMENT,
    'Vendor of the second protocol in paths.',
  ),
  protocolBKeyHeader: word(
    'PROTOCOL_B_KEY_HEADER',
    words.protocolBKeyHeader,
    HEADER,
    'Header with its API key.',
  ),
};

/** Errors: `ConfigError` if both protocols would have the same paths. */
export function checkWords({ protocolASegment, protocolBSegment }: Vocabulary): void {
  if (protocolASegment === protocolBSegment)
    throw new ConfigError(
      `PROTOCOL_A_SEGMENT and PROTOCOL_B_SEGMENT must differ, and are ${protocolASegment}`,
    );
}
