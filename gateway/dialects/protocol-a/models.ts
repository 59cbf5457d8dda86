/**
 * `GET /models`: one list that every client's own schema accepts (protocol-a.md section 3; spec rule 13:
 * what is always null, and what is absent).
 */
import { MODEL_DETAILS, SYNTHESIS_MODELS, TRANSCRIPTION_MODELS } from '../../../contracts/models.js';

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

/** The values of `output_modalities`; undefined where all are wanted. */
function wantedModalities(query: URLSearchParams): readonly string[] | undefined {
  const wanted = query
    .getAll('output_modalities')
    .flatMap((value) => value.toLowerCase().split(','))
    .map((value) => value.trim())
    .filter((value) => value !== '');
  return wanted.length === 0 || wanted.includes('all') ? undefined : wanted;
}

/** `base` is the path below which the list was asked for. Unknown query parameters are ignored. */
export function modelList(query: URLSearchParams, vendor: string, base: string): object {
  const wanted = wantedModalities(query);
  const kinds = KINDS.filter(({ selectedBy }) => !wanted || selectedBy.some((name) => wanted.includes(name)));
  const data = kinds.flatMap((kind) => kind.models.map((model) => entryOf(model, kind, vendor, base)));
  return { object: 'list', data, links: { next: null }, total_count: data.length };
}
