/** `POST …/audio/speech` (docs/contract/protocol-a.md 1): sends audio while it is synthesised. */
import { FORMATS } from '../../../codecs/formats.js';
import { LIMITS } from '../../../contracts/limits.js';
import { describedBody } from '../../../contracts/options/describing.js';
import { A_SPEECH } from '../../../contracts/options/protocol-a.js';
import { authenticate } from '../../server/auth.js';
import { withPlace } from '../../server/job-place.js';
import { readJson } from '../../server/bodies/body.js';
import { AUDIO_CONTENT } from '../../server/openapi/openapi-audio.js';
import type { Base } from './bases.js';
import { FAILURES, type ProtocolAHandler, type ProtocolARow } from './rows.js';
import { speechRequest } from './speech-params.js';

const speak: ProtocolAHandler = async (
  request,
  { base, speech, keys, admission, vocabulary },
  observation,
) => {
  const caller = await withPlace(request, await authenticate(request, keys), admission);
  const body = await readJson(request, LIMITS.body.protocolASynthesis);
  const wanted = speechRequest({ body, headers: request.headers }, base, vocabulary);
  observation.model(wanted.model);
  return {
    status: 200,
    headers: { 'content-type': FORMATS[wanted.output.format].contentType },
    body: speech.synthesize({ ...wanted, trace: observation }, caller, request.signal),
  };
};

export const speechRows = ({ aggregator }: Base): readonly ProtocolARow[] => [
  {
    method: 'POST',
    path: '/audio/speech',
    permission: 'speech',
    handler: speak,
    description: {
      summary: 'Speak text (protocol A)',
      description: 'Audio is sent while it is synthesised. Native options also come as headers, which win.',
      optionHeaders: true,
      requestBody: { 'application/json': describedBody(A_SPEECH, 'body', aggregator) },
      responses: {
        200: { description: 'Audio', content: AUDIO_CONTENT },
        ...FAILURES,
      },
    },
  },
];
