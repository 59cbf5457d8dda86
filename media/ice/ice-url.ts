/** Addresses of STUN and TURN servers (RFC 7064, RFC 7065): `turn:relay.example.com:3478?transport=tcp`. */

export interface IceAddress {
  readonly kind: 'stun' | 'turn';
  readonly host: string;
  readonly port: number;
  readonly transport: 'udp' | 'tcp' | 'tls';
}

const SHAPE =
  /^(?<scheme>stuns?|turns?):(?:\[(?<six>[^\]]+)\]|(?<host>[^:?[\]]+))(?::(?<port>\d+))?(?:\?(?<query>.*))?$/i;
const PORT = { plain: 3478, secure: 5349 } as const;

/** Undefined if it is none. TLS is always over TCP here: nobody speaks it over UDP. */
export function iceAddress(url: string): IceAddress | undefined {
  const { scheme = '', six, host, port, query = '' } = SHAPE.exec(url)?.groups ?? {};
  const name = six ?? host;
  if (name === undefined) return undefined;
  const isSecure = /s$/i.test(scheme);
  const isStream = /(?:^|&)transport=tcp(?:&|$)/i.test(query);
  return {
    kind: /^turn/i.test(scheme) ? 'turn' : 'stun',
    host: name,
    port: port === undefined ? PORT[isSecure ? 'secure' : 'plain'] : Number(port),
    transport: isSecure ? 'tls' : isStream ? 'tcp' : 'udp',
  };
}
