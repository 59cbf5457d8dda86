/** The voice library and the wallet as one dialect: routes, what /openapi.json says of them, the native error shape. */
import Type, { type TSchema } from 'typebox';
import { nativeError } from '../../server/native-error.js';
import { failuresAs } from '../../server/openapi-errors.js';
import type { Dialect, Route, RouteDescription } from '../../server/port.js';
import { BODY_TYPES } from './bodies.js';
import {
  authenticated,
  change,
  create,
  credit,
  type Handler,
  list,
  plan,
  read,
  remove,
  type VoicesParts,
} from './routes.js';
import {
  ApiCredit,
  Changes,
  Creation,
  ErrorBody,
  ListQuery,
  ModelEntity,
  ModelPage,
  Package,
} from './schema.js';

const Bytes = Type.String({ format: 'binary' });
const NewVoice = Type.Object({
  ...Creation.properties,
  voices: Type.Array(Bytes, {
    minItems: 1,
    maxItems: 20,
    description: 'Files of reference audio: bytes in multipart and MessagePack, base64 elsewhere.',
  }),
});

const failures = failuresAs(ErrorBody, {
  403: 'This voice belongs to an engine and cannot be changed',
  404: 'No such voice in this workspace',
});

const answers = (status: number, description: string, schema?: TSchema): RouteDescription['responses'] => ({
  [status]: schema ? { description, content: { 'application/json': schema } } : { description },
});

const bodies = (schema: TSchema): Record<string, TSchema> =>
  Object.fromEntries(BODY_TYPES.map((type) => [type, schema]));

const VOICES = { tags: ['voices'], auth: true } as const;
const WALLET = { tags: ['wallet'], auth: true } as const;

type Row = Pick<Route, 'method' | 'path'> & {
  readonly handler: Handler;
  readonly description: RouteDescription;
};

const ROUTES: readonly Row[] = [
  {
    method: 'GET',
    path: '/model',
    handler: list,
    description: {
      summary: 'List voices',
      description:
        "The voices of the configured engines and the workspace's cloned ones. Repeat `tag` for voices that have all of " +
        'them, and `language` for voices that speak any of them. `score` and `task_count` leave the library in its own order.',
      ...VOICES,
      parameters: Object.entries(ListQuery.properties).map(([name, schema]) => ({
        name,
        in: 'query',
        schema,
      })),
      responses: { ...answers(200, 'One page', ModelPage), ...failures(400, 401) },
    },
  },
  {
    method: 'POST',
    path: '/model',
    handler: create,
    description: {
      summary: 'Clone a voice',
      description:
        'Keeps reference audio as a voice of this workspace. 400 where no configured engine clones. ' +
        'At most 20 files, 10 MiB each and 20 MiB together.',
      ...VOICES,
      requestBody: bodies(NewVoice),
      responses: { ...answers(201, 'The voice', ModelEntity), ...failures(400, 401, 413, 415) },
    },
  },
  {
    method: 'GET',
    path: '/model/{id}',
    handler: read,
    description: {
      summary: 'Read a voice',
      description: 'By its id or an alias.',
      ...VOICES,
      responses: { ...answers(200, 'The voice', ModelEntity), ...failures(401, 404) },
    },
  },
  {
    method: 'PATCH',
    path: '/model/{id}',
    handler: change,
    description: {
      summary: 'Change a cloned voice',
      description: 'What is absent or null stays as it is.',
      ...VOICES,
      requestBody: bodies(Changes),
      responses: { ...answers(200, 'Changed; no body'), ...failures(400, 401, 403, 404, 413, 415) },
    },
  },
  {
    method: 'DELETE',
    path: '/model/{id}',
    handler: remove,
    description: {
      summary: 'Delete a cloned voice',
      ...VOICES,
      responses: { ...answers(204, 'Gone'), ...failures(401, 403, 404) },
    },
  },
  {
    method: 'GET',
    path: '/wallet/{self}/api-credit',
    handler: credit,
    description: {
      summary: 'Credit',
      description: 'In characters of synthesis. Usage is counted in batches, so it lags a few seconds.',
      ...WALLET,
      responses: { ...answers(200, 'The credit', ApiCredit), ...failures(401, 404) },
    },
  },
  {
    method: 'GET',
    path: '/wallet/{self}/package',
    handler: plan,
    description: {
      summary: "The month's package",
      ...WALLET,
      responses: { ...answers(200, 'The package', Package), ...failures(401, 404) },
    },
  },
];

export const voicesDialect = (parts: VoicesParts): Dialect => ({
  name: 'voices',
  prefixes: ['/model', '/wallet'],
  routes: ROUTES.map(({ handler, ...row }) => ({ ...row, handler: authenticated(handler, parts) })),
  errorReply: nativeError,
});
