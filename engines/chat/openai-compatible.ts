/**
 * A language model behind an OpenAI-compatible `/chat/completions` (docs/contract/decisions.md "Language model",
 * decision 11), at an address that the operator chose. Streamed, never retried, bounded in time to the first byte and in
 * length.
 */
import { createParser } from 'eventsource-parser';
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import { isPlainObject } from '../../contracts/schemas/plain-object.js';
import { wellFormed } from '../../contracts/text/text.js';
import {
  type ChatEvent,
  type ChatMessage,
  type ChatModel,
  type ChatRequest,
  type ChatTool,
  PICKED_UP,
  type ToolCall,
} from '../../contracts/ports/chat.js';
import {
  ask,
  discard,
  headerOf,
  partsOf,
  type RemoteAddress,
  type RemoteReply,
} from '../backends/remote/request.js';
import { contextRefusal } from './context-refusal.js';
import { Calls, failed, textOf, type WireCall } from './streamed-calls.js';
import { type Habit, WithoutThoughts } from './thoughts.js';
import { ToldThoughts } from './told-thoughts.js';

export interface ChatSettings extends RemoteAddress {
  readonly model: string;
  /** Longest wait for the first event of an answer, and between two events, in milliseconds. */
  readonly silenceMs: number;
  /** Whether the request asks for token usage; usage reported unasked is used, too. */
  readonly asksUsage?: boolean;
  /** The model's context window in tokens, if it is known. */
  readonly contextTokens?: number;
}

const MOST = LIMITS.languageModel;

function isObjectText(text: string): boolean {
  try {
    return isPlainObject(JSON.parse(text));
  } catch {
    return false;
  }
}

/**
 * Arguments that are no JSON object go back as an empty one: a server that reads the arguments of earlier calls would refuse every later
 * request of the conversation. The tool's answer tells the model what was wrong.
 */
const toWireCall = ({ id, name, arguments: args, extra }: ToolCall) => ({
  id,
  type: 'function',
  function: { name, arguments: isObjectText(args) ? args : '{}' },
  ...(extra && { extra_content: extra }),
});

function toWireMessage(message: ChatMessage): object {
  if (message.role === 'tool') {
    return { role: 'tool', tool_call_id: message.callId, content: message.content };
  }
  if (message.role !== 'assistant' || !message.toolCalls?.length) {
    return { role: message.role, content: message.content };
  }
  const content = message.content === '' ? null : message.content;
  const thoughts = message.toolCalls[0]?.thoughts;
  return { role: 'assistant', content, ...thoughts, tool_calls: message.toolCalls.map(toWireCall) };
}

/** The messages, with the turn's passages right before the user's last message. */
function withPassages(
  messages: readonly ChatMessage[],
  passages: ChatRequest['passages'],
): readonly ChatMessage[] {
  if (passages.length === 0) return messages;
  const found = passages.map(({ source, text }) => `[${source}]\n${text}`).join('\n\n');
  const content = `Passages from the knowledge base that may help with the next answer:\n\n${found}`;
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const at = asked < 0 ? messages.length : asked;
  return [...messages.slice(0, at), { role: 'system', content }, ...messages.slice(at)];
}

const isSystem = ({ role }: ChatMessage): boolean => role === 'system';

/** An instruction in the middle of a conversation, as the user's message in parentheses. */
const asNote = (message: ChatMessage): ChatMessage =>
  isSystem(message) ? { role: 'user', content: `(${message.content})` } : message;

/** A call and its answer as the user's note; without the answer's message the call was broken off. */
const asTold = (
  { id, name, arguments: args }: ToolCall,
  answers: ReadonlyMap<string, string>,
): ChatMessage => ({
  role: 'user',
  content: `(Tool ${name} was called with ${args}. Its answer: ${answers.get(id) ?? 'none'})`,
});

/**
 * The messages with tool calls and their answers told in words. Bedrock behind LiteLLM, among others, refuses calls in a
 * conversation for which no tools are offered.
 */
function withoutCalls(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  return messages.flatMap((message, index): readonly ChatMessage[] => {
    if (message.role === 'tool') return [];
    if (message.role !== 'assistant' || !message.toolCalls?.length) return [message];
    const { content, toolCalls } = message;
    const answers = new Map(
      messages
        .slice(index + 1, index + 1 + toolCalls.length)
        .flatMap((each) => (each.role === 'tool' ? [[each.callId, each.content] as const] : [])),
    );
    const said: readonly ChatMessage[] = content === '' ? [] : [{ role: 'assistant', content }];
    return [...said, ...toolCalls.map((call) => asTold(call, answers))];
  });
}

