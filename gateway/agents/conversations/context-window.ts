/**
 * How much of a conversation the language model is told: what fits into its context window. Sizes are estimates in tokens,
 * from the bytes of the text, so that they err on the long side in every script.
 *
 * Invariants: what is told begins with a message of the user, so that calls are never separated from their answers; the
 * newest message of the user is always told; the beginning stays where it is until there is no more room, and then moves on by
 * a quarter of the window, so that servers find the prompt of the previous answer in their cache.
 */
import { LIMITS } from '../../../contracts/limits.js';
import type { ChatMessage } from '../../../contracts/ports/chat.js';

const { conversationTokens, answerTokens } = LIMITS.languageModel;

/** Bytes of a token: fewer than in any language that people speak with agents. */
const BYTES_A_TOKEN = 3;
/** What a message takes besides its text. */
const TOKENS_A_MESSAGE = 8;
/** How full the window is after its beginning has moved. */
const AFTER_MOVE = 3 / 4;

export const tokensIn = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_A_TOKEN);

const sizeOf = (message: ChatMessage): number => {
  const calls = 'toolCalls' in message && message.toolCalls ? tokensIn(JSON.stringify(message.toolCalls)) : 0;
  return TOKENS_A_MESSAGE + tokensIn(message.content) + calls;
};

const sizesOf = (messages: readonly ChatMessage[]): number =>
  messages.reduce((sum, message) => sum + sizeOf(message), 0);

/** Where the conversation begins if it may take `room` tokens: at a message of the user. */
function beginningWithin(said: readonly ChatMessage[], room: number): number {
  let left = room;
  const first = said.findLastIndex((message) => (left -= sizeOf(message)) < 0) + 1;
  const begins = said.findIndex(({ role }, index) => index >= first && role === 'user');
  return begins < 0
    ? Math.max(
        0,
        said.findLastIndex(({ role }) => role === 'user'),
      )
    : begins;
}

export class ContextWindow {
  /** Number of messages that are no longer told. */
  #left = 0;
  /** Tokens of the last request, and how many of them are the conversation's. */
  #asked = { whole: 0, said: 0 };
  #learned: number | undefined;

  /** `tokens`: the model's window, as its operator says; undefined if unknown. */
  constructor(private readonly tokens?: number) {}

  /**
   * The part of the conversation to tell, beside `fixed` tokens of instructions, tools and passages. `said` only grows from
   * call to call, except for the last message of the user.
   */
  fit(said: readonly ChatMessage[], fixed: number): readonly ChatMessage[] {
    const room = this.#roomBeside(fixed);
    const told = said.slice(this.#left);
    if (sizesOf(told) > room) this.#left = beginningWithin(said, room * AFTER_MOVE);
    const fitting = said.slice(this.#left);
    const size = sizesOf(fitting);
    this.#asked = { whole: fixed + size, said: size };
    return fitting;
  }

  /**
   * The model has refused the last request as too long; about `share` of it would have fitted. False if nothing of the
   * conversation can be left out, so that asking again is no use.
   */
  refused(share: number): boolean {
    const { whole, said } = this.#asked;
    const learned = Math.floor(whole * share);
    this.#learned = Math.min(learned, this.#learned ?? Infinity);
    return said > 0 && learned < whole;
  }

  #roomBeside(fixed: number): number {
    const set = this.tokens === undefined ? Infinity : this.tokens - answerTokens - fixed;
    const learned = this.#learned === undefined ? Infinity : this.#learned - fixed;
    const usual = this.tokens === undefined ? conversationTokens : Infinity;
    return Math.max(0, Math.min(set, learned, usual));
  }
}
