/**
 * API keys: workspace, role, expiry (docs/contract/decisions.md "Keys"). The database stores SHA-256 digests only. Each
 * process caches keys (known-keys.ts); a revocation reaches it by NOTIFY at once, or within a minute if that was lost.
 * While the database is down, known keys work for ten minutes.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../contracts/clock.js';
import type { Ids } from '../../contracts/ids.js';
import type { Log } from '../../contracts/log.js';
import { databaseIsLate, ServiceError, whyOf } from '../../contracts/errors.js';
import type { Role } from '../../contracts/permissions.js';
import type { Identity, KeyAuthority } from '../../contracts/ports/accounts/identity.js';
import { unavailable } from '../bounded.js';
import type { Database } from '../postgres/database.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { type KeyHolder, KnownKeys } from './known-keys.js';
import { repeatable } from '../postgres/once-more.js';

export type KeyOrigin = 'first' | 'environment' | 'command';

export interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly workspaceId: string;
  readonly workspaceName: string;
  readonly role: Role;
  readonly origin: KeyOrigin;
  readonly tail: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  /** Time of the last use, to the minute. */
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

const PREFIX = 'sk_';
const SECRET_BYTES = 32;
const MOST_LISTED = 1000;
const KEY_LENGTH = 256;
/** Lists show no part of a key that is shorter than this. */
const SHOWN_FROM = 16;
const SHOWN = 4;

export const digestOf = (key: string): Buffer => createHash('sha256').update(key).digest();

/** A new secret of `A-Za-z0-9_-`, 256 random bits. */
export const newKey = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64url');

export const isKeyShaped = (key: string): boolean => key.length <= KEY_LENGTH && /^[A-Za-z0-9_-]+$/.test(key);

export interface NewKey {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly origin: KeyOrigin;
  readonly key: string;
  /** Default: `full`. */
  readonly role?: Role;
  /** Default: never. */
  readonly expiresAt?: Date | null;
}

/** Stores the digest of a key; false if it was there already. */
export async function storeKey(
  sql: Sql | Transaction,
  { id, workspaceId, name, origin, key, role = 'full', expiresAt = null }: NewKey,
): Promise<boolean> {
  const tail = key.length < SHOWN_FROM ? '' : key.slice(-SHOWN);
  const { count } = await sql`
    insert into api_keys (id, workspace_id, name, origin, digest, tail, role, expires_at)
    values (${id}, ${workspaceId}, ${name}, ${origin}, ${digestOf(key)}, ${tail}, ${role}, ${expiresAt})
    on conflict (digest) do nothing`;
  return count === 1;
}

/** Makes a key; its text is never shown again. */
export async function createKey(
  sql: Sql,
  ids: Ids,
  wanted: Pick<NewKey, 'workspaceId' | 'name' | 'role' | 'expiresAt'>,
): Promise<{ readonly id: string; readonly key: string }> {
  const made = { id: ids.next('key'), key: newKey() };
  await storeKey(sql, { ...wanted, ...made, origin: 'command' });
  return made;
}

/** The newest thousand keys of one workspace or of all, oldest first, including revoked ones. */
export const listKeys = async (sql: Sql, workspaceId?: string): Promise<KeyRow[]> => {
  const rows = await sql<KeyRow[]>`
    select k.id, k.name, k.workspace_id as "workspaceId", w.name as "workspaceName", k.role, k.origin, k.tail,
      k.created_at as "createdAt", k.expires_at as "expiresAt", k.last_used_at as "lastUsedAt",
      k.revoked_at as "revokedAt"
    from api_keys k join workspaces w on w.id = k.workspace_id
    where ${workspaceId ?? null}::text is null or w.id = ${workspaceId ?? null}
    order by k.created_at desc, k.id limit ${MOST_LISTED}`;
  return rows.reverse();
};

export type Revocation =
  | { readonly outcome: 'revoked' | 'already'; readonly id: string }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'ambiguous'; readonly ids: readonly string[] };

