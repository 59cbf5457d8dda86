/**
 * Vendor names in URLs, headers and models. No other file spells them; each can be changed by configuration,
 * so that a vendor's own SDK can be pointed here (docs/contract/decisions.md "Words").
 */
export interface Vocabulary {
  /** The vendor in model ids, option keys and payloads: `svc/s2-pro`, `provider.options.svc`. */
  readonly vendor: string;
  /** Prefix of the native-option headers: `X-Svc-`. */
  readonly headerPrefix: string;
  /** Name of the service in `metadata.provider_name`. */
  readonly providerName: string;
  readonly transport: string;
  readonly transportUrlField: string;
  readonly protocolASegment: string;
  readonly protocolBSegment: string;
  readonly protocolBKeyHeader: string;
}

export const defaultVocabulary: Vocabulary = {
  vendor: 'svc',
  headerPrefix: 'X-Svc-',
  providerName: 'svc',
  transport: 'media',
  transportUrlField: 'media_url',
  protocolASegment: 'openai',
  protocolBSegment: 'elevenlabs',
  protocolBKeyHeader: 'xi-api-key',
};
