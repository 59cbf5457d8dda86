/**
 * The language model of a conversation, metered: notes when it is asked, begins and ends, and its usage. Tokens are counted
 * here if the model does not report them, or was stopped before it could.
 */
import {
  type AnswerCut,
  type ChatEvent,
  type ChatModel,
  type ChatRequest,
  ContextExceeded,
  type ModelFailure,
} from '../../../contracts/ports/chat.js';
import { meaningOf } from '../../../contracts/parts/outcome-of.js';
import type { EndpointFailure } from '../../../contracts/ports/sessions/sessions.js';
import type { ForWhom } from '../../../contracts/ports/parts.js';
import type { ModelUsage, Usage } from '../../../contracts/sessions/turns.js';
import type { NoteTurn } from './turns/turn-events.js';

export interface ChatMeterParts {
  /** The model that is asked now. */
  readonly model: () => ChatModel;
  readonly whom?: ForWhom;
  /** Errors of `count`: any, if it cannot be counted now. */
  readonly tokens: { count(text: string): Promise<number> };
  readonly note: NoteTurn;
  /** Called for each model that fails before it said anything. */
  failed(failure: ModelFailure): void;
  /** Called for each request to an agent's own model that fails. */
  endpointFailed?(failure: EndpointFailure): void;
  /** Called for what is odd in an answer: why it is incomplete, that its tool calls are text, that the request was longer than the window. */
  odd?(what: AnswerCut | 'asText' | 'window'): void;
}

/** Approximate characters of a token, used if counting fails. */
const CHARACTERS_A_TOKEN = 4;

const textOf = ({ messages, tools, known = [], passages }: ChatRequest): string =>
  [
    ...messages.map(({ content }) => content),
    ...[...known, ...passages].map(({ text }) => text),
    ...(tools.length > 0 ? [JSON.stringify(tools)] : []),
  ].join('\n');

const usageOfModel = (model: string, tokens: Omit<ModelUsage, 'model'>): Partial<Usage> => ({
  ...tokens,
  models: [{ model, ...tokens }],
});

export class ChatMeter {
  readonly #counting = new Set<Promise<void>>();

  constructor(private readonly parts: ChatMeterParts) {}

  /** Asks for that job; yields the events of `chat` without the usage. */
  async *ask(job: number, request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const { note, whom } = this.parts;
    const chat = this.parts.model();
    let model = chat.name;
    const told = new Set<unknown>();
    let usage: Extract<ChatEvent, { readonly kind: 'usage' }> | undefined;
    let cut: AnswerCut | undefined;
    let answer = '';
    note({ type: 'modelAsked', job });
    try {
      for await (const event of chat.chat(whom ? { ...request, whom } : request, signal)) {
        this.#remark(event);
        if (event.kind === 'failed') {
          told.add(event.error);
          this.#failedAt(chat, event.error, event.failure.next !== undefined);
        }
        if (event.kind === 'usage') {
          usage = event;
          continue;
        }
        if (event.kind === 'failed') {
          this.parts.failed(event.failure);
          model = event.nextModel ?? model;
          // The next request is one of its own in the record.
          if (event.failure.next === undefined) continue;
          note({ type: 'modelEnded', job });
          note({ type: 'modelAsked', job });
          continue;
        }
        if (event.kind === 'cut') {
          cut = event.why;
          continue;
        }
        note({ type: 'modelBegan', job });
        answer += event.kind === 'text' ? event.text : JSON.stringify(event.calls);
        yield event;
      }
    } catch (error) {
      this.#remarkError(error);
      if (!told.has(error) && !signal.aborted) this.#failedAt(chat, error, false);
      throw error;
    } finally {
      note({ type: 'modelEnded', job, cut });
      if (usage) note({ type: 'used', job, usage: usageOfModel(model, usage.tokens) });
      else if (chat.hasTokens !== false) this.#estimate(job, model, textOf(request), answer);
    }
  }

  /** Tells what is odd in an event. */
  #remark(event: ChatEvent): void {
    if (event.kind === 'cut') this.parts.odd?.(event.why);
    if (event.kind === 'calls' && event.asText) this.parts.odd?.('asText');
  }

  #failedAt({ name: model, endpoint: host }: ChatModel, error: unknown, retried: boolean): void {
    if (host === undefined) return;
    const { outcome, status = null } = meaningOf(error);
    this.parts.endpointFailed?.({ model, host, error: outcome, statusCode: status, retried });
  }

  #remarkError(error: unknown): void {
    if (error instanceof ContextExceeded) this.parts.odd?.('window');
  }

  /** Resolves when everything is counted. Never rejects. */
  async settled(): Promise<void> {
    await Promise.all(this.#counting);
  }

  #estimate(job: number, model: string, asked: string, answer: string): void {
    const counting = Promise.all([this.#count(asked), this.#count(answer)]).then(
      ([inputTokens, outputTokens]) => {
        const usage = { ...usageOfModel(model, { inputTokens, outputTokens }), tokensEstimated: true };
        this.parts.note({ type: 'used', job, usage });
        this.#counting.delete(counting);
      },
    );
    this.#counting.add(counting);
  }

  #count(text: string): Promise<number> {
    return this.parts.tokens.count(text).catch(() => Math.ceil(text.length / CHARACTERS_A_TOKEN));
  }
}