/** Revokes the one key whose id is, or begins with, `idOrPrefix`. Every process is notified at once. */
export async function revokeKey(sql: Sql, idOrPrefix: string): Promise<Revocation> {
  const found = await sql<{ id: string; revoked: boolean }[]>`
    select id, revoked_at is not null as revoked from api_keys
    where starts_with(id, ${idOrPrefix}) order by id limit 10`;
  const row = found.find(({ id }) => id === idOrPrefix) ?? found[0];
  if (!row) return { outcome: 'unknown' };
  if (found.length > 1 && row.id !== idOrPrefix)
    return { outcome: 'ambiguous', ids: found.map(({ id }) => id) };
  if (row.revoked) return { outcome: 'already', id: row.id };
  await repeatable(sql`update api_keys set revoked_at = now() where id = ${row.id} and revoked_at is null`);
  return { outcome: 'revoked', id: row.id };
}

const MOST_LOOKUPS = 256;
const LOOKUP_MS = 5000;

/** The key with this digest, expired or not. */
async function find(sql: Sql, digest: string): Promise<KeyHolder | undefined> {
  const [row] = await sql<KeyHolder[]>`
    select workspace_id as "workspaceId", id as "keyId", role, expires_at as "expiresAt",
      exists (select from settings s where s.name = 'default_workspace' and s.value = workspace_id) as "isOperators"
    from api_keys
    where digest = ${Buffer.from(digest, 'hex')} and revoked_at is null`;
  return row;
}

/** Records the use of a key, at most once a minute among all processes. */
const noteUse = (sql: Sql, keyId: string) =>
  repeatable(sql`
  update api_keys set last_used_at = now()
  where id = ${keyId} and (last_used_at is null or last_used_at < now() - interval '1 minute')`);

/** A database that does not answer at all must not hold a request for a TCP time-out. */
function bounded<T>(clock: Clock, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(LOOKUP_MS, () => reject(databaseIsLate()));
    work.finally(cancel).then(resolve, reject);
  });
}

export interface AuthorityParts {
  readonly database: Pick<Database, 'sql' | 'events'>;
  readonly clock: Clock;
  readonly log: Log;
}

class Authority implements KeyAuthority {
  readonly #lookups = new Map<string, Promise<KeyHolder | undefined>>();

  constructor(
    private readonly known: KnownKeys,
    private readonly parts: AuthorityParts,
    readonly stop: () => void,
  ) {}

  async authenticate(key: string): Promise<Identity | undefined> {
    if (key === '' || key.length > KEY_LENGTH) return undefined;
    const digest = digestOf(key).toString('hex');
    const answer = this.known.answer(digest);
    return this.#unexpired(answer ? answer.caller : await this.#settle(digest));
  }

  /** Checked at each request: a cached key may have expired since. */
  #unexpired(holder: KeyHolder | undefined): Identity | undefined {
    if (!holder) return undefined;
    const { expiresAt, ...identity } = holder;
    if (expiresAt && expiresAt.getTime() <= this.parts.clock.now()) throw new ServiceError('expired_key');
    return identity;
  }

  /** If a look-up fails, known keys stay valid for a while; others get a retryable error. */
  async #settle(digest: string): Promise<KeyHolder | undefined> {
    try {
      return await this.#lookUp(digest);
    } catch (error) {
      this.parts.log.warn(whyOf(error), 'a key could not be looked up');
      const stale = this.known.stale(digest);
      if (stale) return stale;
      throw unavailable(error);
    }
  }

  /** Looks the key up, or joins a running look-up of it. */
  #lookUp(digest: string): Promise<KeyHolder | undefined> {
    const running = this.#lookups.get(digest);
    if (running) return running;
    if (this.#lookups.size >= MOST_LOOKUPS)
      return Promise.reject(new Error('too many keys are being looked up'));
    const { clock, database } = this.parts;
    const started = this.known
      .learn(digest, () => bounded(clock, find(database.sql, digest)))
      .finally(() => this.#lookups.delete(digest));
    this.#lookups.set(digest, started);
    started.then((holder) => holder && this.#used(holder)).catch(() => undefined);
    return started;
  }

  /** Records the use of a key; the request does not wait for it. */
  #used({ keyId }: KeyHolder): void {
    noteUse(this.parts.database.sql, keyId).catch((error: unknown) =>
      this.parts.log.debug(whyOf(error), 'the use of a key was not noted'),
    );
  }
}

/** The key authority of one process. `stop` ends its listener. */
export async function createKeyAuthority(parts: AuthorityParts): Promise<KeyAuthority & { stop(): void }> {
  const known = new KnownKeys(parts.clock);
  return new Authority(known, parts, await parts.database.events.listen('api_keys', known));
}
