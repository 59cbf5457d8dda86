/**
 * Phone numbers (contracts/ports/phone/phone.ts). A number's secret is sealed in its row. Every statement names the
 * workspace, except those for webhooks: their results are only used once the secret matches.
 */
import { ServiceError } from '../../contracts/errors.js';
import type { Ids } from '../../contracts/ids.js';
import { LIMITS } from '../../contracts/limits.js';
import { phoneAddress } from '../../contracts/phone/phone.js';
import type { Listed, PageRequest } from '../../contracts/ports/page.js';
import type {
  AnsweredNumbers,
  Claim,
  Credentials,
  DialledNumbers,
  DiallingNumbers,
  NewPhoneNumber,
  NumberSecrets,
  OpenedNumber,
  PhoneNumber,
  PhoneNumberChange,
  PhoneNumberFilter,
  PhoneNumbers,
} from '../../contracts/ports/phone/phone.js';
import type { Secrets } from '../../contracts/ports/secrets.js';
import { listed, positionAfter, wantedRows } from '../page.js';
import { phoneApiContext, phoneContext, phoneInboundContext } from '../secrets/sealed.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { replaceSipConfig, sipColumns, sipConfigOf, type SipRow } from './sip-config.js';

/** The order of claims to one number: the first is whose it is. */
const precedence = (sql: Sql | Transaction) => sql`p.proven_at nulls last, p.position`;

/** Whether the number is another workspace's; of providers that have no address of ours, which would tell them apart. */
const belongsToAnother = (sql: Sql | Transaction) => sql`
  p.provider = 'sip' and exists (
    select from phone_numbers o where o.provider = p.provider and o.address = p.address and o.id <> p.id
      and (coalesce(o.proven_at, 'infinity'), o.position) < (coalesce(p.proven_at, 'infinity'), p.position))`;

const columns = (sql: Sql | Transaction) => sql`
  p.id, p.workspace_id as "workspaceId", p.provider, p.address, p.label, p.agent_id as "agentId", p.enabled,
  p.api_url as "apiUrl", p.sealed_api is not null as "placesCalls", p.token,
  ${belongsToAnother(sql)} as "belongsToAnother", p.set_up_failure as "setUpFailure",
  p.created_at as "createdAt", p.updated_at as "updatedAt"`;

const conflict = (message: string): ServiceError => new ServiceError('conflict', { message });

const isListed = (sql: Sql, workspaceId: string, { address, agentId }: PhoneNumberFilter) => sql`
  p.workspace_id = ${workspaceId}
  ${address === undefined ? sql`` : sql`and p.address = ${address}`}
  ${agentId === undefined ? sql`` : sql`and p.agent_id = ${agentId}`}`;

type ReadRow = PhoneNumber & SipRow;

/** As its workspace reads it. */
function numberOf({ sipSealed, sipApi, sipInbound, ...number }: ReadRow, secrets: Secrets): PhoneNumber {
  const sip = sipConfigOf(number.id, { sipSealed, sipApi, sipInbound }, secrets);
  return { ...number, ...(sip && { sip }) };
}

async function list(
  { sql, secrets }: Parts,
  workspaceId: string,
  filter: PhoneNumberFilter,
  page: PageRequest,
): Promise<Listed<PhoneNumber>> {
  const rows = await sql<(ReadRow & { position: string })[]>`
    select ${columns(sql)}, ${sipColumns(sql)}, p.position::text as position from phone_numbers p
    where ${isListed(sql, workspaceId, filter)} and p.position < ${positionAfter(page)}
    order by p.position desc offset ${page.offset} limit ${wantedRows(page)}`;
  const [counted] = page.total
    ? await sql<{ total: number }[]>`
        select count(*)::int as total from phone_numbers p where ${isListed(sql, workspaceId, filter)}`
    : [];
  return listed(rows, page, counted?.total ?? null, ({ position: _, ...number }) =>
    numberOf(number, secrets),
  );
}

async function read(
  sql: Sql | Transaction,
  secrets: Secrets,
  id: string,
  workspaceId: string,
): Promise<PhoneNumber | undefined> {
  const [row] = await sql<ReadRow[]>`
    select ${columns(sql)}, ${sipColumns(sql)} from phone_numbers p
    where p.id = ${id} and p.workspace_id = ${workspaceId}`;
  return row && numberOf(row, secrets);
}

/** Errors: `not_found`. */
async function checkAgent(
  tx: Transaction,
  agentId: string | null | undefined,
  workspaceId: string,
): Promise<void> {
  if (agentId === null || agentId === undefined) return;
  const [row] = await tx`
    select from agents where id = ${agentId} and workspace_id = ${workspaceId} for key share`;
  if (!row) throw new ServiceError('not_found', { message: 'Agent not found' });
}

interface PhoneRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly provider: string;
  readonly address: string;
  readonly label: string;
  readonly agent_id: string | null;
  readonly enabled: boolean;
  readonly api_url: string | null;
  readonly sealed: Uint8Array;
  readonly sealed_api: Uint8Array | null;
  readonly sealed_inbound: Uint8Array | null;
}

