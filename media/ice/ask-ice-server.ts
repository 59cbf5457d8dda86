/** Whether a STUN or TURN server does what clients want of it: a binding, or an allocation with its credentials, which is given back at once. */
import type { IceAddress } from './ice-url.js';
import { StunExchange } from './stun-exchange.js';
import type { Challenge, StunCredentials, StunAnswer } from './stun-message.js';

const UNAUTHENTICATED = 401;
const STALE_NONCE = 438;

/** A server refused; `code`: that of STUN, such as 401 for wrong credentials and 486 where one user has too many. */
export class IceRefusal extends Error {
  constructor(readonly refused: number) {
    super(`The server answered ${refused}`);
  }
}

function accepted(answer: StunAnswer): void {
  if (!answer.isSuccess) throw new IceRefusal(answer.code ?? 0);
}

/** The answer to the first challenge, and to one more if it has become old meanwhile. */
async function allocated(
  exchange: StunExchange,
  credentials: StunCredentials,
): Promise<Challenge | undefined> {
  let challenge: Challenge | undefined;
  for (const expected of [UNAUTHENTICATED, STALE_NONCE, 0]) {
    const auth = challenge && { ...credentials, ...challenge };
    const answer = await exchange.ask({ kind: 'allocate', ...(auth && { auth }) });
    if (answer.isSuccess || answer.code !== expected || !answer.challenge) {
      accepted(answer);
      return challenge;
    }
    challenge = answer.challenge;
  }
  return challenge;
}

/** Errors: `IceRefusal`, those of sockets and DNS, the reason of `signal`. */
export async function askIceServer(
  address: IceAddress,
  credentials: StunCredentials | undefined,
  signal: AbortSignal,
): Promise<void> {
  const exchange = await StunExchange.open(address, signal);
  try {
    if (address.kind === 'stun' || !credentials) return accepted(await exchange.ask({ kind: 'binding' }));
    const challenge = await allocated(exchange, credentials);
    exchange.tell({ kind: 'refresh', ...(challenge && { auth: { ...credentials, ...challenge } }) });
  } finally {
    exchange.close();
  }
}
