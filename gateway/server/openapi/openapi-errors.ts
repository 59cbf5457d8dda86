/** Error responses in /openapi.json: one sentence per status, in the error format of the dialect. */
import type { TSchema } from '../../../contracts/schemas/type.js';
import type { RouteDescription } from '../port.js';

type Sentences = Readonly<Record<number, string>>;

const SENTENCES: Sentences = {
  400: 'The request is not valid, or asks for an option that is refused; the message says why',
  401: 'No key, or a wrong one',
  402: 'Quota used up',
  404: 'There is no such thing in this workspace',
  413: 'Body or audio too large',
  415: 'Content type not supported',
  429: 'Concurrency limit reached; see Retry-After',
  502: 'The speech engine failed',
  503: 'High load; see Retry-After',
};

/** The error statuses of every route that synthesises or transcribes. */
export const SPEECH_FAILURES = [400, 401, 402, 413, 415, 429, 502, 503] as const;

/** Describes the errors of one dialect by status; `own` sentences replace the usual ones. */
export const failuresAs =
  (body: TSchema, own: Sentences = {}) =>
  (...statuses: readonly number[]): RouteDescription['responses'] => {
    const sentences = { ...SENTENCES, ...own };
    const rows = statuses.map((status) => [
      status,
      { description: sentences[status] ?? '', content: { 'application/json': body } },
    ]);
    return Object.fromEntries(rows) as RouteDescription['responses'];
  };
