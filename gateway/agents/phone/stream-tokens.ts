/**
 * Tokens by which media streams find their sessions. The answer to a provider's webhook carries one, and the provider
 * returns it when the stream starts. It is valid for that call at that provider; the session row decides that it is spent
 * once, and until when.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../../../contracts/clock.js';
import { CALL_TIMES } from '../../../contracts/limits/call-times.js';
import type { PhoneProvider } from '../../../contracts/phone/phone.js';
import { isSame } from './signatures.js';

export interface StreamClaims {
  readonly provider: PhoneProvider;
  readonly callId: string;
}

export interface StreamTokens {
  issue(sessionId: string, claims: StreamClaims): string;
  /** The session; undefined if the token is not ours, or another call's. */
  verify(token: string, claims: StreamClaims): string | undefined;
}

/** `key`: the same in every process of the installation. */
export function createStreamTokens(key: Uint8Array): StreamTokens {
  const issue = (sessionId: string, { provider, callId }: StreamClaims): string => {
    const signature = createHmac('sha256', key)
      .update(`${provider} ${callId} ${sessionId}`)
      .digest('base64url');
    return `${sessionId}.${signature}`;
  };
  return {
    issue,
    verify(token, claims) {
      const [sessionId = ''] = token.split('.', 1);
      return isSame(token, issue(sessionId, claims)) ? sessionId : undefined;
    },
  };
}

/**
 * Proofs in the addresses of media streams: the last part of the address that the answer to a webhook names. The token, which is
 * the call's, comes only with the first message; this shows already in the handshake that a call was answered, so that the stream
 * waits among its like and not among strangers. It is good for as long as the session waits for its stream.
 */
export interface StreamProofs {
  issue(provider: PhoneProvider): string;
  /** The holder of the place, one for each answered call; undefined if the proof is not ours, or too old. */
  verify(provider: PhoneProvider, proof: string): string | undefined;
}

const HOLDER_BYTES = 9;
const MOST_PROOF = 128;

/** `key`: as of the tokens. */
export function createStreamProofs(key: Uint8Array, clock: Pick<Clock, 'now'>): StreamProofs {
  const signed = (provider: PhoneProvider, holder: string, until: string): string => {
    const signature = createHmac('sha256', key).update(`stream ${provider} ${holder} ${until}`);
    return `${holder}.${until}.${signature.digest('base64url')}`;
  };
  return {
    issue(provider) {
      const until = (clock.now() + CALL_TIMES.joinWindowMs).toString(36);
      return signed(provider, randomBytes(HOLDER_BYTES).toString('base64url'), until);
    },
    verify(provider, proof) {
      if (proof.length > MOST_PROOF) return undefined;
      const [holder = '', until = ''] = proof.split('.', 2);
      const isOurs = isSame(proof, signed(provider, holder, until));
      return isOurs && clock.now() <= parseInt(until, 36) ? `call ${holder}` : undefined;
    },
  };
}
