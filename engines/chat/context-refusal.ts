/**
 * Refusals of a language model because the request is longer than its context window. Servers say so by a code, a status
 * and sentences of their own; most name both numbers, from which follows how much would have fitted.
 */
import { isPlainObject, type PlainObject } from '../../contracts/schemas/plain-object.js';
import { ContextExceeded } from '../../contracts/ports/chat.js';

/** Codes and types of OpenAI, Azure, Groq; llama.cpp; LiteLLM. */
const CODES = new Set([
  'context_length_exceeded',
  'exceed_context_size_error',
  'contextwindowexceedederror',
  'string_above_max_length',
]);

/** Sentences of vLLM, OpenRouter, llama.cpp, Ollama, LiteLLM, Anthropic, Gemini, Mistral, Bedrock, in that order. */
const SENTENCES = [
  /maximum context length/i,
  /context length is only/i,
  /exceeds? the (?:available )?context (?:size|length|window)/i,
  /(?:input|prompt) length exceeds/i,
  /ContextWindowExceededError/,
  /prompt is too long/i,
  /input token count .*exceeds the maximum/i,
  /too large for model with \d+ maximum context/i,
  /input is too long for (?:the )?requested model/i,
  /reduce the length of the (?:messages|prompt|input)/i,
];

/** What would have fitted, if the refusal does not tell. */
const GUESS = 0.5;
/** Below what the numbers say: the server's count and ours are not of the same text. */
const MARGIN = 0.9;

/** Numbers of at least three digits: the window and what was asked of it. */
const NUMBERS = /\d{3,}/g;

function shareIn(sentence: string, error: PlainObject): number {
  const { n_ctx: room, n_prompt_tokens: asked } = error;
  const named = [room, asked].filter((value) => typeof value === 'number');
  const numbers = named.length === 2 ? named : (sentence.match(NUMBERS) ?? []).map(Number);
  const [most, least] = [Math.max(...numbers), Math.min(...numbers)];
  return numbers.length > 1 && least < most ? Math.max(0.1, (least / most) * MARGIN) : GUESS;
}

const lower = (value: unknown): string => (typeof value === 'string' ? value.toLowerCase() : '');

/** The error in a body or an event; `body` is parsed JSON. Undefined if it is about something else. */
export function contextRefusal(body: unknown): ContextExceeded | undefined {
  const outer = isPlainObject(body) ? body : {};
  const inner = outer['error'];
  const error = isPlainObject(inner) ? inner : outer;
  const sentence = [error['message'], outer['message'], inner, outer['detail']].find(
    (value) => typeof value === 'string',
  ) as string | undefined;
  const isNamed = [error['code'], error['type'], outer['code']].some((value) => CODES.has(lower(value)));
  if (!isNamed && !SENTENCES.some((pattern) => pattern.test(sentence ?? ''))) return undefined;
  return new ContextExceeded(shareIn(sentence ?? '', error));
}
