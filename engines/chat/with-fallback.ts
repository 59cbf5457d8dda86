/**
 * The language model of calls, bounded by what the caller can hear: the first spoken word must come in time, and the next ones. A request
 * to which nothing was answered is sent once more within the same time; then a second model, if there is one, has what is left.
 *
 * Invariant: after a spoken word, or a tool call, nothing is asked again. An agent's own model (`llm.custom`) gets no fallback here: what it
 * is told stays with it.
 */
import type { Clock } from '../../contracts/clock.js';
import { ServiceError, toServiceError } from '../../contracts/errors.js';
import { ONLINE_TIMES } from '../../contracts/limits/online-times.js';
import {
  type ChatEvent,
  type ChatModel,
  type ChatRequest,
  ContextExceeded,
  ModelUnanswered,
} from '../../contracts/ports/chat.js';

/** A model, and how it is named in the log. */
export interface NamedModel {
  readonly chat: ChatModel;
  /** Its host, without path and query. */
  readonly address: string;
  /** The setting with its address. */
  readonly setting: string;
}

export interface ChatWithFallbackParts {
  readonly first: NamedModel;
  readonly second?: NamedModel | undefined;
  /** How long the first spoken word of the first model is waited for, in ms. */
  readonly firstWordMs: number;
  readonly clock: Pick<Clock, 'after' | 'monotonic'>;
}

/** Statuses that refuse the request for what it holds: the caller of `chat` mends it. */
const REFUSALS: ReadonlySet<number> = new Set([400, 422]);

const isRefusal = (error: unknown): boolean =>
  error instanceof ContextExceeded ||
  (error instanceof ServiceError && error.code === 'provider_failed' && REFUSALS.has(error.status));

const isSpoken = (event: ChatEvent): boolean =>
  event.kind === 'calls' || (event.kind === 'text' && /\S/u.test(event.text));

const tooLate = (): ServiceError =>
  new ServiceError('first_byte_timeout', { message: 'The language model said nothing in time' });

/** One request to one model, whose time begins when this is made. */
class Attempt {
  /** It has said or called something. */
  spoke = false;
  readonly #over = new AbortController();
  #stop: () => void;

  constructor(
    private readonly clock: ChatWithFallbackParts['clock'],
    ms: number,
  ) {
    this.#stop = this.#after(ms);
  }

  /** Errors: those of the model, `first_byte_timeout`. */
  async *answer(model: ChatModel, request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const { signal: late } = this.#over;
    const blank: ChatEvent[] = [];
    try {
      for await (const event of model.chat(request, AbortSignal.any([signal, late]))) {
        if (isSpoken(event)) {
          this.spoke = true;
          this.#stop();
          this.#stop = this.#after(ONLINE_TIMES.model.betweenMs);
          yield* blank.splice(0);
        } else if (!this.spoke && event.kind === 'text') {
          blank.push(event);
          continue;
        }
        yield event;
      }
    } finally {
      this.#stop();
    }
  }

  #after(ms: number): () => void {
    return this.clock.after(Math.max(0, ms), () => this.#over.abort(tooLate()));
  }
}

export class ChatWithFallback implements ChatModel {
  readonly name: string;
  readonly hasTokens?: boolean;
  readonly contextTokens?: number;
  readonly endpoint?: string;

  constructor(private readonly parts: ChatWithFallbackParts) {
    const { name, hasTokens, contextTokens, endpoint } = parts.first.chat;
    this.name = name;
    if (hasTokens !== undefined) this.hasTokens = hasTokens;
    if (contextTokens !== undefined) this.contextTokens = contextTokens;
    if (endpoint !== undefined) this.endpoint = endpoint;
  }

  /** Errors: those of the last model that was asked; `first_byte_timeout` if it said nothing in time. */
  async *chat(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const { clock, first, second, firstWordMs } = this.parts;
    const from = clock.monotonic();
    const left = (ms: number): number => from + ms - clock.monotonic();
    const wholeMs = Math.max(firstWordMs, ONLINE_TIMES.model.wholeMs);
    for (let asked = 1, model = first; ; asked += 1) {
      const attempt = new Attempt(clock, left(model === first ? firstWordMs : wholeMs));
      try {
        return yield* attempt.answer(model.chat, request, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (attempt.spoke || isRefusal(error)) throw error;
        const again = asked === 1 && error instanceof ModelUnanswered && left(firstWordMs) > 0;
        const next = again ? model : model === first ? second : undefined;
        yield failureOf(model, error, next);
        if (!next || left(wholeMs) <= 0) throw error;
        model = next;
        if (again) await this.#rest(signal);
      }
    }
  }

  /** Rejects with the reason of an abort. */
  async #rest(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => void this.parts.clock.after(ONLINE_TIMES.model.retryMs, resolve));
    signal.throwIfAborted();
  }
}

const failureOf = (
  { address, setting, chat }: NamedModel,
  error: unknown,
  next: NamedModel | undefined,
): ChatEvent => {
  const { code, status } = toServiceError(error);
  return {
    kind: 'failed',
    error,
    failure: { model: chat.name, address, setting, code, status, next: next?.setting },
    ...(next && { nextModel: next.chat.name }),
  };
};
