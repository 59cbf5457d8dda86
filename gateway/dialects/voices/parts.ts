/** The ports that the voice library and the wallet work with. */
import type { Decode } from '../../../contracts/ports/speech/codec.js';
import type { KeyAuthority } from '../../../contracts/ports/accounts/identity.js';
import type { VoiceCatalogue } from '../../../contracts/ports/speech/voices.js';
import type { ReadWallet } from '../../../contracts/ports/accounts/wallet.js';

export interface VoicesParts {
  readonly voices: VoiceCatalogue;
  readonly wallet: ReadWallet;
  /** Checks that reference audio is audio. */
  readonly decode: Decode;
  readonly keys: KeyAuthority;
}
