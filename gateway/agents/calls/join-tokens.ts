/**
 * Join tokens as LiveKit's clients carry them (docs/contract/transport.md): JWTs for one room, signed with a key that only this
 * installation has, or with the cluster's own in livekit mode. The session row, not the token, makes sure that a `join`
 * token is spent only once, and in time: a clock that is set, or that differs from the issuer's, must not
 * keep a client out of its call.
 */
import type { Clock } from '../../../contracts/clock.js';
import type { JoinClaims, JoinTokens } from '../../../contracts/ports/calls/join-tokens.js';

export interface JoinKey {
  readonly id: string;
  readonly secret: string;
}

/** Costs 20 MB, so not before the first session. */
const livekit = () => import('livekit-server-sdk');

/** Tolerance for clocks, in seconds. */
const ANY_TIME = Infinity;

/** Longer tokens are not ours. */
const MOST_CHARACTERS = 4096;

const isUse = (use: string | undefined): use is JoinClaims['use'] => use === 'join' || use === 'rejoin';

export function createJoinTokens({ id, secret }: JoinKey, clock: Clock): JoinTokens {
  return {
    async issue({ sessionId, identity, use }, expiresAt) {
      const { AccessToken } = await livekit();
      // The library takes 0 for six hours.
      const ttl = Math.ceil((expiresAt.getTime() - clock.now()) / 1000) || -1;
      const token = new AccessToken(id, secret, { identity, ttl, attributes: { use } });
      token.addGrant({
        room: sessionId,
        roomJoin: true,
        canPublish: true,
        canSubscribe: true,
        canPublishData: true,
        canUpdateOwnMetadata: false,
      });
      return token.toJwt();
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
