/** The ports that protocol B's routes and sockets work with. */
import type { Clock } from '../../../contracts/clock.js';
import type { Log } from '../../../contracts/log.js';
import type { KeyAuthority } from '../../../contracts/ports/accounts/identity.js';
import type { SingleUseTokens } from '../../../contracts/ports/accounts/single-use-tokens.js';
import type { SocketCalls } from '../../../contracts/ports/calls/socket-calls.js';
import type { SocketSessions } from '../../../contracts/ports/sessions/socket-sessions.js';
import type { Speech, Transcription } from '../../../contracts/ports/speech/speech.js';
import type { VoiceCatalogue } from '../../../contracts/ports/speech/voices.js';
import type { ReadWallet } from '../../../contracts/ports/accounts/wallet.js';
import type { Places } from '../../server/job-place.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';

/** Calls of agents by one socket. */
export interface Conversations {
  readonly sessions: SocketSessions;
  /** Undefined where calls are carried by another server (livekit mode). */
  readonly calls: SocketCalls | undefined;
}

export interface ProtocolBParts {
  readonly speech: Speech;
  readonly transcription: Transcription;
  readonly voices: VoiceCatalogue;
  readonly wallet: ReadWallet;
  readonly keys: KeyAuthority;
  readonly admission: Places;
  readonly tokens: SingleUseTokens;
  readonly conversations: Conversations;
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
  readonly log: Log;
}

/** Base path of all routes and sockets of protocol B: `/compat/<segment>`. */
export const baseOf = ({ protocolBSegment }: Pick<Vocabulary, 'protocolBSegment'>): string =>
  `/compat/${protocolBSegment}`;
