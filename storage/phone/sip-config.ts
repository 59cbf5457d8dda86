/** The parts of a phone number's row that numbers of `sip` have beside others: addresses, account, and the carrier's server. */
import { ServiceError } from '../../contracts/errors.js';
import { sourcesOf, storedSources } from '../../contracts/phone/sip-sources.js';
import type { Credentials, SipConfig, SipConfigChange } from '../../contracts/ports/phone/phone.js';
import type { Secrets } from '../../contracts/ports/secrets.js';
import { phoneApiContext, phoneContext, phoneInboundContext } from '../secrets/sealed.js';
import type { Sql, Transaction } from '../postgres/sql.js';

export interface SipRow {
  readonly sipSealed: Buffer | null;
  readonly sipApi: Buffer | null;
  readonly sipInbound: Buffer | null;
}

/** Needs the numbers as `p`. */
export const sipColumns = (sql: Sql | Transaction) => sql`
  case when p.provider = 'sip' then p.sealed end as "sipSealed",
  case when p.provider = 'sip' then p.sealed_api end as "sipApi",
  case when p.provider = 'sip' then p.sealed_inbound end as "sipInbound"`;

const opened = (secrets: Secrets, sealed: Buffer | null, context: string): Credentials =>
  sealed ? (JSON.parse(secrets.openSealed(sealed, context)) as Credentials) : {};

/** Without passwords; undefined for numbers of other providers. */
export function sipConfigOf(
  id: string,
  { sipSealed, sipApi, sipInbound }: SipRow,
  secrets: Secrets,
): SipConfig | undefined {
  if (!sipSealed) return undefined;
  const { server = null, username = '' } = opened(secrets, sipApi, phoneApiContext(id));
  const { username: inboundUsername = null } = opened(secrets, sipInbound, phoneInboundContext(id));
  const addresses = secrets.openSealed(sipSealed, phoneContext(id));
  return { sources: sourcesOf(addresses, inboundUsername !== null), inboundUsername, server, username };
}

/** The password, or the stored one. Errors: `validation_failed` if there is none. */
function passwordOf(what: string, wanted: string | undefined, stored: Credentials): string {
  const password = wanted ?? stored['password'];
  if (password !== undefined) return password;
  throw new ServiceError('validation_failed', { message: `missing field ${what}`, param: what });
}

/** Replaces all of it; passwords that are left out stay. False without such a number. Errors: `validation_failed`. */
export const replaceSipConfig = (
  sql: Sql,
  secrets: Secrets,
  { id, workspaceId }: { readonly id: string; readonly workspaceId: string },
  { sources, inbound, termination }: SipConfigChange,
): Promise<boolean> =>
  sql.begin(async (tx) => {
    const [row] = await tx<{ api: Buffer | null; inbound: Buffer | null }[]>`
      select sealed_api as api, sealed_inbound as inbound from phone_numbers
      where id = ${id} and workspace_id = ${workspaceId} and provider = 'sip' for no key update`;
    if (!row) return false;
    const account = inbound && {
      username: inbound.username,
      password: passwordOf(
        'inbound_auth_password',
        inbound.password,
        opened(secrets, row.inbound, phoneInboundContext(id)),
      ),
    };
    const { server, username, password } = termination ?? {};
    const stored = opened(secrets, row.api, phoneApiContext(id));
    const api = termination && {
      ...{ server, username },
      password: username === '' ? '' : passwordOf('termination_auth_password', password, stored),
    };
    const seal = (value: object | null, context: string): Uint8Array | null =>
      value && secrets.seal(JSON.stringify(value), context);
    await tx`
      update phone_numbers set updated_at = now(),
        sealed = ${secrets.seal(storedSources(sources), phoneContext(id))},
        sealed_api = ${seal(api, phoneApiContext(id))},
        sealed_inbound = ${seal(account, phoneInboundContext(id))}
      where id = ${id}`;
    return true;
  }) as Promise<boolean>;
