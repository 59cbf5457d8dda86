/**
 * Join tokens as LiveKit's clients carry them (docs/contract/transport.md): JWTs for one room, signed with a key that only this
 * installation has, or with the cluster's own in livekit mode. The session row, not the token, makes sure that a `join`
 * token is spent only once, and in time: a clock that is set, or that differs from the issuer's, must not
 * keep a client out of its call.
 */
import { createSecretKey } from 'node:crypto';
import type { Clock } from '../../../contracts/clock.js';
import type { JoinClaims, JoinTokens } from '../../../contracts/ports/calls/join-tokens.js';
import { signedToken } from '../../../media/livekit/tokens.js';

export interface JoinKey {
  readonly id: string;
  readonly secret: string;
}

/** Costs 20 MB, so not before the first token comes back. */
const livekit = () => import('livekit-server-sdk');

/** Tolerance for clocks, in seconds. */
const ANY_TIME = Infinity;

/** Longer tokens are not ours. */
const MOST_CHARACTERS = 4096;

const isUse = (use: string | undefined): use is JoinClaims['use'] => use === 'join' || use === 'rejoin';

/** What the holder of a token may do in its room, in the words of LiveKit's grants. */
const GRANT = {
  roomJoin: true,
  canPublish: true,
  canSubscribe: true,
  canPublishData: true,
  canUpdateOwnMetadata: false,
} as const;

const seconds = (ms: number): number => Math.ceil(ms / 1000);

export function createJoinTokens({ id, secret }: JoinKey, clock: Clock): JoinTokens {
  const key = createSecretKey(secret, 'utf8');
  return {
    async issue({ sessionId, identity, use }, expiresAt) {
      return signedToken(
        {
          attributes: { use },
          video: { room: sessionId, ...GRANT },
          iss: id,
          exp: seconds(expiresAt.getTime()),
          nbf: Math.floor(clock.now() / 1000),
          sub: identity,
        },
        key,
      );
    },
    async verify(token) {
      if (token.length > MOST_CHARACTERS) return undefined;
      const { TokenVerifier } = await livekit();
      const claims = await new TokenVerifier(id, secret).verify(token, ANY_TIME).catch(() => undefined);
      const use = claims?.attributes?.['use'];
      const sessionId = claims?.video?.roomJoin === true ? claims.video.room : undefined;
      const identity = claims?.sub;
      if (sessionId === undefined || identity === undefined || !isUse(use)) return undefined;
      return { sessionId, identity, use };
    },
  };
}
