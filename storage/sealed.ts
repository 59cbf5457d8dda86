/**
 * Secrets of tools and webhooks as rows: sealed for their owner and slot. A slot is anything that names one secret of
 * its owner; its digest is stored. Rows are written and dropped in the transaction that changes the owner.
 */
import { createHash } from 'node:crypto';
import type { Secrets } from '../contracts/ports/secrets.js';
import type { Sql, Transaction } from './sql.js';

export interface SecretOwner {
  readonly kind: 'tool' | 'webhook';
  readonly id: string;
}

export const digestOfSlot = (slot: string): string => createHash('sha256').update(slot).digest('hex');

const contextOf = ({ kind, id }: SecretOwner, digest: string): string => `${kind} ${id} ${digest}`;

export async function keepSecret(
  tx: Transaction,
  secrets: Secrets,
  owner: SecretOwner & { readonly workspaceId: string },
  slot: string,
  secret: string,
): Promise<void> {
  const digest = digestOfSlot(slot);
  const sealed = secrets.seal(secret, contextOf(owner, digest));
  await tx`
    insert into secrets (workspace_id, kind, owner_id, slot, sealed)
    values (${owner.workspaceId}, ${owner.kind}, ${owner.id}, ${digest}, ${sealed})
    on conflict (kind, owner_id, slot) do update set sealed = excluded.sealed, updated_at = now()`;
}

/** Drops the owner's secrets but those of the slots. */
export async function dropOtherSecrets(
  tx: Transaction,
  { kind, id }: SecretOwner,
  slots: readonly string[],
): Promise<void> {
  const kept = slots.map(digestOfSlot);
  await tx`delete from secrets where kind = ${kind} and owner_id = ${id} and slot <> all(${kept}::text[])`;
}

/** The secrets of the slots, in their order; undefined for those that are not there. */
export async function openSecretsOf(
  sql: Sql,
  secrets: Secrets,
  owner: SecretOwner,
  slots: readonly string[],
): Promise<readonly (string | undefined)[]> {
  const digests = slots.map(digestOfSlot);
  const rows = await sql<{ slot: string; sealed: Buffer }[]>`
    select slot, sealed from secrets
    where kind = ${owner.kind} and owner_id = ${owner.id} and slot = any(${digests}::text[])`;
  const found = new Map(rows.map(({ slot, sealed }) => [slot, sealed]));
  return digests.map((digest) => {
    const sealed = found.get(digest);
    return sealed && secrets.open(sealed, contextOf(owner, digest));
  });
}

/** A phone number's secret is in its own row, and so is what its provider's API is asked with. */
export const phoneContext = (id: string): string => `phone ${id}`;
export const phoneApiContext = (id: string): string => `phone api ${id}`;

async function resealNumbers(tx: Transaction, secrets: Secrets): Promise<number> {
  await tx`lock table phone_numbers in exclusive mode`;
  let count = 0;
  for (let after = ''; ;) {
    const rows = await tx<{ id: string; sealed: Buffer; sealed_api: Buffer | null }[]>`
      select id, sealed, sealed_api from phone_numbers where id > ${after} order by id limit 500`;
    const last = rows.at(-1);
    if (!last) return count;
    const anew = (sealed: Buffer, context: string) => secrets.seal(secrets.open(sealed, context), context);
    for (const { id, sealed, sealed_api: api } of rows)
      await tx`
        update phone_numbers set sealed = ${anew(sealed, phoneContext(id))},
          sealed_api = ${api && anew(api, phoneApiContext(id))}
        where id = ${id}`;
    count += rows.length;
    after = last.id;
  }
}

async function resealOwned(tx: Transaction, secrets: Secrets): Promise<number> {
  await tx`lock table secrets in exclusive mode`;
  let count = 0;
  for (let after = { kind: '', id: '', slot: '' }; ;) {
    const rows = await tx<(SecretOwner & { slot: string; sealed: Buffer })[]>`
      select kind, owner_id as id, slot, sealed from secrets
      where (kind, owner_id, slot) > (${after.kind}, ${after.id}, ${after.slot}) order by kind, owner_id, slot limit 500`;
    const last = rows.at(-1);
    if (!last) return count;
    for (const { kind, id, slot, sealed } of rows) {
      const context = contextOf({ kind, id }, slot);
      const anew = secrets.seal(secrets.open(sealed, context), context);
      await tx`update secrets set sealed = ${anew} where kind = ${kind} and owner_id = ${id} and slot = ${slot}`;
    }
    count += rows.length;
    after = last;
  }
}

/** Seals what is there anew. Nobody writes a secret meanwhile. Returns how many there were. */
export const resealAll = async (tx: Transaction, secrets: Secrets): Promise<number> =>
  (await resealOwned(tx, secrets)) + (await resealNumbers(tx, secrets));
