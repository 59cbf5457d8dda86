/**
 * Tokens by which media streams find their sessions. The answer to a provider's webhook carries one, and the provider
 * returns it when the stream starts. It is valid for that call at that provider; the session row decides that it is spent
 * once, and until when.
 */
import { createHmac } from 'node:crypto';
import type { PhoneProvider } from '../../contracts/phone/phone.js';
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
