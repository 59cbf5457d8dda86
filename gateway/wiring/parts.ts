/** The operator's parts of a gateway that are no engines (contracts/ports/parts.ts): names, addresses, and the settings that mend them. */
import { originOf, type Part } from '../../contracts/ports/parts.js';
import type { Config } from '../config.js';

type Env = Readonly<Record<string, string | undefined>>;

/** The embedded one has no address. */
export const databasePart = ({ databaseUrl }: Pick<Config, 'databaseUrl'>): Part => ({
  kind: 'database',
  name: 'postgres',
  address: originOf(databaseUrl),
  settings: { address: databaseUrl === undefined ? 'DATA_DIR' : 'DATABASE_URL' },
});

export const bucketPart = (url: string, env: Env): Part => ({
  kind: 'bucket',
  name: 'recordings',
  address: originOf(env['AWS_ENDPOINT_URL_S3'] || env['AWS_ENDPOINT_URL'] || url),
  settings: { address: 'RECORDINGS_URL', key: 'AWS_ACCESS_KEY_ID' },
});

export const livekitPart = ({ url }: { readonly url: string }): Part => ({
  kind: 'livekit',
  name: 'livekit',
  address: originOf(url),
  settings: { address: 'LIVEKIT_URL', key: 'LIVEKIT_API_SECRET' },
});

export const childPart = (role: string): Part => ({ kind: 'child', name: role });