/** The messages; those of the user in a row are one. */
function joined(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const all: ChatMessage[] = [];
  for (const message of messages) {
    const last = all.at(-1);
    const isMore = last?.role === 'user' && message.role === 'user';
    if (isMore) all[all.length - 1] = { role: 'user', content: `${last.content}\n\n${message.content}` };
    else all.push(message);
  }
  return all;
}

/**
 * One system message, at the beginning, then a message of the user, and never two of the user's in a row: the templates of
 * Qwen 3.5, Gemma, Mistral and others refuse any other order. Later instructions stay where they are, as notes of the user: there they
 * mean the latest turn, and servers that cache the beginning of a prompt find it unchanged.
 */
function ordered({ messages, passages, tools }: ChatRequest): readonly ChatMessage[] {
  const begun = messages.findIndex((message) => !isSystem(message));
  const [before, after] = begun < 0 ? [messages, []] : [messages.slice(0, begun), messages.slice(begun)];
  const instructions = before.map(({ content }) => content).filter((text) => text !== '');
  const told = withPassages(after, passages).map(asNote);
  const said = tools.length > 0 ? told : withoutCalls(told);
  return [
    ...(instructions.length > 0 ? [{ role: 'system', content: instructions.join('\n\n') } as const] : []),
    ...joined(said[0]?.role === 'user' ? said : [PICKED_UP, ...said]),
  ];
}

/** OpenAI refuses the whole request if one schema has no `properties`; MCP servers may leave them out. */
function toWireTool(tool: ChatTool): object {
  const parameters = { type: 'object', properties: {}, ...tool.parameters };
  return { type: 'function', function: { ...tool, parameters } };
}

/** Texts that were cut may end with half a character. */
const written = (_name: string, value: unknown): unknown =>
  typeof value === 'string' ? wellFormed(value) : value;

const bodyOf = (request: ChatRequest, { model, asksUsage = false }: ChatSettings): string =>
  JSON.stringify(
    {
      model,
      stream: true,
      ...(asksUsage && { stream_options: { include_usage: true } }),
      messages: ordered(request).map(toWireMessage),
      ...(request.tools.length > 0 && {
        tools: request.tools.map(toWireTool),
      }),
    },
    written,
  );

interface WireDelta {
  readonly content?: unknown;
  /** Replaces `content` if the model declines. */
  readonly refusal?: unknown;
  readonly tool_calls?: unknown;
}

interface WireUsage {
  readonly prompt_tokens?: unknown;
  readonly completion_tokens?: unknown;
}

interface WireChunk {
  readonly error?: unknown;
  /** `error` in errors of older vLLM, whose other members are the error's. */
  readonly object?: unknown;
  readonly usage?: WireUsage | null;
  readonly choices?: readonly ({ readonly delta?: WireDelta | null } | null)[] | null;
}

const BROKE = 'The language model failed while it answered';
const TOO_MUCH = 'The language model answered too much';

/** The text of a string, or of the text parts of a list (Mistral's reasoning models). */
const saidIn = (content: unknown): string =>
  Array.isArray(content)
    ? content
        .map((part: unknown) => (isPlainObject(part) && part['type'] === 'text' ? textOf(part['text']) : ''))
        .join('')
    : textOf(content);

/** The data of each event of a stream. Errors: `provider_failed` if it breaks off or is too long. */
async function* eventsOf(reply: RemoteReply, signal: AbortSignal): AsyncGenerator<string> {
  let events: string[] = [];
  const parser = createParser({
    onEvent({ event, data }) {
      if (event === 'error') throw failed(BROKE);
      if (data.trim() !== '') events.push(data.trim());
    },
  });
  const decoder = new TextDecoder();
  let total = 0;
  let sinceEvent = 0;
  for await (const part of partsOf(reply, signal)) {
    total += part.length;
    sinceEvent += part.length;
    if (total > MOST.streamBytes || sinceEvent > MOST.eventBytes) throw failed(TOO_MUCH);
    parser.feed(decoder.decode(part, { stream: true }));
    if (events.length > 0) sinceEvent = 0;
    yield* events;
    events = [];
  }
  // Some servers send no blank line after their last event.
  parser.feed('\n\n');
  yield* events;
}

const EVENT_STREAM = /^\s*text\/event-stream\b/i;

/** Refuses a web page or another document in place of a stream; without a content type the body decides. */
function checkType(reply: RemoteReply): void {
  const type = headerOf(reply, 'content-type');
  if (type === '' || EVENT_STREAM.test(type)) return;
  discard(reply);
  throw failed('The language model did not answer an event stream');
}

function chunkOf(data: string): WireChunk {
  let chunk: WireChunk | null;
  try {
    chunk = JSON.parse(data) as WireChunk | null;
  } catch {
    throw failed('The language model answered something that is not JSON');
  }
  if (chunk?.error || chunk?.object === 'error') throw contextRefusal(chunk) ?? failed(BROKE);
  return chunk ?? {};
}

