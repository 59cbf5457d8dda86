/** Protocol A as one dialect: the same routes below each of its bases, its error shape for all of /compat. */
import type { Dialect, Route } from '../../server/port.js';
import { type Base, basesOf, COMPATIBILITY_ROOT } from './bases.js';
import { MODELS, SPEECH, TRANSCRIPTIONS } from './descriptions.js';
import { errorReply } from './errors.js';
import { listModels, type ProtocolAParts, speak, transcribe } from './routes.js';

const routesOf = (base: Base, parts: ProtocolAParts): readonly Route[] => [
  {
    method: 'POST',
    path: `${base.path}/audio/speech`,
    handler: (request) => speak(request, base, parts),
    description: SPEECH,
  },
  {
    method: 'POST',
    path: `${base.path}/audio/transcriptions`,
    handler: (request) => transcribe(request, parts),
    description: TRANSCRIPTIONS,
  },
  {
    method: 'GET',
    path: `${base.path}/models`,
    handler: (request) => listModels(request, base, parts),
    description: MODELS,
  },
];

export const protocolADialect = (parts: ProtocolAParts): Dialect => ({
  name: 'protocol-a',
  prefixes: [COMPATIBILITY_ROOT],
  routes: basesOf(parts.vocabulary).flatMap((base) => routesOf(base, parts)),
  errorReply: (error) => errorReply(error, parts.vocabulary),
});
