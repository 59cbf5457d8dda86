/** The ports that protocol A's routes and sockets use. */
import type { Clock } from '../../../contracts/clock.js';
import type { Log } from '../../../contracts/log.js';
import type { ClientSecrets } from '../../../contracts/ports/accounts/client-secrets.js';
import type { KeyAuthority } from '../../../contracts/ports/accounts/identity.js';
import type { Speech, Transcription } from '../../../contracts/ports/speech/speech.js';
import type { VoiceCatalogue } from '../../../contracts/ports/speech/voices.js';
import type { Places } from '../../server/job-place.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';
import type { AgentDoor } from './agent-door.js';
import type { Base, PcmRates } from './bases.js';

export interface ProtocolAParts {
  readonly speech: Speech;
  readonly transcription: Transcription;
  readonly voices: Pick<VoiceCatalogue, 'list' | 'own'>;
  readonly keys: KeyAuthority;
  readonly admission: Places;
  readonly clientSecrets: ClientSecrets;
  /** Undefined: no base takes an agent as the model. */
  readonly agents: AgentDoor | undefined;
  readonly vocabulary: Vocabulary;
  /** Configured sample rates of `pcm`. */
  readonly pcmRates: PcmRates;
  readonly clock: Clock;
  readonly log: Log;
}

/** The same with the base of the route. */
export interface BaseParts extends ProtocolAParts {
  readonly base: Base;
}
