/** The ports that the native API's routes and its socket work with. */
import type { Clock } from '../../../contracts/clock.js';
import type { Log } from '../../../contracts/log.js';
import type { KeyAuthority } from '../../../contracts/ports/accounts/identity.js';
import type { Speech, Transcription } from '../../../contracts/ports/speech/speech.js';
import type { Places } from '../../server/job-place.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';

export interface NativeParts {
  readonly speech: Speech;
  readonly transcription: Transcription;
  readonly keys: KeyAuthority;
  readonly admission: Places;
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
  readonly log: Log;
}
