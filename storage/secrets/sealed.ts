/**
 * Rows of secrets of tools, webhooks and language models, sealed for their owner and slot. A slot is any text that names one secret of its
 * owner; its digest is stored. Rows are written and deleted in the transaction that changes the owner.
 */
import { createHash } from 'node:crypto';
import type { Secrets } from '../../contracts/ports/secrets.js';
import type { Sql, Transaction } from '../postgres/sql.js';

export interface SecretOwner {
  readonly kind: 'tool' | 'webhook' | 'model';
  readonly id: string;
}

const TABLES = { tool: 'secrets', webhook: 'secrets', model: 'model_keys' } as const;

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
    insert into ${tx(TABLES[owner.kind])} (workspace_id, kind, owner_id, slot, sealed)
    values (${owner.workspaceId}, ${owner.kind}, ${owner.id}, ${digest}, ${sealed})
    on conflict (kind, owner_id, slot) do update set sealed = excluded.sealed, updated_at = now()`;
}

/** Deletes the owner's secrets except those of the slots. */
export async function dropOtherSecrets(
  tx: Transaction,
  { kind, id }: SecretOwner,
  slots: readonly string[],
): Promise<void> {
  const kept = slots.map(digestOfSlot);
  await tx`delete from ${tx(TABLES[kind])} where kind = ${kind} and owner_id = ${id} and slot <> all(${kept}::text[])`;
}

/** The secrets of the slots, in their order; undefined for missing ones. */
export async function openSecretsOf(
  sql: Sql | Transaction,
  secrets: Secrets,
  owner: SecretOwner,
  slots: readonly string[],
): Promise<readonly (string | undefined)[]> {
  const digests = slots.map(digestOfSlot);
  const rows = await sql<{ slot: string; sealed: Buffer }[]>`
    select slot, sealed from ${sql(TABLES[owner.kind])}
    where kind = ${owner.kind} and owner_id = ${owner.id} and slot = any(${digests}::text[])`;
  const found = new Map(rows.map(({ slot, sealed }) => [slot, sealed]));
  return digests.map((digest) => {
    const sealed = found.get(digest);
    return sealed && secrets.openSealed(sealed, contextOf(owner, digest));
  });
}

/** Contexts for the secrets in a phone number's own row: its webhook secret, its provider's API credentials, its callers' account. */
export const phoneContext = (id: string): string => `phone ${id}`;
export const phoneApiContext = (id: string): string => `phone api ${id}`;
export const phoneInboundContext = (id: string): string => `phone inbound ${id}`;

async function resealNumbers(tx: Transaction, secrets: Secrets): Promise<number> {
  await tx`lock table phone_numbers in exclusive mode`;
  let count = 0;
  for (let after = ''; ;) {
    const rows = await tx<
      { id: string; sealed: Buffer; sealed_api: Buffer | null; sealed_inbound: Buffer | null }[]
    >`
      select id, sealed, sealed_api, sealed_inbound from phone_numbers where id > ${after} order by id limit 500`;
    const last = rows.at(-1);
    if (!last) return count;
    const anew = (sealed: Buffer, context: string) =>
      secrets.seal(secrets.openSealed(sealed, context), context);
    for (const { id, sealed, sealed_api: api, sealed_inbound: inbound } of rows)
      await tx`
        update phone_numbers set sealed = ${anew(sealed, phoneContext(id))},
          sealed_api = ${api && anew(api, phoneApiContext(id))},
          sealed_inbound = ${inbound && anew(inbound, phoneInboundContext(id))}
        where id = ${id}`;
    count += rows.length;
    after = last.id;
  }
}

async function resealOwned(
  tx: Transaction,
  secrets: Secrets,
  table: (typeof TABLES)[keyof typeof TABLES],
): Promise<number> {
  await tx`lock table ${tx(table)} in exclusive mode`;
  let count = 0;
  for (let after = { kind: '', id: '', slot: '' }; ;) {
    const rows = await tx<(SecretOwner & { slot: string; sealed: Buffer })[]>`
      select kind, owner_id as id, slot, sealed from ${tx(table)}
      where (kind, owner_id, slot) > (${after.kind}, ${after.id}, ${after.slot}) order by kind, owner_id, slot limit 500`;
    const last = rows.at(-1);
    if (!last) return count;
    for (const { kind, id, slot, sealed } of rows) {
      const context = contextOf({ kind, id }, slot);
      const anew = secrets.seal(secrets.openSealed(sealed, context), context);
      await tx`update ${tx(table)} set sealed = ${anew} where kind = ${kind} and owner_id = ${id} and slot = ${slot}`;
    }
    count += rows.length;
    after = last;
  }
}

/** Seals all secrets again, locking out writers meanwhile. Returns their number. */
export const resealAll = async (tx: Transaction, secrets: Secrets): Promise<number> =>
  (await resealOwned(tx, secrets, 'secrets')) +
  (await resealOwned(tx, secrets, 'model_keys')) +
  (await resealNumbers(tx, secrets));
