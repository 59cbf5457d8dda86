/**
 * The cheap question to each STUN and TURN server of ICE_SERVERS: clients alone use them, and one with a wrong password leaves no other
 * trace than calls without sound. Of the server's reach from elsewhere it says nothing.
 */
import type { PartOutcome, Part } from '../../contracts/ports/parts.js';
import { askIceServer, IceRefusal } from '../../media/ice/ask-ice-server.js';
import { iceAddress } from '../../media/ice/ice-url.js';
import type { Config } from '../config.js';
import { ICE_SERVERS } from '../config/settings.js';
import { type PartCheck, PartFailure } from './part-check.js';

/** Codes of RFC 8489, 14.8 and of RFC 8656, 19; a server error is any from 500 on. */
const OUTCOMES: Readonly<Record<number, PartOutcome>> = {
  401: 'refused_key',
  403: 'refused_key',
  441: 'refused_key',
  486: 'limited',
  508: 'limited',
};
const SERVER_ERROR = 500;

const outcomeOf = (code: number): PartOutcome =>
  OUTCOMES[code] ?? (code >= SERVER_ERROR ? 'failed' : 'invalid');

export const icePart = (url: string): Part => ({
  kind: 'ice',
  name: /^turn/i.test(url) ? 'turn' : 'stun',
  address: url,
  settings: { address: ICE_SERVERS },
});

type IceServer = Config['iceServers'][number];

async function askIce(url: string, server: IceServer, signal: AbortSignal): Promise<undefined> {
  const address = iceAddress(url);
  if (!address)
    throw new PartFailure({ outcome: 'wrong_address', did: 'has no address that clients could use' });
  const { username, credential } = server;
  const credentials =
    username === undefined || credential === undefined ? undefined : { username, credential };
  await askIceServer(address, credentials, signal).catch((error: unknown) => {
    if (!(error instanceof IceRefusal)) throw error;
    throw new PartFailure({ outcome: outcomeOf(error.refused), status: error.refused });
  });
}

/** A LiveKit server has servers of its own. */
export const iceChecks = ({
  iceServers,
  livekit,
}: Pick<Config, 'iceServers' | 'livekit'>): readonly PartCheck[] =>
  livekit
    ? []
    : iceServers.flatMap((server) =>
        server.urls.map((url): PartCheck => ({
          parts: [icePart(url)],
          isRegular: true,
          ask: (signal) => askIce(url, server, signal),
        })),
      );
