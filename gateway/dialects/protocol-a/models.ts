/**
 * `GET /models`: one list that the schema of every client accepts (docs/contract/protocol-a.md 3; rule 13 says which fields
 * are always null and which are absent).
 */
import { MODEL_DETAILS, SYNTHESIS_MODELS, TRANSCRIPTION_MODELS } from '../../../contracts/speech/models.js';
import { describedParameters } from '../../../contracts/options/describing.js';
import { A_MODELS } from '../../../contracts/options/protocol-a.js';
import { answers } from '../../server/openapi/openapi-parts.js';
import { json } from '../../server/replies.js';
import { pageOf } from './paging.js';
import { failures, type ProtocolAHandler, type ProtocolARow } from './rows.js';
import { ModelList } from './schema.js';

interface Kind {
  readonly models: readonly (keyof typeof MODEL_DETAILS)[];
  readonly input: string;
  readonly output: string;
  /** Values of `output_modalities` that select these models. */
  readonly selectedBy: readonly string[];
}

const KINDS: readonly Kind[] = [
  { models: SYNTHESIS_MODELS, input: 'text', output: 'speech', selectedBy: ['speech', 'audio'] },
  { models: TRANSCRIPTION_MODELS, input: 'audio', output: 'text', selectedBy: ['text', 'transcription'] },
];

const ALWAYS_NULL = {
  context_length: null,
  default_parameters: null,
  per_request_limits: null,
  supported_voices: null,
} as const;

function entryOf(
  model: keyof typeof MODEL_DETAILS,
  { input, output }: Kind,
  vendor: string,
  base: string,
): object {
  const id = `${vendor}/${model}`;
  return {
    id,
    object: 'model',
    owned_by: vendor,
    canonical_slug: id,
    ...MODEL_DETAILS[model],
    ...ALWAYS_NULL,
    architecture: {
      modality: `${input}->${output}`,
      input_modalities: [input],
      output_modalities: [output],
      tokenizer: 'Other',
      instruct_type: null,
    },
    pricing: { prompt: '0', completion: '0' },
    top_provider: { context_length: null, max_completion_tokens: null, is_moderated: false },
    supported_parameters: [],
    links: { details: `${base}/models/${id}` },
  };
}

/** The values of `output_modalities`; undefined if all models are wanted. */
function wantedModalities(query: URLSearchParams): readonly string[] | undefined {
  const wanted = query
    .getAll('output_modalities')
    .flatMap((value) => value.toLowerCase().split(','))
    .map((value) => value.trim())
    .filter((value) => value !== '');
  return wanted.length === 0 || wanted.includes('all') ? undefined : wanted;
}

/** The address of the page at `offset`, with the other query parameters kept. */
function pageAddress(base: string, query: URLSearchParams, offset: number): string {
  const asked = new URLSearchParams(query);
  asked.set('offset', String(offset));
  return `${base}/models?${asked.toString()}`;
}

/**
 * `base` is the path of the base that was asked. Unknown query parameters are ignored.
 * Errors: `invalid_request`.
 */
function modelList(query: URLSearchParams, vendor: string, base: string): object {
  const wanted = wantedModalities(query);
  const kinds = KINDS.filter(({ selectedBy }) => !wanted || selectedBy.some((name) => wanted.includes(name)));
  const all = kinds.flatMap((kind) => kind.models.map((model) => entryOf(model, kind, vendor, base)));
  const { items: data, next } = pageOf(all, query);
  const links = { next: next === undefined ? null : pageAddress(base, query, next) };
  return { object: 'list', data, links, total_count: all.length };
}

const listModels: ProtocolAHandler = async ({ query }, { base, vocabulary }) =>
  json(200, modelList(query, vocabulary.vendor, base.path));

export const MODEL_ROWS: readonly ProtocolARow[] = [
  {
    method: 'GET',
    path: '/models',
    // Some clients send no key.
    permission: 'open',
    handler: listModels,
    description: {
      summary: 'List the models (protocol A)',
      auth: false,
      parameters: describedParameters(A_MODELS, 'query'),
      responses: {
        ...answers(200, 'The models', ModelList),
        ...failures(400, 503),
      },
    },
  },
];
