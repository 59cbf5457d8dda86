/**
 * `GET /v1/audio/voices` and `/v1/audio/models`, which Open WebUI and Home Assistant fill their menus with: `id` and
 * `name` of each, under the key that they read. Open WebUI sends no API key and sees the voices of the engines; a request
 * with a key sees the voices of its workspace as well.
 */
import { MODEL_DETAILS, SYNTHESIS_MODELS } from '../../../contracts/speech/models.js';
import type { Voice } from '../../../contracts/ports/speech/voices.js';
import { authenticate, bearerToken } from '../../server/auth.js';
import { answers } from '../../server/openapi/openapi-parts.js';
import type { HttpRequest } from '../../server/port.js';
import { json } from '../../server/replies.js';
import { pageOf } from './paging.js';
import type { ProtocolAParts } from './parts.js';
import { failures, type ProtocolAHandler, PAGE, type ProtocolARow } from './rows.js';
import { SpeakingModelList, VoiceList } from './schema.js';

/** Picks the best voice for the language of each text. */
const DEFAULT_VOICE = { id: 'default', object: 'voice', name: 'Default', languages: [] };

const entryOf = ({ id, title, languages }: Voice): object => ({
  id,
  object: 'voice',
  name: title,
  languages,
});

/** Errors: `invalid_key`. */
async function audibleVoices(request: HttpRequest, parts: ProtocolAParts): Promise<readonly Voice[]> {
  if (bearerToken(request.headers) === undefined) return parts.voices.own;
  const { workspaceId } = await authenticate(request, parts.keys);
  return parts.voices.list(workspaceId);
}

const listVoices: ProtocolAHandler = async (request, parts) => {
  const voices = await audibleVoices(request, parts);
  const all = [DEFAULT_VOICE, ...voices.map(entryOf)];
  return json(200, { voices: pageOf(all, request.query).items, total: all.length });
};

const listSpeakingModels: ProtocolAHandler = async ({ query }, { vocabulary }) => {
  const all = SYNTHESIS_MODELS.map((model) => ({
    id: `${vocabulary.vendor}/${model}`,
    object: 'model',
    name: MODEL_DETAILS[model].name,
  }));
  return json(200, { models: pageOf(all, query).items, total: all.length });
};

/** Routes below the bases with `audioLists`. */
export const AUDIO_LIST_ROWS: readonly ProtocolARow[] = [
  {
    method: 'GET',
    path: '/audio/voices',
    // Open WebUI sends no key.
    permission: 'open',
    handler: listVoices,
    description: {
      summary: 'List the voices, as Open WebUI and Home Assistant read them',
      description: 'Without a key: the voices of the engines. With one: those of its workspace as well.',
      auth: false,
      parameters: PAGE,
      responses: {
        ...answers(200, 'The voices', VoiceList),
        ...failures(400, 401, 503),
      },
    },
  },
  {
    method: 'GET',
    path: '/audio/models',
    // Open WebUI sends no key.
    permission: 'open',
    handler: listSpeakingModels,
    description: {
      summary: 'List the models that speak, as Open WebUI reads them',
      auth: false,
      parameters: PAGE,
      responses: {
        ...answers(200, 'The models', SpeakingModelList),
        ...failures(400, 503),
      },
    },
  },
];
