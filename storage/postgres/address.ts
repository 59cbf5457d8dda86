/**
 * An address of a database, DATABASE_URL, as postgres.js wants it. It means what it means to Postgres' own tools (libpq),
 * wherever postgres.js reads it in another way.
 */
import { readFileSync } from 'node:fs';
import type postgres from 'postgres';
import { codeOf, StorageFailure } from '../failure.js';

const malformed = (): StorageFailure =>
  new StorageFailure(
    'DATABASE_URL is not a Postgres address: postgres://user:password@host:5432/name, with %23 for #, %25 for % and so on',
  );

const isEncoded = (part: string): boolean => {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
};

/** `postgres://user@/name?host=/folder`, as libpq takes it; to a parser of URLs it is none, for want of a host. */
const withHost = (url: string): string =>
  url.trim().replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=[/?#]|$)/i, '$1localhost');

function parseAddress(given: string): URL {
  const url = withHost(given);
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (!address || !/^postgres(ql)?:$/.test(address.protocol)) throw malformed();
  const { username, password, hostname, pathname } = address;
  if (![username, password, hostname, pathname].every(isEncoded)) throw malformed();
  return address;
}

/** The address without its password, for messages. */
export function shownAddress(url: string): string {
  const { username, host, pathname, searchParams } = parseAddress(url);
  const folder = searchParams.get('host');
  return folder ?? `${username && `${username}@`}${host}${pathname}`;
}

interface Target {
  readonly address: string;
  /** What postgres.js does not read from an address as libpq does. */
  readonly options: Pick<
    postgres.Options<Record<string, never>>,
    'host' | 'port' | 'database' | 'user' | 'password' | 'ssl'
  >;
}

/** Takes a parameter out of the address; undefined if it is not there. */
function taken(address: URL, name: string): string | undefined {
  const value = address.searchParams.get(name) ?? undefined;
  address.searchParams.delete(name);
  return value;
}

function contentOf(parameter: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new StorageFailure(`DATABASE_URL: ${parameter} ${file} cannot be read (${codeOf(cause)})`, {
      cause,
    });
  }
}

/** An IPv6 address without the brackets that it has in a URL. */
const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

/** The client's own certificate and its key, both files. */
function ownCertificate(address: URL): { readonly cert?: string; readonly key?: string } {
  const [cert, key] = [taken(address, 'sslcert'), taken(address, 'sslkey')];
  if (cert === undefined || key === undefined) return {};
  return { cert: contentOf('sslcert', cert), key: contentOf('sslkey', key) };
}

/** How the server's certificate is checked: against the host as well, against its authority only, or not at all. */
function checks(mode: string | undefined, file: string | undefined, host: string) {
  if (mode === 'verify-full' || file === 'system') return { host };
  if (file !== undefined) return { checkServerIdentity: () => undefined };
  return mode === 'verify-ca' ? {} : { rejectUnauthorized: false };
}

/**
 * With `sslrootcert=<file>` the server's certificate must be of that authority; `verify-full` also holds it against the host,
 * which postgres.js does not do for an IP address. `sslcert` and `sslkey` are what the server asks of its clients.
 */
function certified(address: URL): Target['options'] {
  const [mode, file, own] = [
    taken(address, 'sslmode'),
    taken(address, 'sslrootcert'),
    ownCertificate(address),
  ];
  if (mode !== 'disable' && (file !== undefined || mode === 'verify-full' || own.cert !== undefined)) {
    const authority = file === undefined || file === 'system' ? {} : { ca: contentOf('sslrootcert', file) };
    return { ssl: { ...authority, ...own, ...checks(mode, file, bare(address.hostname)) } };
  }
  // `allow` is libpq's for "TLS if there is nothing else"; to postgres.js it is the same as `require`.
  if (mode !== undefined) address.searchParams.set('sslmode', mode === 'allow' ? 'prefer' : mode);
  return {};
}

/** postgres.js cannot bind its password to the TLS connection; with `prefer`, libpq does without as well. */
function checkBinding(address: URL): void {
  if (taken(address, 'channel_binding') !== 'require') return;
  throw new StorageFailure(
    'DATABASE_URL: channel_binding=require is not supported: remove it. sslmode=verify-full makes sure of the server, too',
  );
}

/** Parameters of libpq's own sockets, which a server does not know and would refuse. */
const SOCKET_PARAMETERS = [
  'keepalives',
  'keepalives_idle',
  'keepalives_interval',
  'keepalives_count',
  'tcp_user_timeout',
  'sslcompression',
  'sslsni',
  'fallback_application_name',
];

/** Encryption by Kerberos, which libpq tries first where it can: postgres.js knows TLS only. */
function leaveSocketParameters(address: URL): void {
  for (const name of SOCKET_PARAMETERS) taken(address, name);
  if (taken(address, 'gssencmode') !== 'require') return;
  throw new StorageFailure('DATABASE_URL: gssencmode=require is not supported: remove it');
}

type Place = Pick<Target['options'], 'host' | 'port'>;

/** Host and port. postgres.js splits a host at its colons, unless both are lists, of which its types do not tell. */
function placeOf(address: URL): Place {
  const host = taken(address, 'host') ?? decodeURIComponent(bare(address.hostname));
  const port = taken(address, 'port') ?? address.port;
  if (host.includes(':') && !host.startsWith('/'))
    return { host: [host], port: [Number(port || 5432)] } as unknown as Place;
  return { ...(host !== '' && { host }), ...(port !== '' && { port: Number(port) }) };
}

/** `?host=<folder>` is a Unix socket, certificates are files, and the database's name is percent-encoded. */
export function target(url: string): Target {
  const address = parseAddress(url);
  checkBinding(address);
  leaveSocketParameters(address);
  const database = taken(address, 'dbname') ?? decodeURIComponent(address.pathname.slice(1));
  const [user, password] = [taken(address, 'user'), taken(address, 'password')];
  const options = {
    ...(database !== '' && { database }),
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...certified(address),
    ...placeOf(address),
  };
  return { address: address.href, options };
}
