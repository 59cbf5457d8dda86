/** The ports that the sockets of agents use. */
import type { Clock } from '../../../contracts/clock.js';
import type { Log } from '../../../contracts/log.js';
import type { ClientSecrets } from '../../../contracts/ports/accounts/client-secrets.js';
import type { KeyAuthority } from '../../../contracts/ports/accounts/identity.js';
import type { MemoryLedger } from '../../../contracts/ports/accounts/memory.js';
import type { SocketCalls } from '../../../contracts/ports/calls/socket-calls.js';
import type { SocketSessions } from '../../../contracts/ports/sessions/socket-sessions.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';

export interface AgentRealtimeParts {
  readonly keys: KeyAuthority;
  readonly clientSecrets: ClientSecrets;
  readonly sessions: SocketSessions;
  /** Undefined where calls are carried by another server (livekit mode). */
  readonly calls: SocketCalls | undefined;
  /** Ledger of what waits for calls whose events go by a data channel. */
  readonly memory: MemoryLedger;
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
  readonly log: Log;
}
