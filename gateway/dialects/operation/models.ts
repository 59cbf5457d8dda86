/** Models of the catalogue, added to the machine that answers and taken away from it, by full keys of the default workspace (docs/models.md). */
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import {
  type Adding,
  MODEL_STATES,
  type ModelShelf,
  type Shelf,
} from '../../../contracts/ports/model-shelf.js';
import { Moment, nullable } from '../../../contracts/schemas/shapes.js';
import { Type } from '../../../contracts/schemas/type.js';
import { answers } from '../../server/openapi/openapi-parts.js';
import type { HttpRequest } from '../../server/port.js';
import type { RouteRow } from '../../server/routes.js';
import { failures, uncached } from './answers.js';

export interface ModelParts {
  readonly shelf: ModelShelf;
}

const Bytes = Type.Integer({ minimum: 0 });

const Model = Type.Object(
  {
    name: Type.String(),
    task: Type.String({
      description:
        '`tts` and `pico` speak, `stt` transcribes, `turns` hears ends of turns, `denoise` removes noise.',
    }),
    title: Type.String(),
    languages: nullable(Type.Array(Type.String(), { description: 'Null: any.' })),
    licence: Type.String({ description: 'Of the weights.' }),
    lineage: nullable(Type.String({ description: 'What it was made of.' })),
    about: nullable(Type.String({ description: 'Address of a page about it.' })),
    download_bytes: Bytes,
    disk_bytes: Bytes,
    state: Type.Enum([...MODEL_STATES], {
      description:
        '`added`: in place, and not in use, or not yet; `leaving`: removed, and in use for a moment yet.',
    }),
    cpu_seconds: nullable(
      Type.Number({ description: 'Of a core, for a second of speech on this machine; an estimate.' }),
    ),
    quick_enough_for_calls: nullable(Type.Boolean()),
    decided_by: Type.Array(Type.String(), {
      description: 'Settings that are set and choose which models are used.',
    }),
  },
  { title: 'CatalogueModel' },
);

const AddingModel = Type.Object(
  {
    name: Type.String(),
    began_at: Moment,
    bytes: Type.Integer({ minimum: 0, description: 'That have come.' }),
    total_bytes: Bytes,
    problem: nullable(Type.String({ description: 'Why it failed; null while it goes on.' })),
  },
  { title: 'AddingModel' },
);

const ModelList = Type.Object(
  {
    models: Type.Array(Model),
    offered: nullable(
      Type.String({ description: 'The natural voice for whoever has none; null where one is in use.' }),
    ),
    adding: nullable(AddingModel),
    fixed: nullable(Type.String({ description: 'Why nothing can be added or removed here; null: it can.' })),
    problem: nullable(Type.String({ description: 'Why the last change has no effect.' })),
  },
  { title: 'CatalogueModels' },
);

const addingBody = ({ name, began, bytes, total, problem }: Adding): object => ({
  ...{ name, bytes, problem },
  began_at: began.toISOString(),
  total_bytes: total,
});

const shelfBody = ({ models, adding, ...rest }: Shelf): object => ({
  ...rest,
  adding: adding && addingBody(adding),
  models: models.map((model) => ({
    name: model.name,
    task: model.task,
    title: model.title,
    languages: model.languages === 'any' ? null : model.languages,
    licence: model.licence,
    lineage: model.lineage,
    about: model.about,
    download_bytes: model.downloadBytes,
    disk_bytes: model.diskBytes,
    state: model.state,
    cpu_seconds: model.cpu,
    quick_enough_for_calls: model.isQuick,
    decided_by: model.decidedBy,
  })),
});

const nameIn = ({ params }: HttpRequest): string => params['model_name'] ?? '';

export const MODEL_ROWS: readonly RouteRow<ModelParts, Caller>[] = [
  {
    method: 'GET',
    path: '/v1/machine/models',
    permission: 'machine',
    handler: async (_request, { shelf }) => uncached(shelfBody(await shelf.read())),
    description: {
      summary: 'Models of the catalogue',
      operationId: 'listCatalogueModels',
      description:
        'Of the machine that answers: what there is, what is in place, and how far a download is. Ask again each second while one goes on.',
      tags: ['Operation'],
      responses: { ...answers(200, 'The models', ModelList), ...failures(401, 403, 409) },
    },
  },
  {
    method: 'POST',
    path: '/v1/machine/models/{model_name}',
    permission: 'operate',
    handler: async (request, { shelf }) => uncached(addingBody(await shelf.add(nameIn(request))), 202),
    audit: { action: 'model.added', subject: 'model_name' },
    description: {
      summary: 'Add a model',
      operationId: 'addCatalogueModel',
      description:
        'Begins to download it, one at a time; it is checked, put in place, and in use some seconds later. 409 where another one is being added, where it is in place, and where MODELS_DIR cannot be written.',
      tags: ['Operation'],
      responses: { ...answers(202, 'It has begun', AddingModel), ...failures(401, 403, 404, 409) },
    },
  },
  {
    method: 'DELETE',
    path: '/v1/machine/models/{model_name}/download',
    permission: 'operate',
    async handler(request, { shelf }) {
      await shelf.cancel(nameIn(request));
      return { status: 204 };
    },
    audit: { action: 'model.cancelled', subject: 'model_name' },
    description: {
      summary: 'Cancel the download of a model',
      operationId: 'cancelModelDownload',
      description: 'What has come of it is kept, and gone on with if it is added again.',
      tags: ['Operation'],
      responses: { ...answers(204, 'It is cancelled'), ...failures(401, 403, 409) },
    },
  },
  {
    method: 'DELETE',
    path: '/v1/machine/models/{model_name}',
    permission: 'operate',
    async handler(request, { shelf }) {
      await shelf.remove(nameIn(request), request.query.get('sure') === 'true');
      return { status: 204 };
    },
    audit: { action: 'model.removed', subject: 'model_name' },
    description: {
      summary: 'Remove a model',
      operationId: 'removeCatalogueModel',
      description:
        'It gets no new work at once, and what runs goes on to its end. 409 where settings name it, and where agents speak with it, unless `sure` is true.',
      tags: ['Operation'],
      parameters: [
        {
          name: 'sure',
          in: 'query',
          description: 'Also where agents speak with it.',
          schema: { type: 'boolean', default: false },
        },
      ],
      responses: { ...answers(204, 'It is removed'), ...failures(401, 403, 404, 409) },
    },
  },
];
