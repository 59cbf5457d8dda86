/**
 * Resolves names to addresses. The system's own look-up occupies one of the process's few threads for as long as a
 * hostile name server likes, so it is used only for hosts that the operator named (and so for /etc/hosts). For every
 * other name the name servers are asked directly, with a time limit; the query is cancelled when the caller leaves.
 */
import { Resolver, lookup as systemLookup } from 'node:dns/promises';

/** All addresses of a host, at least one. Rejects if there is none. */
export type Lookup = (host: string, named: boolean, signal: AbortSignal) => Promise<readonly string[]>;

const ASK = { timeout: 3000, tries: 2 };
const MOST_ADDRESSES = 16;

async function ask(host: string, signal: AbortSignal): Promise<readonly string[]> {
  const resolver = new Resolver(ASK);
  const cancel = (): void => resolver.cancel();
  signal.addEventListener('abort', cancel);
  try {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length > 0) return found;
    const failed = answers.find((answer) => answer.status === 'rejected');
    throw new Error(`${host} does not resolve`, { cause: failed?.reason });
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

const askSystem = async (host: string): Promise<readonly string[]> =>
  (await systemLookup(host, { all: true })).map(({ address }) => address);

export const resolveHost: Lookup = async (host, named, signal) =>
  (await (named ? askSystem(host) : ask(host, signal))).slice(0, MOST_ADDRESSES);
