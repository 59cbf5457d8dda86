/** Why a port cannot be listened on, in words for the person who started the gateway. */
import { createServer } from 'node:net';

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Command by which a person finds the process that uses a port. */
const whoHas = (port: number): string =>
  process.platform === 'linux' ? `ss -ltnp 'sport = :${port}'` : `lsof -nP -iTCP:${port} -sTCP:LISTEN`;

const REASONS: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (_host, port) =>
    `Port ${port} is taken by another process: set PORT to another one, or find who has it with ${whoHas(port)}`,
  EACCES: (_host, port) => `Not allowed to listen on port ${port}: set PORT to one above 1023`,
  EADDRNOTAVAIL: (host, port) => `${host} is not an address of this machine (port ${port}): set HOST`,
  ENOTFOUND: (host, port) => `The host ${host} is not known (port ${port}): set HOST`,
};

/** Finds out with a plain socket why nobody can listen there, since uWebSockets.js gives no reason; undefined if one can. */
const probe = ({ host, port }: Address): Promise<string | undefined> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });

/** Why listening failed, for the person who started the gateway. */
export async function listenError(error: unknown, { host, port }: Address): Promise<Error> {
  const code = (error as NodeJS.ErrnoException).code ?? (await probe({ host, port })) ?? 'EADDRINUSE';
  const reason = REASONS[code]?.(host, port) ?? `Cannot listen on ${host} port ${port} (${code})`;
  return new Error(reason, { cause: error });
}

/** Checks that the port is free. Errors: an Error that says why it is not. */
export async function checkPort(address: Address): Promise<void> {
  const code = await probe(address);
  if (code !== undefined) throw await listenError(Object.assign(new Error(code), { code }), address);
}