/** Locks the workspace's row, so that numbers are counted one after the other. Errors: `conflict`. */
async function insert(tx: Transaction, row: PhoneRow): Promise<void> {
  const { workspace_id: workspaceId, provider, address } = row;
  await tx`select from workspaces where id = ${workspaceId} for no key update`;
  const [counted] = await tx<{ count: number; same: number }[]>`
    select count(*)::int as count, (count(*) filter (where provider = ${provider} and address = ${address}))::int as same
    from phone_numbers where workspace_id = ${workspaceId}`;
  const { count = 0, same = 0 } = counted ?? {};
  if (same > 0) throw conflict('The workspace has this number already');
  const { perWorkspace: most } = LIMITS.phone;
  if (count >= most) throw conflict(`The workspace has ${most} phone numbers already; delete some first`);
  await tx`insert into phone_numbers ${tx(row)}`;
}

interface Parts {
  readonly sql: Sql;
  readonly ids: Ids;
  readonly secrets: Secrets;
}

const sealApi = (secrets: Secrets, id: string, api: Credentials): Uint8Array =>
  secrets.seal(JSON.stringify(api), phoneApiContext(id));

const openApi = (secrets: Secrets, id: string, sealed: Uint8Array | null): Credentials =>
  sealed ? (JSON.parse(secrets.openSealed(sealed, phoneApiContext(id))) as Credentials) : {};

const create = (
  { sql, ids, secrets }: Parts,
  wanted: NewPhoneNumber,
  { secret, api, inbound }: NumberSecrets,
  workspaceId: string,
) =>
  sql.begin(async (tx) => {
    const id = ids.next('phone');
    await checkAgent(tx, wanted.agentId, workspaceId);
    const { provider, address, label, agentId, enabled, apiUrl } = wanted;
    await insert(tx, {
      id,
      workspace_id: workspaceId,
      provider,
      address,
      label,
      agent_id: agentId,
      enabled,
      api_url: apiUrl,
      sealed: secrets.seal(secret, phoneContext(id)),
      sealed_api: api ? sealApi(secrets, id, api) : null,
      sealed_inbound: inbound ? secrets.seal(JSON.stringify(inbound), phoneInboundContext(id)) : null,
    });
    return read(tx, secrets, id, workspaceId);
  }) as Promise<PhoneNumber>;

const change = (
  { sql, secrets }: Parts,
  id: string,
  workspaceId: string,
  { label, agentId, enabled, apiUrl, secret, api }: PhoneNumberChange,
) =>
  sql.begin(async (tx) => {
    const [row] = await tx<{ sealed_api: Buffer | null }[]>`
      select sealed_api from phone_numbers where id = ${id} and workspace_id = ${workspaceId} for no key update`;
    if (!row) return undefined;
    await checkAgent(tx, agentId, workspaceId);
    await tx`
      update phone_numbers set enabled = coalesce(${enabled ?? null}, enabled), label = coalesce(${label ?? null}, label), updated_at = now(),
        agent_id = case when ${agentId === undefined} then agent_id else ${agentId ?? null} end,
        api_url = case when ${apiUrl === undefined} then api_url else ${apiUrl ?? null} end
      where id = ${id}`;
    if (secret !== undefined)
      await tx`update phone_numbers set sealed = ${secrets.seal(secret, phoneContext(id))} where id = ${id}`;
    if (api) {
      const sealed = sealApi(secrets, id, { ...openApi(secrets, id, row.sealed_api), ...api });
      await tx`update phone_numbers set sealed_api = ${sealed} where id = ${id}`;
    }
    return read(tx, secrets, id, workspaceId);
  }) as Promise<PhoneNumber | undefined>;

async function remove(sql: Sql, id: string, workspaceId: string): Promise<boolean> {
  const { count } = await sql`delete from phone_numbers where id = ${id} and workspace_id = ${workspaceId}`;
  return count > 0;
}

async function named(sql: Sql, name: string, workspaceId: string): Promise<readonly PhoneNumber[]> {
  return sql<PhoneNumber[]>`
    select ${columns(sql)} from phone_numbers p
    where p.workspace_id = ${workspaceId} and (p.address = ${phoneAddress(name) ?? name} or p.id = ${name})
    order by p.position limit 10`;
}

async function open({ sql, secrets }: Parts, id: string): Promise<OpenedNumber | undefined> {
  const [row] = await sql<(PhoneNumber & { sealed: Buffer; sealedApi: Buffer | null })[]>`
    select ${columns(sql)}, p.sealed, p.sealed_api as "sealedApi" from phone_numbers p where p.id = ${id}`;
  if (!row) return undefined;
  const { sealed, sealedApi, ...number } = row;
  return {
    number,
    secret: secrets.openSealed(sealed, phoneContext(id)),
    api: openApi(secrets, id, sealedApi),
  };
}

type ClaimRow = PhoneNumber & { readonly sealed: Buffer; readonly isProven: boolean };

const claimColumns = (sql: Sql) => sql`${columns(sql)}, p.sealed, p.proven_at is not null as "isProven"`;

