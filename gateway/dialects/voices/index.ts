/** The voice library and the wallet as one dialect, with the native error shape. */
import { nativeError } from '../../server/native-error.js';
import type { Dialect } from '../../server/port.js';
import { keyedRoutes } from '../../server/routes.js';
import type { VoicesParts } from './parts.js';
import { VOICE_ROWS } from './voices.js';
import { WALLET_ROWS } from './wallet.js';

export const voicesDialect = (parts: VoicesParts): Dialect => ({
  name: 'voices',
  prefixes: ['/model', '/wallet'],
  routes: keyedRoutes([...VOICE_ROWS, ...WALLET_ROWS], parts),
  errorReply: nativeError,
});
