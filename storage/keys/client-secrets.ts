/**
 * Client secrets (contracts/ports/accounts/client-secrets.ts). The database knows SHA-256 digests only.
 *
 * Invariants: at most one socket of one process holds a secret, because taking it is one statement; a hold is a lease,
 * renewed while its socket is open, so that secrets of a killed process become free again; expired rows are removed.
 *
 * A client that reconnects may arrive before the end of its old socket was noticed and written down. So a secret in use is
 * waited for, by asking again, because its holder may be another process.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '../../contracts/clock.js';
import { ServiceError, whyOf } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Log } from '../../contracts/log.js';
import {
  CLIENT_SECRET_PREFIX,
  type ClientSecrets,
  type IssuedSecret,
  type RedeemedSecret,
  type SecretSession,
} from '../../contracts/ports/accounts/client-secrets.js';
import type { Caller, Identity } from '../../contracts/ports/accounts/identity.js';
import { boundedWork } from '../bounded.js';
import type { Database } from '../postgres/database.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { exclusively } from '../postgres/migrate.js';

const SECRET_BYTES = 32;
/** Form of a client secret; anything else is refused without a look-up. */
const SHAPE = new RegExp(`^${CLIENT_SECRET_PREFIX}[A-Za-z0-9_-]{43}$`);
const LEASE_MS = 15_000;
const RENEW_MS = LEASE_MS / 3;
const SWEEP_MS = 60_000;
/** How often a secret that is in use is tried again. */
const RETRY_MS = 100;
const { perWorkspace, waitMs } = LIMITS.clientSecret;

const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

interface Row extends Caller {
  readonly session: SecretSession;
}

const tooMany = (): ServiceError =>
  new ServiceError('concurrency_exceeded', {
    message: `A workspace may have ${perWorkspace} valid client secrets`,
    retryAfter: LIMITS.clientSecret.ttlSeconds.min,
  });

const removeExpired = (sql: Sql) => sql`delete from client_secrets where expires_at <= clock_timestamp()`;

async function insert(
  tx: Transaction,
  secret: Row & { readonly value: string; readonly ttlSeconds: number },
): Promise<Date> {
  const { workspaceId, keyId, session, value, ttlSeconds } = secret;
  const [valid] = await tx<{ count: number }[]>`
    select count(*)::int as count from client_secrets
    where workspace_id = ${workspaceId} and expires_at > clock_timestamp()`;
  if ((valid?.count ?? 0) >= perWorkspace) throw tooMany();
  const [row] = await tx<{ expiresAt: Date }[]>`
    insert into client_secrets (digest, workspace_id, key_id, session, expires_at)
    values (${digestOf(value)}, ${workspaceId}, ${keyId}, ${JSON.stringify(session)}::text::json,
      clock_timestamp() + ${ttlSeconds}::float8 * interval '1 second')
    returning expires_at as "expiresAt"`;
  if (!row) throw new Error('no row came back');
  return row.expiresAt;
}

/** The row `s` of a secret that has not expired, and `k` of its key, which may still be used. */
const valid = (sql: Sql, secret: string) => sql`
  s.digest = ${digestOf(secret)} and s.expires_at > clock_timestamp()
  and k.id = s.key_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp())`;

async function isValid(sql: Sql, secret: string): Promise<boolean> {
  const [row] = await sql`select 1 from client_secrets s, api_keys k where ${valid(sql, secret)}`;
  return row !== undefined;
}

/** Takes the secret for `holder`, in one statement. */
async function hold(sql: Sql, secret: string, holder: string): Promise<(Row & Identity) | undefined> {
  const [row] = await sql<(Row & Identity)[]>`
    update client_secrets s
    set held_by = ${holder}, held_until = clock_timestamp() + ${LEASE_MS}::int * interval '1 millisecond'
    from api_keys k
    where ${valid(sql, secret)} and (s.held_until is null or s.held_until <= clock_timestamp())
    returning s.workspace_id as "workspaceId", s.key_id as "keyId", k.role, s.session`;
  return row;
}

const renew = (sql: Sql, holders: readonly string[]) => sql`
  update client_secrets set held_until = clock_timestamp() + ${LEASE_MS}::int * interval '1 millisecond'
  where held_by = any(${holders as string[]}::uuid[])`;

const letGo = (sql: Sql, holder: string) => sql`
  update client_secrets set held_by = null, held_until = null where held_by = ${holder}`;

/** Takes a secret; waits for one that is in use. Undefined if it is not valid, or stays in use. */
async function waited<Held>(
  clock: Clock,
  secret: { take(): Promise<Held | undefined>; isValid(): Promise<boolean> },
): Promise<Held | undefined> {
  const last = clock.monotonic() + waitMs;
  for (;;) {
    const held = await secret.take();
    if (held || clock.monotonic() >= last || !(await secret.isValid())) return held;
    await new Promise<void>((resolve) => void clock.after(RETRY_MS, resolve));
  }
}

/** Repeats the work until the result is called. */
function every(clock: Clock, ms: number, work: () => void): () => void {
  let cancel = clock.after(ms, run);
  function run(): void {
    cancel = clock.after(ms, run);
    work();
  }
  return () => cancel();
}

export interface ClientSecretsParts {
  readonly database: Pick<Database, 'sql'> & Partial<Pick<Database, 'asked'>>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The client secrets as one process sees them. `stop` ends the renewals; the leases still held then run out. */
export function createClientSecrets(parts: ClientSecretsParts): ClientSecrets & { stop(): void } {
  const { clock, log } = parts;
  const { sql, asked = sql } = parts.database;
  const holders = new Set<string>();
  const bounded = boundedWork('client secrets', log);

  const quietly = (work: Promise<unknown>): void => {
    work.catch((error: unknown) => log.warn(whyOf(error), 'client secrets were not tended'));
  };

  const stopRenewing = every(clock, RENEW_MS, () => {
    if (holders.size > 0) quietly(renew(sql, [...holders]));
  });
  const stopSweeping = every(clock, SWEEP_MS, () => quietly(removeExpired(sql)));

  function release(holder: string): void {
    if (holders.delete(holder)) quietly(letGo(sql, holder));
  }

  async function issue(caller: Caller, session: SecretSession, ttlSeconds: number): Promise<IssuedSecret> {
    const { workspaceId, keyId } = caller;
    const value = CLIENT_SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64url');
    const secret = { workspaceId, keyId, session, value, ttlSeconds };
    const expiresAt = await bounded(() =>
      exclusively(asked, `client secrets ${workspaceId}`, (tx) => insert(tx, secret)),
    );
    return { value, expiresAt };
  }

  async function redeem(secret: string): Promise<RedeemedSecret | undefined> {
    if (!SHAPE.test(secret)) return undefined;
    const holder = randomUUID();
    const row = await waited(clock, {
      take: () => bounded(() => hold(sql, secret, holder)),
      isValid: () => bounded(() => isValid(sql, secret)),
    });
    if (!row) return undefined;
    holders.add(holder);
    const { session, ...caller } = row;
    return { caller, session, release: () => release(holder) };
  }

  const stop = (): void => {
    stopRenewing();
    stopSweeping();
  };
  return { issue, redeem, stop };
}
