/**
 * The installation's secret (docs/contract/decisions.md 23): SECRETS_KEY, else `<DATA_DIR>/secrets-key`, made at the first
 * start, readable by its owner only. The database keeps a fingerprint of it, so that a start with another secret is
 * reported, instead of failing at the first call. Sealing is AES-256-GCM with a derived key and a fresh nonce each time.
 */
import { errorText } from '../../contracts/errors.js';
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Secrets } from '../../contracts/ports/secrets.js';
import { resealAll } from './sealed.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { makeFolder } from '../../processes/make-folder.js';
import { codeOf, StorageFailure } from '../failure.js';
import { exclusively } from '../postgres/migrate.js';

const FINGERPRINT = 'secrets_fingerprint';
const SHORTEST = 16;
const LONGEST = 4096;
const BYTES = 32;
const NONCE = 12;
const TAG = 16;
const ALGORITHM = 'aes-256-gcm';

const derive = (master: string, purpose: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', master, 'speech-gateway', purpose, BYTES));

/** Secrets sealed under one master. Also opens those of the `previous` master, if given. */
export function createSecrets(master: string, previous?: string): Secrets {
  const older = previous === undefined ? undefined : createSecrets(previous);
  const sealing = derive(master, 'seal');
  const open = (sealed: Uint8Array, context: string): string => {
    const nonce = sealed.subarray(0, NONCE);
    const decipher = createDecipheriv(ALGORITHM, sealing, nonce, { authTagLength: TAG })
      .setAAD(Buffer.from(context))
      .setAuthTag(sealed.subarray(NONCE, NONCE + TAG));
    return Buffer.concat([decipher.update(sealed.subarray(NONCE + TAG)), decipher.final()]).toString('utf8');
  };
  return {
    seal(plain, context) {
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv(ALGORITHM, sealing, nonce).setAAD(Buffer.from(context));
      const sealed = [cipher.update(plain, 'utf8'), cipher.final()];
      return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]);
    },
    openSealed(sealed, context) {
      try {
        return open(sealed, context);
      } catch (error) {
        if (!older) throw error;
        return older.openSealed(sealed, context);
      }
    },
    key: (purpose) => derive(master, `key ${purpose}`),
  };
}

function readFile(file: string): string | undefined {
  try {
    const master = readFileSync(file, 'utf8').trim();
    if (master.length >= SHORTEST) return master;
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw new StorageFailure(`The file ${file} cannot be read: ${errorText(cause)}`, { cause });
  }
  throw new StorageFailure(`The file ${file} is damaged: restore it, or set SECRETS_KEY to what it held`);
}

function makeFile(file: string, dataDir: string): string {
  const master = randomBytes(BYTES).toString('base64url');
  const fresh = `${file}.${randomBytes(4).toString('hex')}`;
  try {
    makeFolder(dataDir);
    writeFileSync(fresh, `${master}\n`, { mode: 0o600, flag: 'wx', flush: true });
    renameSync(fresh, file);
    return master;
  } catch (cause) {
    rmSync(fresh, { force: true });
    throw new StorageFailure(
      `The secret cannot be kept in ${file}: ${errorText(cause)}. Set DATA_DIR to another folder, or SECRETS_KEY`,
      { cause },
    );
  }
}

const mismatch = (source: string): StorageFailure =>
  new StorageFailure(
    `${source} is not the secret that this database was used with: set SECRETS_KEY to that one, or restore its file in DATA_DIR`,
  );

const storedFingerprint = async (tx: Transaction): Promise<string | undefined> => {
  const [row] = await tx<{ value: string }[]>`select value from settings where name = ${FINGERPRINT}`;
  return row?.value;
};

export interface SecretsParts {
  readonly sql: Sql;
  readonly dataDir: string;
  /** SECRETS_KEY; empty counts as unset. */
  readonly secretsKey?: string | undefined;
  /** SECRETS_KEY_PREVIOUS: the key with which the database may still be sealed. */
  readonly previous?: string | undefined;
}

