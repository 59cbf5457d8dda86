/** The voice library: `/model` (docs/contract/native.md 5). Key first, then the address, then the body. */
import { ServiceError } from '../../../contracts/errors.js';
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import { type TSchema, Type } from '../../../contracts/schemas/type.js';
import { answers, queryParameters } from '../../server/openapi/openapi-parts.js';
import type { HttpRequest } from '../../server/port.js';
import { json } from '../../server/replies.js';
import { BODY_TYPES, readBody } from './bodies.js';
import { checked } from './checked.js';
import { newVoice } from './creation.js';
import { entityOf } from './entity.js';
import { pageOf } from './listing.js';
import type { VoicesParts } from './parts.js';
import { listQuery } from './query.js';
import { failures, type VoicesHandler, type VoicesRow } from './rows.js';
import { Changes, Creation, ListQuery, ModelEntity, ModelPage } from './schema.js';

const checkChanges = checked(Changes);

const notFound = (): ServiceError => new ServiceError('not_found', { message: 'Model not found' });

const idOf = ({ params }: HttpRequest): string => params['id'] ?? '';

/** Reads the caller's voice. Errors: `not_found`. */
async function voiceOf(request: HttpRequest, { voices }: VoicesParts, { workspaceId }: Caller) {
  const voice = await voices.read(idOf(request), workspaceId);
  if (voice) return voice;
  throw notFound();
}

const list: VoicesHandler = async (request, { voices }, { workspaceId }) => {
  const query = listQuery(request.query);
  return json(200, pageOf(await voices.list(workspaceId), query));
};

const read: VoicesHandler = async (request, parts, caller) =>
  json(200, entityOf(await voiceOf(request, parts, caller)));

const create: VoicesHandler = async (request, { voices, decode }, caller) => {
  if (!voices.clones) {
    const message = 'No configured engine can clone a voice from reference audio';
    throw new ServiceError('cloning_unavailable', { message });
  }
  const voice = await newVoice(await readBody(request), caller, decode, request.signal);
  return json(201, entityOf(await voices.create(voice, caller.workspaceId)));
};

/** Refuses voices of engines before reading the body, since no change of them is valid. */
const change: VoicesHandler = async (request, parts, caller) => {
  const { kind } = await voiceOf(request, parts, caller);
  if (kind === 'engine') throw new ServiceError('voice_read_only');
  const { title, description, visibility, tags } = checkChanges((await readBody(request)).fields);
  const changes = {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(visibility !== undefined && { visibility }),
    ...(tags !== undefined && { tags }),
  };
  if (!(await parts.voices.change(idOf(request), caller.workspaceId, changes))) throw notFound();
  return { status: 200 };
};

const remove: VoicesHandler = async (request, { voices }, { workspaceId }) => {
  if (await voices.remove(idOf(request), workspaceId)) return { status: 204 };
  throw notFound();
};

const Bytes = Type.String({ format: 'binary' });
const NewVoice = Type.Object({
  ...Creation.properties,
  voices: Type.Array(Bytes, {
    minItems: 1,
    maxItems: 20,
    description: 'Files of reference audio: bytes in multipart and MessagePack, base64 elsewhere.',
  }),
});

const bodies = (schema: TSchema): Record<string, TSchema> =>
  Object.fromEntries(BODY_TYPES.map((type) => [type, schema]));

const VOICES = '/model';
const VOICE = `${VOICES}/{id}`;

export const VOICE_ROWS: readonly VoicesRow[] = [
  {
    method: 'GET',
    path: VOICES,
    permission: 'catalogue',
    handler: list,
    description: {
      summary: 'List voices',
      description:
        "The voices of the configured engines and the workspace's cloned ones. Repeat `tag` for voices that have all of " +
        'them, and `language` for voices that speak any of them. `score` and `task_count` leave the library in its own order.',
      parameters: queryParameters(ListQuery.properties),
      responses: { ...answers(200, 'One page', ModelPage), ...failures(400, 401) },
    },
  },
  {
    method: 'POST',
    path: VOICES,
    permission: 'manage',
    handler: create,
    audit: { action: 'voice.created', subject: '_id' },
    description: {
      summary: 'Clone a voice',
      description:
        'Keeps reference audio as a voice of this workspace. 400 if no configured engine clones. ' +
        'At most 20 files, 10 MiB each and 20 MiB together.',
      requestBody: bodies(NewVoice),
      responses: { ...answers(201, 'The voice', ModelEntity), ...failures(400, 401, 413, 415) },
    },
  },
  {
    method: 'GET',
    path: VOICE,
    permission: 'catalogue',
    handler: read,
    description: {
      summary: 'Read a voice',
      description: 'By its id or an alias.',
      responses: { ...answers(200, 'The voice', ModelEntity), ...failures(401, 404) },
    },
  },
  {
    method: 'PATCH',
    path: VOICE,
    permission: 'manage',
    handler: change,
    audit: { action: 'voice.changed', subject: 'id' },
    description: {
      summary: 'Change a cloned voice',
      description: 'Absent and null fields stay as they are.',
      requestBody: bodies(Changes),
      responses: { ...answers(200, 'Changed; no body'), ...failures(400, 401, 403, 404, 413, 415) },
    },
  },
  {
    method: 'DELETE',
    path: VOICE,
    permission: 'manage',
    handler: remove,
    audit: { action: 'voice.deleted', subject: 'id' },
    description: {
      summary: 'Delete a cloned voice',
      responses: { ...answers(204, 'Gone'), ...failures(401, 403, 404) },
    },
  },
];
