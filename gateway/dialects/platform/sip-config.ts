/** Numbers of `sip` in the described platform's fields (docs/contract/platform.md 6.13): checked, and as reads show them. */
import { CREDENTIAL_FORMS } from '../../../contracts/phone/phone.js';
import { storedSources } from '../../../contracts/phone/sip-sources.js';
import type { NumberSecrets, PhoneNumber, SipConfigChange } from '../../../contracts/ports/phone/phone.js';
import type { Problem } from '../../../contracts/schemas/check.js';
import { type PhoneSipConfig, SIP_FIELDS, type SipRead } from '../../../contracts/schemas/phone.js';
import { problem } from './errors.js';

const NAMES = Object.keys(SIP_FIELDS) as readonly (keyof PhoneSipConfig)[];

/** Those of the fields that a request has. */
export const sipFieldsIn = (body: PhoneSipConfig): readonly string[] =>
  NAMES.filter((name) => body[name] !== undefined);

const ADDRESS = CREDENTIAL_FORMS['allowed_addresses']?.[0] ?? /^$/;
/** A host with or without a port; the scheme and parameters of a SIP address are not part of it. */
const HOST = /^[a-z0-9.-]{1,253}(:\d{1,5})?$/i;

const absent = (text: string | null | undefined): boolean =>
  text === undefined || text === null || text === '';

/** A password needs its username; without a stored one (`isNew`) also the reverse. */
function accountProblems(
  side: 'inbound' | 'termination',
  {
    [`${side}_auth_username` as const]: username,
    [`${side}_auth_password` as const]: password,
  }: PhoneSipConfig,
  isNew: boolean,
): Problem[] {
  const at = (name: string): Problem => problem([name], `missing field ${name}`, 'required');
  if (absent(username)) return absent(password) ? [] : [at(`${side}_auth_username`)];
  return isNew && absent(password) ? [at(`${side}_auth_password`)] : [];
}

function sourceProblems({
  inbound_allowed_addresses: sources,
  inbound_auth_username: username,
}: PhoneSipConfig) {
  const list = sources ?? [];
  const wrong = list.flatMap((source, index) =>
    ADDRESS.test(source) && !source.includes(',')
      ? []
      : [
          problem(
            ['inbound_allowed_addresses', index],
            `inbound_allowed_addresses.${index} must be an IP address or a network (203.0.113.0/24)`,
          ),
        ],
  );
  const isOpen = list.length === 0 && absent(username);
  const needed = 'one of inbound_allowed_addresses and inbound_auth_username is needed';
  return isOpen ? [problem(['inbound_allowed_addresses'], needed, 'required')] : wrong;
}

/** What belongs to the carrier's server, and is of no use without it. */
const NEED_SERVER = ['termination_auth_username', 'termination_auth_password'] as const;

function serverProblems(body: PhoneSipConfig): Problem[] {
  const { termination_uri: uri, termination_transport: transport } = body;
  if (typeof uri === 'string' && uri !== '')
    return HOST.test(uri)
      ? []
      : [problem(['termination_uri'], 'termination_uri must be a host, with or without a port')];
  const useless = NEED_SERVER.some((name) => !absent(body[name])) || (transport ?? 'auto') !== 'auto';
  return useless ? [problem(['termination_uri'], 'missing field termination_uri', 'required')] : [];
}

/** All problems beyond the schema; `isNew`: no password is stored. */
export const sipProblems = (body: PhoneSipConfig, isNew: boolean): readonly Problem[] => [
  ...sourceProblems(body),
  ...accountProblems('inbound', body, isNew),
  ...serverProblems(body),
  ...accountProblems('termination', body, isNew),
];

const passwordIn = (password: string | null | undefined) =>
  typeof password === 'string' && password !== '' ? { password } : {};

/** The configuration in which `sipProblems` found none. */
export function sipChangeOf(body: PhoneSipConfig): SipConfigChange {
  const { inbound_auth_username: inbound, termination_auth_username: username } = body;
  const { termination_uri: uri, termination_transport: transport } = body;
  const route = transport && transport !== 'auto' ? `;transport=${transport}` : '';
  return {
    sources: body.inbound_allowed_addresses ?? [],
    inbound: inbound ? { username: inbound, ...passwordIn(body.inbound_auth_password) } : null,
    termination: uri
      ? {
          server: `${uri}${route}`,
          username: username ?? '',
          ...passwordIn(body.termination_auth_password),
        }
      : null,
  };
}

/** The same for a new number. */
export function sipSecretsOf(body: PhoneSipConfig): NumberSecrets {
  const { sources, inbound, termination } = sipChangeOf(body);
  return {
    secret: storedSources(sources),
    ...(termination && { api: { password: '', ...termination } }),
    ...(inbound && { inbound: { password: '', ...inbound } }),
  };
}

/** As reads show it; nothing of numbers of other providers. */
export function sipShown({ sip }: PhoneNumber): SipRead | undefined {
  if (!sip) return undefined;
  const [uri = '', transport = 'auto'] = (sip.server ?? '').split(';transport=');
  return {
    inbound_auth_username: sip.inboundUsername ?? '',
    inbound_allowed_addresses: [...sip.sources],
    termination_uri: uri,
    termination_transport: transport.toLowerCase() as SipRead['termination_transport'],
    termination_auth_username: sip.username,
  };
}

/** A problem for each of the fields that differs from the number: a PATCH may repeat them as they were read. */
export function sipChangeProblems(sent: Partial<SipRead>, number: PhoneNumber): readonly Problem[] {
  const own: Partial<SipRead> = sipShown(number) ?? {};
  return (Object.keys(sent) as (keyof PhoneSipConfig)[])
    .filter((name): name is keyof SipRead => NAMES.includes(name))
    .filter((name) => sent[name] !== undefined && JSON.stringify(sent[name]) !== JSON.stringify(own[name]))
    .map((name) => problem([name], `${name} is changed by PUT …/sip-config`, 'read_only'));
}
