/**
 * API keys (decisions.md "Keys"). The database knows SHA-256 digests only. A process keeps what it looked
 * up (known-keys.ts); a revocation reaches it by NOTIFY at once, and within a minute where that was lost.
 * While the database is away, known keys go on for ten minutes.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../contracts/clock.js';
import type { Ids } from '../contracts/ids.js';
import type { Log } from '../contracts/log.js';
import type { Caller, KeyAuthority } from '../contracts/ports/identity.js';
import { unavailable } from './bounded.js';
import type { Database, Sql, Transaction } from './database.js';
import { messageOf } from './failure.js';
import { KnownKeys } from './known-keys.js';

export type KeyOrigin = 'first' | 'environment' | 'command';

export interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly workspaceId: string;
  readonly origin: KeyOrigin;
  readonly tail: string;
  readonly createdAt: Date;
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
}

/** Stores the digest of a key; false where it was there already. */
export async function storeKey(
  sql: Sql | Transaction,
  { id, workspaceId, name, origin, key }: NewKey,
): Promise<boolean> {
  const tail = key.length < SHOWN_FROM ? '' : key.slice(-SHOWN);
  const { count } = await sql`
    insert into api_keys (id, workspace_id, name, origin, digest, tail)
    values (${id}, ${workspaceId}, ${name}, ${origin}, ${digestOf(key)}, ${tail})
    on conflict (digest) do nothing`;
  return count === 1;
}

/** Makes a key; this is the only time that anybody sees it. */
export async function createKey(
  sql: Sql,
  ids: Ids,
  wanted: { readonly workspaceId: string; readonly name: string },
): Promise<{ readonly id: string; readonly key: string }> {
  const made = { id: ids.next('key'), key: newKey() };
  await storeKey(sql, { ...wanted, ...made, origin: 'command' });
  return made;
}

/** The newest thousand, oldest first, revoked ones too. */
export const listKeys = async (sql: Sql): Promise<KeyRow[]> => {
  const rows = await sql<KeyRow[]>`
    select id, name, workspace_id as "workspaceId", origin, tail, created_at as "createdAt", revoked_at as "revokedAt"
    from api_keys order by created_at desc, id limit ${MOST_LISTED}`;
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
  await sql`update api_keys set revoked_at = now() where id = ${row.id} and revoked_at is null`;
  return { outcome: 'revoked', id: row.id };
}

const MOST_LOOKUPS = 256;
const LOOKUP_MS = 5000;

async function find(sql: Sql, digest: string): Promise<Caller | undefined> {
  const [row] = await sql<Caller[]>`
    select workspace_id as "workspaceId", id as "keyId" from api_keys
    where digest = ${Buffer.from(digest, 'hex')} and revoked_at is null`;
  return row && { workspaceId: row.workspaceId, keyId: row.keyId };
}

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
  readonly #lookups = new Map<string, Promise<Caller | undefined>>();

  constructor(
    private readonly known: KnownKeys,
    private readonly parts: AuthorityParts,
    readonly stop: () => void,
  ) {}

  async authenticate(key: string): Promise<Caller | undefined> {
    if (key === '' || key.length > KEY_LENGTH) return undefined;
    const digest = digestOf(key).toString('hex');
    const answer = this.known.answer(digest);
    return answer ? answer.caller : this.#settle(digest);
  }

  /** A look-up that fails leaves a known key valid for a while, and tells the others to come back. */
  async #settle(digest: string): Promise<Caller | undefined> {
    try {
      return await this.#lookUp(digest);
    } catch (error) {
      this.parts.log.warn({ reason: messageOf(error) }, 'a key could not be looked up');
      const stale = this.known.stale(digest);
      if (stale) return stale;
      throw unavailable(error);
    }
  }

  /** Or joins the look-up that is under way. */
  #lookUp(digest: string): Promise<Caller | undefined> {
    const running = this.#lookups.get(digest);
    if (running) return running;
    if (this.#lookups.size >= MOST_LOOKUPS)
      return Promise.reject(new Error('too many keys are being looked up'));
    const { clock, database } = this.parts;
    const started = this.known
      .learn(digest, () => bounded(clock, find(database.sql, digest)))
      .finally(() => this.#lookups.delete(digest));
    this.#lookups.set(digest, started);
    return started;
  }
}

/** The key authority of one process. `stop` ends its listening. */
export async function createKeyAuthority(parts: AuthorityParts): Promise<KeyAuthority & { stop(): void }> {
  const known = new KnownKeys(parts.clock);
  return new Authority(known, parts, await parts.database.events.listen('api_keys', known));
}