const deltaOf = ({ choices }: WireChunk): WireDelta =>
  (Array.isArray(choices) ? (choices as WireChunk['choices'])?.[0]?.delta : undefined) ?? {};

type Tokens = Extract<ChatEvent, { readonly kind: 'usage' }>['tokens'];

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** The reported token counts; undefined if they are missing or unusable. */
function tokensOf({ usage }: WireChunk): Tokens | undefined {
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = usage ?? {};
  return isCount(inputTokens) && isCount(outputTokens) ? { inputTokens, outputTokens } : undefined;
}

/** One answer as it arrives: its length is bounded, and it must not be empty unless it may be. */
class Answer {
  readonly #calls = new Calls();
  readonly #thoughts: WithoutThoughts;
  /** The first half of a surrogate pair: some servers cut their events there. */
  #half = '';
  #length = 0;
  #began = false;
  #spoke = false;
  readonly #told = new ToldThoughts();
  /** Last reported counts: some servers report them with every event. */
  tokens: Tokens | undefined;

  constructor(habit: Habit) {
    this.#thoughts = new WithoutThoughts(habit);
  }

  /** The text in an event. Errors: `provider_failed` if the answer is too long. */
  take(data: string): string {
    const chunk = chunkOf(data);
    this.#began = true;
    this.tokens = tokensOf(chunk) ?? this.tokens;
    const delta = deltaOf(chunk);
    const { content, refusal, tool_calls: pieces } = delta;
    this.#told.add({ ...delta });
    for (const piece of Array.isArray(pieces) ? (pieces as (WireCall | null)[]) : [])
      this.#length += this.#calls.add(piece);
    const text = saidIn(content) + textOf(refusal);
    this.#length += text.length;
    if (this.#length > MOST.answerLength) throw failed(TOO_MUCH);
    return this.#said(this.#thoughts.take(this.#whole(text)));
  }

  /** The text so far, without the half of a pair that may be completed by the next event. */
  #whole(text: string): string {
    const all = this.#half + text;
    this.#half = /[\ud800-\udbff]$/.exec(all)?.[0] ?? '';
    return wellFormed(all.slice(0, all.length - this.#half.length));
  }

  /** Text that was held back because it could have begun a thought. */
  rest(): string {
    return this.#said(this.#thoughts.take(wellFormed(this.#half)) + this.#thoughts.rest());
  }

  #said(text: string): string {
    this.#spoke ||= /\S/u.test(text);
    return text;
  }

  /** The whole calls. Errors: `provider_failed` if the model has neither said nor called anything, or has not even begun to. */
  end({ mayBeEmpty = false }: ChatRequest): readonly ToolCall[] {
    const { whole } = this.#calls;
    const isEmpty = !this.#spoke && whole.length === 0;
    if (isEmpty && !(mayBeEmpty && this.#began)) throw failed('The language model answered nothing');
    const [first, ...others] = whole;
    const thoughts = this.#told.whole;
    return first && thoughts ? [{ ...first, thoughts }, ...others] : whole;
  }
}

/** Aborts `abort` after `ms`, unless the returned function is called before. */
function abortAfter(ms: number, abort: AbortController): () => void {
  const timer = setTimeout(() => abort.abort(new ServiceError('first_byte_timeout')), ms);
  return () => clearTimeout(timer);
}

/** Errors of `chat`: those of the port. */
export const createOpenaiChat = (
  settings: ChatSettings,
  habit: Habit = { thinksFirst: false },
): ChatModel => ({
  name: settings.model,
  ...(settings.contextTokens !== undefined && { contextTokens: settings.contextTokens }),
  async *chat(request, signal): AsyncGenerator<ChatEvent> {
    const late = new AbortController();
    const both = AbortSignal.any([signal, late.signal]);
    let inTime = abortAfter(settings.silenceMs, late);
    const answer = new Answer(habit);
    try {
      const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
      const body = bodyOf(request, settings);
      const asked = { path: '/chat/completions', headers, body, refusal: contextRefusal };
      const reply = await ask(settings, asked, both);
      checkType(reply);
      for await (const data of eventsOf(reply, both)) {
        inTime();
        if (data === '[DONE]') break;
        const text = answer.take(data);
        if (text !== '') yield { kind: 'text', text };
        inTime = abortAfter(settings.silenceMs, late);
      }
      const rest = answer.rest();
      if (rest !== '') yield { kind: 'text', text: rest };
      if (answer.tokens) yield { kind: 'usage', tokens: answer.tokens };
      const calls = answer.end(request);
      if (calls.length > 0) yield { kind: 'calls', calls };
    } finally {
      inTime();
      late.abort();
    }
  },
});
