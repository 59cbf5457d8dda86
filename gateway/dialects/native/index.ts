/** The native speech API as one dialect: its routes, its live sockets, its error shape. */
import type { Dialect } from '../../server/port.js';
import { nativeError } from '../../server/native-error.js';
import { tracedRoutes } from '../../server/routes.js';
import { keyRoute } from './key.js';
import { liveSockets } from './live.js';
import type { NativeParts } from './parts.js';
import { SPEECH_ROWS } from './speech.js';
import { TRANSCRIPTION_ROWS } from './transcription.js';

export const nativeDialect = (parts: NativeParts): Dialect => ({
  name: 'native',
  prefixes: ['/v1'],
  routes: [...tracedRoutes([...SPEECH_ROWS, ...TRANSCRIPTION_ROWS], parts), keyRoute(parts.keys)],
  sockets: liveSockets(parts),
  errorReply: nativeError,
});
