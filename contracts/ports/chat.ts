/** A language model that streams text and tool calls (docs/contract/decisions.md "Language model", decision 11). */
import { ServiceError } from '../errors.js';
import type { ForWhom } from './parts.js';

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text as the model wrote it; not checked yet. */
  readonly arguments: string;
  /** What its server has added to the call, and wants back with it: Gemini refuses calls without their thought signature. */
  readonly extra?: object;
  /** On the first call of a step: what the model thought before it, if its server tells that, and wants it back. */
  readonly thoughts?: object;
}

export type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly toolCalls?: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly callId: string; readonly content: string };

/** Stands before what an agent says first: many models need a user's message at the beginning. */
export const PICKED_UP: ChatMessage = {
  role: 'user',
  content: '(The call is connected. Nobody has spoken yet.)',
};

/** JSON Schema of an object. */
export interface ChatTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: object;
}

export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ChatTool[];
  /**
   * Passages of the knowledge base for this turn; a model that reads prompts gets them as a message, the embedded one
   * unchanged.
   */
  readonly passages: readonly { readonly source: string; readonly text: string }[];
  /** Sources of the knowledge base that are part of the instructions. */
  readonly known?: ChatRequest['passages'];
  /** For whom it is asked; absent: nobody that the log could name. */
  readonly whom?: ForWhom;
  /** Words of this answer came before the tools that were called: many models then have nothing to add, which is no failure. */
  readonly mayBeEmpty?: boolean;
}

/** Why an answer is incomplete: too many tokens, the server's filter, or a stream that ended without an end. */
export const ANSWER_CUTS = ['length', 'content_filter', 'unfinished'] as const;
export type AnswerCut = (typeof ANSWER_CUTS)[number];

export interface ModelFailure {
  readonly model: string;
  /** Its host, and the setting that names it. */
  readonly address: string;
  readonly setting: string;
  /** Code and status of the error (contracts/errors.ts). */
  readonly code: string;
  readonly status: number;
  /** The setting of the model that is asked next. */
  readonly next: string | undefined;
}

export type ChatEvent =
  | { readonly kind: 'text'; readonly text: string }
  /** Whole calls, once the model has written them; `asText`: as text, which its server has not parsed. */
  | { readonly kind: 'calls'; readonly calls: readonly ToolCall[]; readonly asText?: true }
  /** The answer is incomplete; what was written of it stands. */
  | { readonly kind: 'cut'; readonly why: AnswerCut }
  /** A model has failed before it said anything: the same request is sent again, to it or to another one, if there is a `next`. */
  | {
      readonly kind: 'failed';
      readonly failure: ModelFailure;
      readonly error: unknown;
      /** The name of the model that is asked next. */
      readonly nextModel?: string;
    }
  /** Tokens used by the request, sent last; some models never send it. */
  | {
      readonly kind: 'usage';
      readonly tokens: { readonly inputTokens: number; readonly outputTokens: number };
    };

/** The request was longer than the model's context window; nothing was answered. */
export class ContextExceeded extends ServiceError {
  /** `share`: how much of the request would have fitted, above 0 and below 1. */
  constructor(readonly share: number) {
    super('context_exceeded');
  }
}

/** The model could not be reached, or failed before it answered anything: asking once more repeats nothing. */
export class ModelUnanswered extends ServiceError {
  constructor({ status, message, answered, cause }: ServiceError) {
    super('provider_failed', { status, message, answered, cause });
  }
}

export interface ChatModel {
  /** Shown in logs and records; the embedded one is `builtin-dialogue`. */
  readonly name: string;
  /** False if it is no language model: no tokens are counted. */
  readonly hasTokens?: boolean;
  /** Its context window in tokens, if its operator has set it. */
  readonly contextTokens?: number;
  /** Where it is the agent's own (`llm.custom`): its host. */
  readonly endpoint?: string;
  /**
   * Errors: `provider_failed` (with the model's status; also for an answer that is too long, no stream, or empty unless it
   * may be), `ModelUnanswered`, `ContextExceeded`, `first_byte_timeout`. Never retried after the request was
   * sent. Leaving the loop, or an abort, ends the request.
   */
  chat(request: ChatRequest, signal: AbortSignal): AsyncIterable<ChatEvent>;
}

/** Times that a question which can be shortened is asked. */
const MOST_ASKED = 3;

/**
 * The whole text of the answer to one question. `messagesFor` makes the question with that share of its material, which
 * becomes smaller while the model refuses it as too long. Errors: those of `chat`.
 */
export async function wholeAnswer(
  chat: Pick<ChatModel, 'chat'>,
  messagesFor: (share: number) => readonly ChatMessage[],
  signal: AbortSignal,
): Promise<string> {
  for (let asked = 1, share = 1; ; asked += 1) {
    try {
      return await answerTo(chat, messagesFor(share), signal);
    } catch (error) {
      if (!(error instanceof ContextExceeded) || asked === MOST_ASKED) throw error;
      share *= error.share;
    }
  }
}

async function answerTo(
  chat: Pick<ChatModel, 'chat'>,
  messages: readonly ChatMessage[],
  signal: AbortSignal,
): Promise<string> {
  let answer = '';
  for await (const event of chat.chat({ messages, tools: [], passages: [] }, signal))
    if (event.kind === 'text') answer += event.text;
  return answer;
}
