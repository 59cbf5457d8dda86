/**
 * Single-use tokens (contracts/ports/accounts/single-use-tokens.ts). The database knows SHA-256 digests only.
 *
 * Invariants: a token is used at most once among all processes, because using it removes its row in one statement;
 * expired tokens are never found, and are removed as new ones are issued.
 */
import { createHash, randomBytes } from 'node:crypto';
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Log } from '../../contracts/log.js';
import type { Caller, Identity } from '../../contracts/ports/accounts/identity.js';
import type {
  SingleUseTokenKind,
  SingleUseTokens,
} from '../../contracts/ports/accounts/single-use-tokens.js';
import { boundedWork } from '../bounded.js';
import type { Database } from '../postgres/database.js';
import type { Sql } from '../postgres/sql.js';

const PREFIX = 'sutkn_';
const SECRET_BYTES = 32;
/** Form of a token; anything else is refused without a look-up. */
const SHAPE = new RegExp(`^${PREFIX}[A-Za-z0-9_-]{43}$`);
/** Most expired rows that issuing a token removes. */
const SWEPT = 100;

const { ttlMs, perWorkspace } = LIMITS.singleUseToken;

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** False if the workspace has reached its bound. Simultaneous requests may exceed it by their number. */
async function insert(sql: Sql, token: string, caller: Caller, kind: SingleUseTokenKind): Promise<boolean> {
  const { count } = await sql`
    with swept as (
      delete from single_use_tokens where digest in (
        select digest from single_use_tokens where expires_at <= clock_timestamp()
        limit ${SWEPT} for update skip locked
      )
    )
    insert into single_use_tokens (digest, workspace_id, key_id, kind, expires_at)
    select ${digestOf(token)}::bytea, ${caller.workspaceId}::text, ${caller.keyId}::text, ${kind}::text,
      clock_timestamp() + ${ttlMs}::int * interval '1 millisecond'
    where (
      select count(*) from single_use_tokens
      where workspace_id = ${caller.workspaceId} and expires_at > clock_timestamp()
    ) < ${perWorkspace}`;
  return count === 1;
}

async function use(sql: Sql, token: string, kind: SingleUseTokenKind): Promise<Identity | undefined> {
  const [row] = await sql<Identity[]>`
    delete from single_use_tokens s using api_keys k
    where s.digest = ${digestOf(token)} and s.kind = ${kind} and s.expires_at > clock_timestamp()
      and k.id = s.key_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp())
    returning s.workspace_id as "workspaceId", s.key_id as "keyId", k.role`;
  return row;
}

const tooMany = (): ServiceError =>
  new ServiceError('concurrency_exceeded', {
    message: `A workspace may have ${perWorkspace} unused tokens`,
    retryAfter: ttlMs / 1000,
  });

export interface SingleUseTokensParts {
  readonly database: Pick<Database, 'sql'>;
  readonly log: Log;
}

export function createSingleUseTokens({ database, log }: SingleUseTokensParts): SingleUseTokens {
  const bounded = boundedWork('single-use tokens', log);
  return {
    async issue(caller, kind) {
      const token = PREFIX + randomBytes(SECRET_BYTES).toString('base64url');
      if (!(await bounded(() => insert(database.sql, token, caller, kind)))) throw tooMany();
      return token;
    },
    redeem: async (token, kind) =>
      SHAPE.test(token) ? bounded(() => use(database.sql, token, kind)) : undefined,
  };
}
