/** Claims of workspaces to phone numbers, for the operator, who settles whose a number is. */
import { commandLine } from '../../contracts/command-line.js';
import { StorageFailure } from '../failure.js';
import type { Sql, Transaction } from '../postgres/sql.js';

export interface ClaimRow {
  readonly id: string;
  readonly provider: string;
  readonly address: string;
  readonly workspaceName: string;
  readonly enabled: boolean;
  /** Null: nothing has shown yet that the workspace has the number at its provider. */
  readonly provenAt: Date | null;
  readonly createdAt: Date;
  /** Workspaces that have registered the number at this provider. */
  readonly claims: number;
}

const MOST_LISTED = 1000;

/** The claims to that address, or to all; those to one number in the order in which they count. `disputed`: where there are several. */
export const listClaims = (
  sql: Sql | Transaction,
  address: string | null,
  disputed: boolean,
): Promise<ClaimRow[]> => sql<ClaimRow[]>`
  select * from (
    select p.id, p.provider, p.address, w.name as "workspaceName", p.enabled, p.proven_at as "provenAt",
      p.created_at as "createdAt", p.position, count(*) over (partition by p.provider, p.address)::int as claims
    from phone_numbers p join workspaces w on w.id = p.workspace_id
    where ${address}::text is null or p.address = ${address}) claimed
  where not ${disputed}::boolean or claims > 1
  order by address, provider, "provenAt" nulls last, position limit ${MOST_LISTED}`;

/** Gives a number to the workspace that has registered it under that id; others keep their rows, unproven. Errors: `StorageFailure`. */
export const settleClaim = (sql: Sql, id: string): Promise<ClaimRow> =>
  sql.begin(async (tx) => {
    const [number] = await tx<{ provider: string; address: string }[]>`
      select provider, address from phone_numbers where id = ${id}`;
    if (!number)
      throw new StorageFailure(`No phone number has the id ${id}: see ${commandLine('numbers', 'list')}`);
    const { provider, address } = number;
    await tx`
      update phone_numbers set proven_at = case when id = ${id} then now() end
      where provider = ${provider} and address = ${address}`;
    const [row] = (await listClaims(tx, address, false)).filter((claim) => claim.id === id);
    return row;
  }) as Promise<ClaimRow>;

/** Removes a claim, whosever it is. Errors: `StorageFailure`. */
export async function removeClaim(sql: Sql, id: string): Promise<string> {
  const [row] = await sql<
    { address: string }[]
  >`delete from phone_numbers where id = ${id} returning address`;
  if (!row)
    throw new StorageFailure(`No phone number has the id ${id}: see ${commandLine('numbers', 'list')}`);
  return row.address;
}
