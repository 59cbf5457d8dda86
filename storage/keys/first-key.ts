/**
 * The first key of an installation (docs/contract/decisions.md "Keys", decision 23): API_KEY if it is set, else a new key
 * made at the first start, shown once and kept in `<DATA_DIR>/api-key`, readable by its owner only.
 * The file is written before the digest is stored, so an interrupted start never loses the key.
 */
import { errorText } from '../../contracts/errors.js';
import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ids } from '../../contracts/ids.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { makeFolder } from '../../processes/make-folder.js';
import { codeOf, StorageFailure } from '../failure.js';
import { digestOf, isKeyShaped, newKey, storeKey } from './keys.js';
import { exclusively } from '../postgres/migrate.js';

/**
 * `created`: print the key, once. `kept`: name the file. `absent`: there are keys (or there were), but no
 * file that holds a valid one: `npm run keys -- create` makes another. `environment`: API_KEY is set.
 */
export type FirstKey =
  | { readonly state: 'created'; readonly key: string; readonly file: string }
  | { readonly state: 'kept'; readonly file: string }
  | { readonly state: 'absent'; readonly file: string }
  | { readonly state: 'environment' };

export interface FirstKeyParts {
  readonly sql: Sql;
  readonly ids: Ids;
  readonly workspaceId: string;
  readonly dataDir: string;
  /** API_KEY; empty counts as unset. */
  readonly apiKey?: string | undefined;
}

function readKeyFile(file: string): string | undefined {
  try {
    const key = readFileSync(file, 'utf8').trim();
    return isKeyShaped(key) ? key : undefined;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new StorageFailure(`The key file ${file} cannot be read: ${errorText(error)}`, { cause: error });
  }
}

function writeKeyFile(file: string, dataDir: string, key: string): void {
  const fresh = `${file}.${randomBytes(4).toString('hex')}`;
  try {
    makeFolder(dataDir);
    writeFileSync(fresh, `${key}\n`, { mode: 0o600, flag: 'wx', flush: true });
    renameSync(fresh, file);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw new StorageFailure(
      `The first key cannot be kept in ${file}: ${errorText(error)}. Set DATA_DIR to another folder, or API_KEY to a key of your own`,
      { cause: error },
    );
  }
}

/** API_KEY replaces the key of an earlier API_KEY: a rotated key must stop working. */
async function environmentKey(
  tx: Transaction,
  { ids, workspaceId }: FirstKeyParts,
  key: string,
): Promise<FirstKey> {
  const added = await storeKey(tx, {
    id: ids.next('key'),
    workspaceId,
    name: 'API_KEY',
    origin: 'environment',
    key,
  });
  const digest = digestOf(key);
  if (!added) {
    const [row] = await tx`select 1 from api_keys where digest = ${digest} and revoked_at is not null`;
    if (row) throw new StorageFailure('API_KEY is a key that was revoked: set another one');
  }
  await tx`
    update api_keys set revoked_at = now()
    where origin = 'environment' and workspace_id = ${workspaceId} and digest <> ${digest} and revoked_at is null`;
  return { state: 'environment' };
}

async function fileState(tx: Transaction, file: string, key: string | undefined): Promise<FirstKey> {
  if (key === undefined) return { state: 'absent', file };
  const [row] = await tx`select 1 from api_keys where digest = ${digestOf(key)} and revoked_at is null`;
  return { state: row ? 'kept' : 'absent', file };
}

async function ownKey(tx: Transaction, { ids, workspaceId, dataDir }: FirstKeyParts): Promise<FirstKey> {
  const file = join(dataDir, 'api-key');
  const kept = readKeyFile(file);
  const [any] = await tx`select 1 from api_keys limit 1`;
  if (any) return fileState(tx, file, kept);
  const key = kept ?? newKey();
  if (kept === undefined) writeKeyFile(file, dataDir, key);
  await storeKey(tx, { id: ids.next('key'), workspaceId, name: 'first key', origin: 'first', key });
  return kept === undefined ? { state: 'created', key, file } : { state: 'kept', file };
}

/** Errors: `StorageFailure` if API_KEY is malformed or revoked, or the file cannot be written or read. */
export function ensureFirstKey(parts: FirstKeyParts): Promise<FirstKey> {
  const { apiKey = '' } = parts;
  if (apiKey !== '' && !isKeyShaped(apiKey))
    throw new StorageFailure('API_KEY must be 1 to 256 characters of A-Z a-z 0-9 _ -');
  return exclusively(parts.sql, 'first key', (tx) =>
    apiKey === '' ? ownKey(tx, parts) : environmentKey(tx, parts, apiKey),
  );
}
