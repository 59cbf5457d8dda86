/** Settings of the vendor words (contracts/vocabulary.ts), one row each (settings.ts). */
import { defaultVocabulary as words, type Vocabulary } from '../../contracts/vocabulary.js';
import { type Setting, text } from './setting.js';

/** Vendor names in URLs, headers and models (contracts/vocabulary.ts). */
export const VOCABULARY: Readonly<Record<keyof Vocabulary, Setting<string>>> = {
  vendor: text('VENDOR', words.vendor, 'Vendor in model ids, option keys and payloads.'),
  headerPrefix: text('VENDOR_HEADER_PREFIX', words.headerPrefix, 'Prefix of the native-option headers.'),
  providerName: text('VENDOR_PROVIDER_NAME', words.providerName, 'Name in metadata.provider_name.'),
  transport: text('VENDOR_TRANSPORT', words.transport, "Name of the calls' transport."),
  transportUrlField: text(
    'VENDOR_TRANSPORT_URL_FIELD',
    words.transportUrlField,
    "Field of a session with the calls' address.",
  ),
  protocolASegment: text(
    'PROTOCOL_A_SEGMENT',
    words.protocolASegment,
    'Vendor of the first protocol in paths.',
  ),
  protocolBSegment: text(
    'PROTOCOL_B_SEGMENT',
    words.protocolBSegment,
    'Vendor of the second protocol in paths.',
  ),
  protocolBKeyHeader: text('PROTOCOL_B_KEY_HEADER', words.protocolBKeyHeader, 'Header with its API key.'),
};
