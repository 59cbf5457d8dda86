/**
 * A chat answer as server-sent events (docs/contract/protocol-a.md 4.2): role, transcript and audio as they arrive, expiry of the
 * audio, finish reason, usage if requested, `[DONE]`.
 *
 * Invariants: a field is null only if every client accepts null there; a failure before the first event is thrown, a
 * later one becomes a chunk with an `error`, and then the stream ends without `[DONE]`.
 */
import type { ServiceError } from '../../../../contracts/errors.js';
import { toServiceError } from '../../../../contracts/errors.js';
import type { ChatAnswer } from './answer.js';
import type { AnswerEvent } from './events.js';

export interface StreamForm {
  readonly speaks: boolean;
  readonly includeUsage: boolean;
  /** The `error` of a chunk. Called at most once, for a failure that is reported within the stream. */
  failure(error: ServiceError): object;
}

const DONE = 'data: [DONE]\n\n';

/** Builds chunks from templates: there are many with audio, which needs no escaping. */
function chunkWriter({ id, created, model }: ChatAnswer) {
  const head = JSON.stringify({ id, object: 'chat.completion.chunk', created, model }).slice(0, -1);
  const chunk = (choices: string, rest = ''): string => `data: ${head},"choices":[${choices}]${rest}}\n\n`;
  const choice = (delta: string, finish: string): string =>
    chunk(`{"index":0,"delta":${delta},"finish_reason":${finish}}`);
  return {
    delta: (delta: string): string => choice(delta, 'null'),
    finish: (): string => choice('{}', '"stop"'),
    usage: (usage: object): string => chunk('', `,"usage":${JSON.stringify(usage)}`),
    failed: (error: object): string =>
      chunk(
        '{"index":0,"delta":{"content":""},"finish_reason":"error"}',
        `,"error":${JSON.stringify(error)}`,
      ),
  };
}

type Writer = ReturnType<typeof chunkWriter>;

const opening = (write: Writer, { audioId }: ChatAnswer, speaks: boolean): string =>
  speaks
    ? write.delta('{"role":"assistant","content":null,"refusal":null}') +
      write.delta(`{"audio":{"id":${JSON.stringify(audioId)},"data":"","transcript":""}}`)
    : write.delta('{"role":"assistant","content":"","refusal":null}');

const DELTAS: {
  readonly [Kind in AnswerEvent['kind']]?: (event: Extract<AnswerEvent, { kind: Kind }>) => string;
} = {
  audio: ({ base64 }) => `{"audio":{"data":"${base64}"}}`,
  transcript: ({ text }) => `{"audio":{"transcript":${JSON.stringify(text)}}}`,
  content: ({ text }) => `{"content":${JSON.stringify(text)}}`,
};

/** The last chunk of a stream that is broken off: as for a failure. */
export const brokenOff = (answer: ChatAnswer, error: object): string => chunkWriter(answer).failed(error);

/** The last chunks of a successful stream. */
const closing = (write: Writer, { expiresAt }: ChatAnswer, form: StreamForm, usage: object): string =>
  (form.speaks ? write.delta(`{"audio":{"expires_at":${expiresAt}}}`) : '') +
  write.finish() +
  (form.includeUsage ? write.usage(usage) : '') +
  DONE;

/** The stream's text, event by event. */
export async function* chatStream(
  events: AsyncIterable<AnswerEvent>,
  answer: ChatAnswer,
  form: StreamForm,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const write = chunkWriter(answer);
  let begun = false;
  try {
    for await (const event of events) {
      const first = begun ? '' : opening(write, answer, form.speaks);
      begun = true;
      if (event.kind === 'usage') yield first + closing(write, answer, form, event.usage);
      else yield first + write.delta((DELTAS[event.kind] as (event: AnswerEvent) => string)(event));
    }
  } catch (error) {
    if (!begun || signal.aborted) throw error;
    yield write.failed(form.failure(toServiceError(error)));
  }
}