const fileOf = (dataDir: string): string => join(dataDir, 'secrets-key');

const fingerprintOf = (master: string): string => Buffer.from(derive(master, 'fingerprint')).toString('hex');

function masterOf(
  { dataDir, secretsKey = '' }: Pick<SecretsParts, 'dataDir' | 'secretsKey'>,
  known: boolean,
): { master: string; source: string } {
  if (secretsKey !== '') return { master: secretsKey, source: 'SECRETS_KEY' };
  const file = fileOf(dataDir);
  const kept = readFile(file);
  if (kept !== undefined) return { master: kept, source: file };
  if (known) throw mismatch(`A new ${file}`);
  return { master: makeFile(file, dataDir), source: file };
}

function checkLength(name: string, { length } = ''): void {
  if (length > 0 && (length < SHORTEST || length > LONGEST))
    throw new StorageFailure(`${name} must have ${SHORTEST} to ${LONGEST} characters`);
}

const keepFingerprint = (tx: Transaction, master: string) => tx`
  insert into settings (name, value) values (${FINGERPRINT}, ${fingerprintOf(master)})
  on conflict (name) do update set value = excluded.value`;

const nextOf = (file: string): string => `${file}.next`;

/** The secret that replaces the one in the file: a new one, or the one left by an interrupted run. */
function makeNext(file: string): string {
  const next = nextOf(file);
  const left = readFile(next);
  if (left !== undefined) return left;
  const master = randomBytes(BYTES).toString('base64url');
  writeFileSync(next, `${master}\n`, { mode: 0o600, flag: 'wx', flush: true });
  return master;
}

/**
 * Opens the installation's secret, creating it the first time; several processes may do so at once.
 * Errors: `StorageFailure` if SECRETS_KEY is too short, the file cannot be used, or the database was sealed with another.
 */
export async function openSecrets(parts: SecretsParts): Promise<Secrets> {
  checkLength('SECRETS_KEY', parts.secretsKey);
  checkLength('SECRETS_KEY_PREVIOUS', parts.previous);
  const previous = parts.previous || undefined;
  return exclusively(parts.sql, FINGERPRINT, async (tx) => {
    const known = await storedFingerprint(tx);
    const { master, source } = masterOf(parts, known !== undefined);
    const accepted = [master, ...(previous === undefined ? [] : [previous])].map(fingerprintOf);
    if (known === undefined) await keepFingerprint(tx, master);
    else if (!accepted.includes(known)) throw mismatch(source);
    return createSecrets(master, previous);
  });
}

/**
 * Seals everything again under a new secret: SECRETS_KEY if it is set; else a new one, which replaces the file in DATA_DIR.
 * Returns the number of secrets. Errors: `StorageFailure` if `previous` is not the one in use, or the file cannot be
 * written; then nothing has changed.
 */
export async function rotateSecrets({
  sql,
  dataDir,
  secretsKey = '',
  previous = '',
}: SecretsParts): Promise<number> {
  checkLength('SECRETS_KEY', secretsKey);
  const file = fileOf(dataDir);
  const inFile = secretsKey === '';
  const next = inFile ? makeNext(file) : secretsKey;
  const count = await exclusively(sql, FINGERPRINT, async (tx) => {
    const known = await storedFingerprint(tx);
    // A run that was interrupted after its transaction left only the new file.
    if (known === fingerprintOf(next)) return 0;
    const old = inFile ? readFile(file) : previous || readFile(file);
    if (old === undefined || old === '' || known !== fingerprintOf(old))
      throw mismatch(inFile || previous === '' ? file : 'SECRETS_KEY_PREVIOUS');
    const resealed = await resealAll(tx, createSecrets(next, old));
    await keepFingerprint(tx, next);
    return resealed;
  });
  if (inFile) renameSync(nextOf(file), file);
  return count;
}
