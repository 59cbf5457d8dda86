/** Protocol B's voices (docs/contract/protocol-b.md 6): all, one page, one voice, and its settings. */
import { ServiceError } from '../../../contracts/errors.js';
import type { Voice } from '../../../contracts/ports/speech/voices.js';
import { queryParameters } from '../../server/openapi/openapi-parts.js';
import type { HttpRequest } from '../../server/port.js';
import { json } from '../../server/replies.js';
import { callerOf } from './auth.js';
import type { ProtocolBParts } from './parts.js';
import { type ProtocolBHandler, reading, type ProtocolBRow, VOICE } from './rows.js';
import { VoiceBody, VoiceList, VoicePage, VoiceQuery, VoiceSettingsResult } from './schema.js';
import { entityOf, SETTINGS } from './voice-entity.js';
import { pageOf, voiceQuery } from './voice-search.js';

const listVoices: ProtocolBHandler = async (request, parts) => {
  const { workspaceId } = await callerOf(request, parts);
  const voices = await parts.voices.list(workspaceId);
  return json(200, { voices: voices.map((voice) => entityOf(voice, parts.vocabulary)) });
};

const searchVoices: ProtocolBHandler = async (request, parts) => {
  const { workspaceId } = await callerOf(request, parts);
  const query = voiceQuery(request.query);
  const { voices, total, next } = pageOf(await parts.voices.list(workspaceId), query);
  return json(200, {
    voices: voices.map((voice) => entityOf(voice, parts.vocabulary)),
    has_more: next !== undefined,
    total_count: total,
    next_page_token: next ?? null,
  });
};

const DEFAULT = 'default';

/** The default voice, which is the best engine's for the language of each text: the first of them stands for it. */
function defaultOf(voices: readonly Voice[]): Voice | undefined {
  const own = voices.filter(({ kind }) => kind === 'engine');
  const [first] = own;
  const languages = [...new Set(own.flatMap((voice) => voice.languages))];
  return first && { ...first, id: DEFAULT, title: 'Default', languages };
}

/** Reads a voice by its id, an alias, or `default`. Errors: `voice_not_found` (404). */
async function voiceOf(request: HttpRequest, parts: ProtocolBParts): Promise<Voice> {
  const { workspaceId } = await callerOf(request, parts);
  const id = request.params['voice_id'] ?? '';
  const voice =
    id === DEFAULT
      ? defaultOf(await parts.voices.list(workspaceId))
      : await parts.voices.read(id, workspaceId);
  if (voice) return voice;
  throw new ServiceError('voice_not_found', { status: 404, message: 'Voice not found', param: 'voice_id' });
}

/** Errors: `voice_not_found` (404). */
const readVoice: ProtocolBHandler = async (request, parts) =>
  json(200, entityOf(await voiceOf(request, parts), parts.vocabulary));

/** Settings are the same for every voice, since they come with each request and are not stored. Errors: `voice_not_found` (404). */
const readVoiceSettings: ProtocolBHandler = async (request, parts) => {
  await voiceOf(request, parts);
  return json(200, SETTINGS);
};

const readDefaultSettings: ProtocolBHandler = async (request, parts) => {
  await callerOf(request, parts);
  return json(200, SETTINGS);
};

export const VOICE_ROWS: readonly ProtocolBRow[] = [
  {
    method: 'GET',
    path: '/v1/voices',
    permission: 'catalogue',
    handler: listVoices,
    description: reading('List voices (protocol B)', VoiceList, [401]),
  },
  {
    method: 'GET',
    path: '/v2/voices',
    permission: 'catalogue',
    handler: searchVoices,
    description: reading(
      'Search voices (protocol B)',
      VoicePage,
      [400, 401],
      queryParameters(VoiceQuery.properties),
    ),
  },
  {
    method: 'GET',
    path: '/v1/voices/{voice_id}',
    permission: 'catalogue',
    handler: readVoice,
    description: reading('Read a voice (protocol B)', VoiceBody, [401, 404], [VOICE]),
  },
  {
    method: 'GET',
    path: '/v1/voices/{voice_id}/settings',
    permission: 'catalogue',
    handler: readVoiceSettings,
    description: reading(
      'Read what a voice is set to (protocol B)',
      VoiceSettingsResult,
      [401, 404],
      [VOICE],
    ),
  },
  {
    method: 'GET',
    path: '/v1/voices/settings/default',
    permission: 'catalogue',
    handler: readDefaultSettings,
    description: reading('Read what voices are set to (protocol B)', VoiceSettingsResult, [401]),
  },
];
