/**
 * API keys: whose they are, what they may do, until when (docs/contract/decisions.md "Keys"). The database knows
 * SHA-256 digests only. A process keeps what it looked up (known-keys.ts); a revocation reaches it by NOTIFY at once,
 * and within a minute where that was lost. While the database is away, known keys go on for ten minutes.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../contracts/clock.js';
import type { Ids } from '../contracts/ids.js';
import type { Log } from '../contracts/log.js';
import { errorText, ServiceError } from '../contracts/errors.js';
import type { Role } from '../contracts/permissions.js';
import type { Identity, KeyAuthority } from '../contracts/ports/identity.js';
import { unavailable } from './bounded.js';
import type { Database } from './database.js';
import type { Sql, Transaction } from './sql.js';
import { type KeyHolder, KnownKeys } from './known-keys.js';
import { repeatable } from './once-more.js';

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
/** A shorter key shows nothing of itself in a list. */
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

/** Stores the digest of a key; false where it was there already. */
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

/** Makes a key; this is the only time that anybody sees it. */
export async function createKey(
  sql: Sql,
  ids: Ids,
  wanted: Pick<NewKey, 'workspaceId' | 'name' | 'role' | 'expiresAt'>,
): Promise<{ readonly id: string; readonly key: string }> {
  const made = { id: ids.next('key'), key: newKey() };
  await storeKey(sql, { ...wanted, ...made, origin: 'command' });
  return made;
}

/** The newest thousand, of one workspace or of all, oldest first, revoked ones too. */
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

/** Revokes the one key whose id is, or begins with, `idOrPrefix`. Every process hears of it at once. */
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

/** The one of the digest, expired or not. */
async function find(sql: Sql, digest: string): Promise<KeyHolder | undefined> {
  const [row] = await sql<KeyHolder[]>`
    select workspace_id as "workspaceId", id as "keyId", role, expires_at as "expiresAt" from api_keys
    where digest = ${Buffer.from(digest, 'hex')} and revoked_at is null`;
  return row;
}

/** At most once a minute, whichever process says so. */
const noteUse = (sql: Sql, keyId: string) =>
  repeatable(sql`
  update api_keys set last_used_at = now()
  where id = ${keyId} and (last_used_at is null or last_used_at < now() - interval '1 minute')`);

/** A database that does not answer at all must not hold a request for a TCP time-out. */
function bounded<T>(clock: Clock, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(LOOKUP_MS, () => reject(new Error('the database does not answer in time')));
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

  /** Asked anew at each request: what is known of a key outlives its expiry. */
  #unexpired(holder: KeyHolder | undefined): Identity | undefined {
    if (!holder) return undefined;
    const { workspaceId, keyId, role, expiresAt } = holder;
    if (expiresAt && expiresAt.getTime() <= this.parts.clock.now()) throw new ServiceError('expired_key');
    return { workspaceId, keyId, role };
  }

  /** A look-up that fails leaves a known key valid for a while, and tells the others to come back. */
  async #settle(digest: string): Promise<KeyHolder | undefined> {
    try {
      return await this.#lookUp(digest);
    } catch (error) {
      this.parts.log.warn({ reason: errorText(error) }, 'a key could not be looked up');
      const stale = this.known.stale(digest);
      if (stale) return stale;
      throw unavailable(error);
    }
  }

  /** Or joins the look-up that is under way. */
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

  /** Notes the use of a key; the request does not wait for it. */
  #used({ keyId }: KeyHolder): void {
    noteUse(this.parts.database.sql, keyId).catch((error: unknown) =>
      this.parts.log.debug({ reason: errorText(error) }, 'the use of a key was not noted'),
    );
  }
}

/** The key authority of one process. `stop` ends its listening. */
export async function createKeyAuthority(parts: AuthorityParts): Promise<KeyAuthority & { stop(): void }> {
  const known = new KnownKeys(parts.clock);
  return new Authority(known, parts, await parts.database.events.listen('api_keys', known));
}
