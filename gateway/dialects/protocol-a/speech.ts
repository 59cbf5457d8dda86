/** `POST …/audio/speech` (docs/contract/protocol-a.md 1): sends audio while it is synthesised. */
import { FORMATS } from '../../../codecs/formats.js';
import { LIMITS } from '../../../contracts/limits.js';
import { authenticate } from '../../server/auth.js';
import { withPlace } from '../../server/job-place.js';
import { readJson } from '../../server/bodies/body.js';
import { AUDIO_CONTENT } from '../../server/openapi/openapi-audio.js';
import { FAILURES, type Handler, type Row, TAGS } from './rows.js';
import { SpeechBody } from './schema.js';
import { speechRequest } from './speech-params.js';

const speak: Handler = async (request, { base, speech, keys, admission, vocabulary }, observation) => {
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

export const SPEECH_ROWS: readonly Row[] = [
  {
    method: 'POST',
    path: '/audio/speech',
    handler: speak,
    description: {
      summary: 'Speak text (protocol A)',
      description: 'Audio is sent while it is synthesised. Native options also come as headers, which win.',
      tags: TAGS,
      requestBody: { 'application/json': SpeechBody },
      responses: {
        200: { description: 'Audio', content: AUDIO_CONTENT },
        ...FAILURES,
      },
    },
  },
];
