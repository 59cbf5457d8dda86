/** A model of embeddings behind an OpenAI-compatible `/embeddings`, at an address that the operator chose. Never retried here. */
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import type { EmbeddedAs, Embedder } from '../../contracts/ports/embedding.js';
import { asked, type Keeper, type Part } from '../../contracts/ports/parts.js';
import { wellFormed } from '../../contracts/text/text.js';
import { ask, bytesOfReply, type RemoteAddress } from '../backends/remote/request.js';

export interface EmbeddingSettings extends RemoteAddress {
  readonly model: string;
}

const MOST = LIMITS.embedding;

/** What families of models expect before a text, by their names; all others want the bare text. */
const PREFIXES: readonly (readonly [family: RegExp, prefixes: Readonly<Record<EmbeddedAs, string>>])[] = [
  [/\be5\b/i, { question: 'query: ', passage: 'passage: ' }],
  [/\bnomic-embed-text\b/i, { question: 'search_query: ', passage: 'search_document: ' }],
];

const BARE: Readonly<Record<EmbeddedAs, string>> = { question: '', passage: '' };

const prefixesFor = (model: string): Readonly<Record<EmbeddedAs, string>> =>
  PREFIXES.find(([family]) => family.test(model))?.[1] ?? BARE;

const unexpected = (): ServiceError =>
  new ServiceError('provider_failed', { message: 'The model of embeddings answered something unexpected' });

/** Of length 1. Errors: `provider_failed` if these are no numbers of a vector. */
function vectorOf(value: unknown): Float32Array<ArrayBuffer> {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST.dimensions) throw unexpected();
  const vector = Float32Array.from(value as readonly unknown[], (each) =>
    typeof each === 'number' ? each : Number.NaN,
  );
  const length = Math.hypot(...vector);
  if (!Number.isFinite(length) || length === 0) throw unexpected();
  return vector.map((each) => each / length);
}

interface WireEmbedding {
  readonly index?: unknown;
  readonly embedding?: unknown;
}

/** A vector for each of so many texts, all of the same length. Errors: `provider_failed`. */
export function vectorsIn(body: Buffer, count: number): readonly Float32Array<ArrayBuffer>[] {
  let data: unknown;
  try {
    data = (JSON.parse(body.toString()) as { readonly data?: unknown } | null)?.data;
  } catch {
    throw unexpected();
  }
  if (!Array.isArray(data) || data.length !== count) throw unexpected();
  const vectors: Float32Array<ArrayBuffer>[] = [];
  (data as readonly (WireEmbedding | null)[]).forEach((each, place) => {
    const { index = place, embedding } = each ?? {};
    vectors[typeof index === 'number' ? index : place] = vectorOf(embedding);
  });
  const [first] = vectors;
  const isWhole = Object.keys(vectors).length === count && vectors.length === count;
  if (!isWhole || vectors.some(({ length }) => length !== first?.length)) throw unexpected();
  return vectors;
}

/** Aborts after `ms`, with the error of an answer that does not come. */
function deadline(ms: number) {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new ServiceError('first_byte_timeout')), ms);
  return { signal: late.signal, stop: () => clearTimeout(timer) };
}

/** `part`: as which its answers and failures are told to the keeper. */
export function createOpenaiEmbedder(settings: EmbeddingSettings, part: Part, keeper: Keeper): Embedder {
  const { model } = settings;
  const prefixes = prefixesFor(model);
  keeper.knowPart(part);
  const request = async (texts: readonly string[], as: EmbeddedAs, signal: AbortSignal) => {
    const input = texts.map((text) => wellFormed(`${prefixes[as]}${text}`));
    const body = JSON.stringify({ model, input, encoding_format: 'float' });
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const reply = await ask(settings, { path: '/embeddings', headers, body }, signal);
    return vectorsIn(await bytesOfReply(reply, MOST.answerBytes), texts.length);
  };
  return {
    model,
    async embed(texts, as, ms, whom) {
      const { signal, stop } = deadline(ms);
      const question = keeper.ask(part, whom);
      try {
        return await asked(question, () => request(texts, as, signal));
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      } finally {
        stop();
      }
    },
  };
}