const claimOf = ({ sealed, isProven, ...number }: ClaimRow, secrets: Secrets): Claim => ({
  number,
  secret: secrets.openSealed(sealed, phoneContext(number.id)),
  isProven,
});

async function find({ sql, secrets }: Parts, provider: string, address: string, skip: number) {
  const rows = await sql<ClaimRow[]>`
    select ${claimColumns(sql)} from phone_numbers p
    where p.provider = ${provider} and p.address = ${address}
    order by ${precedence(sql)} offset ${skip} limit ${LIMITS.phone.claims}`;
  return rows.map((row) => claimOf(row, secrets));
}

async function addressed({ sql, secrets }: Parts, provider: string, token: string, address: string) {
  const [row] = await sql<ClaimRow[]>`
    select ${claimColumns(sql)} from phone_numbers told
    join phone_numbers p on p.workspace_id = told.workspace_id and p.provider = told.provider
    where told.token = ${token} and told.provider = ${provider} and p.address = ${address}`;
  return row && claimOf(row, secrets);
}

async function tokened({ sql, secrets }: Parts, provider: string, token: string) {
  const [row] = await sql<ClaimRow[]>`
    select ${claimColumns(sql)} from phone_numbers p where p.token = ${token} and p.provider = ${provider}`;
  return row && claimOf(row, secrets);
}

async function known({ sql, secrets }: Parts, provider: string, most: number) {
  const rows = await sql<ClaimRow[]>`
    select ${claimColumns(sql)} from phone_numbers p where p.provider = ${provider} and p.enabled
    order by ${precedence(sql)} limit ${most}`;
  return rows.map((row) => claimOf(row, secrets));
}

const prove = (sql: Sql, id: string) =>
  sql`update phone_numbers set proven_at = now() where id = ${id} and proven_at is null`;

async function answered({ sql, secrets }: Parts, provider: string) {
  const rows = await sql<(ClaimRow & { inbound: Buffer | null })[]>`
    select ${claimColumns(sql)}, p.sealed_inbound as inbound from (
      select distinct on (address) * from phone_numbers p where provider = ${provider}
      order by address, ${precedence(sql)}) p
    where p.enabled and p.agent_id is not null order by p.position`;
  return rows.map(({ inbound: sealed, ...row }) => ({
    ...claimOf(row, secrets),
    ...(sealed && {
      inbound: JSON.parse(secrets.openSealed(sealed, phoneInboundContext(row.id))) as Credentials,
    }),
  }));
}

const noteSetUp = (sql: Sql, provider: string, failures: Readonly<Record<string, string>>) => sql`
  update phone_numbers p set set_up_failure = ${JSON.stringify(failures)}::text::jsonb ->> p.id
  where p.provider = ${provider}
    and p.set_up_failure is distinct from ${JSON.stringify(failures)}::text::jsonb ->> p.id`;

const AT_ONCE = 200;

/** Removes calls that providers asked about more than `days` ago, as with sessions: nobody replays webhooks of that age. */
export const forgetOldCalls = (sql: Sql, days: number) => sql`
  delete from phone_calls where (number_id, call_id) in (
    select number_id, call_id from phone_calls where created_at < now() - ${days}::int * interval '1 day'
    order by created_at limit ${AT_ONCE} for update skip locked)`;

export const createPhoneNumbers = (
  parts: Parts,
): PhoneNumbers & DialledNumbers & DiallingNumbers & AnsweredNumbers => ({
  list: (workspaceId, filter, page) => list(parts, workspaceId, filter, page),
  read: (id, workspaceId) => read(parts.sql, parts.secrets, id, workspaceId),
  create: (wanted, own, workspaceId) => create(parts, wanted, own, workspaceId),
  change: (id, workspaceId, wanted) => change(parts, id, workspaceId, wanted),
  async configureSip(id, workspaceId, config) {
    const { sql, secrets } = parts;
    const replaced = await replaceSipConfig(sql, secrets, { id, workspaceId }, config);
    return replaced ? read(sql, secrets, id, workspaceId) : undefined;
  },
  remove: (id, workspaceId) => remove(parts.sql, id, workspaceId),
  named: (name, workspaceId) => named(parts.sql, name, workspaceId),
  open: (id) => open(parts, id),
  find: (provider, address, skip = 0) => find(parts, provider, address, skip),
  addressed: (provider, token, address) => addressed(parts, provider, token, address),
  tokened: (provider, token) => tokened(parts, provider, token),
  known: (provider, most) => known(parts, provider, most),
  async prove(numberId) {
    await prove(parts.sql, numberId);
  },
  answered: (provider) => answered(parts, provider),
  async noteSetUp(provider, failures) {
    await noteSetUp(parts.sql, provider, failures);
  },
  async noteFailure(id, failure) {
    await parts.sql`update phone_numbers set set_up_failure = ${failure} where id = ${id}`;
  },
  async note(numberId, callId) {
    const { count } = await parts.sql`
      insert into phone_calls (number_id, call_id) values (${numberId}, ${callId}) on conflict do nothing`;
    return count > 0;
  },
});
