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
  type AnswerCut,
  type ChatEvent,
  type ChatModel,
  type ChatRequest,
  type ToolCall,
  ModelUnanswered,
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
import { StreamedToolCalls, failed, textOf, type WireCall } from './streamed-calls.js';
import { bodyOf } from './request-body.js';
import { SpeechOnly } from './protocol/speech-only.js';
import { offeredName } from './protocol/tool-names.js';
import { type ReasoningHabit, WithoutReasoning } from './thoughts.js';
import { StreamedReasoning } from './told-thoughts.js';

export interface ChatSettings extends RemoteAddress {
  readonly model: string;
  /** Longest wait for the first event of an answer, and between two events, in milliseconds. */
  readonly silenceMs: number;
  /** Whether the request asks for token usage; usage reported unasked is used, too. */
  readonly asksUsage?: boolean;
  /** More members of the request. */
  readonly more?: Readonly<Record<string, string>>;
  /** The model's context window in tokens, if it is known. */
  readonly contextTokens?: number;
}

const MOST = LIMITS.languageModel;

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

interface WireChoice {
  readonly delta?: WireDelta | null;
  readonly finish_reason?: unknown;
}

interface WireChunk {
  readonly error?: unknown;
  /** `error` in errors of older vLLM, whose other members are the error's. */
  readonly object?: unknown;
  readonly usage?: WireUsage | null;
  readonly choices?: readonly (WireChoice | null)[] | null;
}

/** How long the end of a stream is waited for after that of its answer; nobody else does. */
const DRAIN_MS = 1000;

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

interface Ending {
  /** The server has said that the answer is over. */
  isDone: boolean;
}

/** The events until the server says that the answer is over; then the stream is left open for `drained`. */
async function* untilDone(events: AsyncGenerator<string>, ending: Ending): AsyncGenerator<string> {
  try {
    for (;;) {
      const next = await events.next();
      if (next.done || (ending.isDone = next.value === '[DONE]')) return;
      yield next.value;
    }
  } finally {
    if (!ending.isDone) await events.return(undefined);
  }
}

/** Reads what follows the end of an answer, so that its connection serves the next request; not for long. Never rejects. */
async function drained(events: AsyncGenerator<string>, over: AbortController): Promise<void> {
  const timer = setTimeout(() => over.abort(), DRAIN_MS).unref();
  try {
    while (!(await events.next()).done);
  } catch {
    // The next request makes a connection of its own.
  } finally {
    clearTimeout(timer);
    over.abort();
  }
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

const choiceOf = ({ choices }: WireChunk): WireChoice =>
  (Array.isArray(choices) ? (choices as WireChunk['choices'])?.[0] : undefined) ?? {};

/** Ends of an answer that leave it incomplete, as servers name them. */
const CUTS: Readonly<Record<string, AnswerCut>> = {
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  content_filter: 'content_filter',
  safety: 'content_filter',
};

type Tokens = Extract<ChatEvent, { readonly kind: 'usage' }>['tokens'];

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** The reported token counts; undefined if they are missing or unusable. */
function tokensOf({ usage }: WireChunk): Tokens | undefined {
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = usage ?? {};
  return isCount(inputTokens) && isCount(outputTokens) ? { inputTokens, outputTokens } : undefined;
}

/** One answer as it arrives: its length is bounded, and it must not be empty unless it may be. */
class Answer {
  readonly #calls = new StreamedToolCalls();
  readonly #thoughts: WithoutReasoning;
  readonly #speech: SpeechOnly;
  /** The first half of a surrogate pair: some servers cut their events there. */
  #half = '';
  #length = 0;
  #began = false;
  /** Why the server ended it, in lower case; empty as long as it has not. */
  #finished = '';
  #spoke = false;
  readonly #told = new StreamedReasoning();
  /** Last reported counts: some servers report them with every event. */
  tokens: Tokens | undefined;

  constructor(
    private readonly request: ChatRequest,
    habit: ReasoningHabit,
  ) {
    this.#thoughts = new WithoutReasoning(habit);
    this.#speech = new SpeechOnly(request);
  }

  /** The text in an event. Errors: `provider_failed` if the answer is too long. */
  take(data: string): string {
    const chunk = chunkOf(data);
    this.#began = true;
    this.tokens = tokensOf(chunk) ?? this.tokens;
    const { delta, finish_reason: reason } = choiceOf(chunk);
    this.#finished = textOf(reason).toLowerCase() || this.#finished;
    const { content, refusal, tool_calls: pieces } = delta ?? {};
    this.#told.add({ ...delta });
    for (const piece of Array.isArray(pieces) ? (pieces as (WireCall | null)[]) : [])
      this.#length += this.#calls.add(piece);
    const text = saidIn(content) + textOf(refusal);
    this.#length += text.length;
    if (this.#length > MOST.answerLength) throw failed(TOO_MUCH);
    return this.#said(this.#speech.take(this.#thoughts.take(this.#whole(text))));
  }

  /** The text so far, without the half of a pair that may be completed by the next event. */
  #whole(text: string): string {
    const all = this.#half + text;
    this.#half = /[\ud800-\udbff]$/.exec(all)?.[0] ?? '';
    return wellFormed(all.slice(0, all.length - this.#half.length));
  }

  /** Text that was held back because it could have begun a thought. */
  rest(): string {
    const held = this.#thoughts.take(wellFormed(this.#half)) + this.#thoughts.rest();
    return this.#said(this.#speech.take(held) + this.#speech.rest());
  }

  #said(text: string): string {
    this.#spoke ||= /\S/u.test(text);
    return text;
  }

  /** The whole calls. Errors: `provider_failed` if the model has neither said nor called anything, or has not even begun to. */
  end(): readonly ToolCall[] {
    const { mayBeEmpty = false } = this.request;
    const whole = this.#allCalls();
    const isEmpty = !this.#spoke && whole.length === 0;
    if (isEmpty && !(mayBeEmpty && this.#began)) throw failed('The language model answered nothing');
    const [first, ...others] = whole;
    const thoughts = this.#told.whole;
    return first && thoughts ? [{ ...first, thoughts }, ...others] : whole;
  }

  /** Whether the model has written its calls as text. */
  get hasTextCalls(): boolean {
    return this.#calls.whole.length === 0 && this.#speech.calls.length > 0;
  }

  /** Why it is incomplete; undefined if it is not. `isDone`: the server has said that the stream is over. */
  cut(isDone: boolean): AnswerCut | undefined {
    return CUTS[this.#finished] ?? (isDone || this.#finished !== '' ? undefined : 'unfinished');
  }

  /** The calls that the server told; where it told none, those that the model wrote as text. */
  #allCalls(): readonly ToolCall[] {
    const offered = this.request.tools.map(({ name }) => name);
    const told = this.#calls.whole.map((call) => ({
      ...call,
      name: offeredName(call.name, offered) ?? call.name,
    }));
    if (told.length > 0) return told;
    return this.#speech.calls.map((call, index) => ({ ...call, id: `call_${index}` }));
  }
}

/** Statuses of a server that is gone for a moment, and of one that cannot be reached. */
const PASSING: ReadonlySet<number> = new Set([500, 502, 503]);

/** The same error, marked as harmless to repeat if it is one of a server that has answered nothing. */
function marked(error: unknown, hasAnswered: boolean): unknown {
  const isPassing =
    error instanceof ServiceError &&
    error.code === 'provider_failed' &&
    PASSING.has(error.answered ?? error.status);
  return isPassing && !hasAnswered ? new ModelUnanswered(error) : error;
}

/** Aborts `abort` after `ms`, unless the returned function is called before. */
function abortAfter(ms: number, abort: AbortController): () => void {
  const timer = setTimeout(() => abort.abort(new ServiceError('first_byte_timeout')), ms);
  return () => clearTimeout(timer);
}

/** Errors of `chat`: those of the port. */
export const createOpenaiChat = (
  settings: ChatSettings,
  habit: ReasoningHabit = { thinksFirst: false },
): ChatModel => ({
  name: settings.model,
  ...(settings.contextTokens !== undefined && { contextTokens: settings.contextTokens }),
  async *chat(request, signal): AsyncGenerator<ChatEvent> {
    const late = new AbortController();
    const both = AbortSignal.any([signal, late.signal]);
    let inTime = abortAfter(settings.silenceMs, late);
    const answer = new Answer(request, habit);
    const ending: Ending = { isDone: false };
    let events: AsyncGenerator<string> | undefined;
    let hasAnswered = false;
    try {
      const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
      const body = bodyOf(request, settings);
      const asked = { path: '/chat/completions', headers, body, refusal: contextRefusal };
      const reply = await ask(settings, asked, both);
      checkType(reply);
      events = eventsOf(reply, both);
      for await (const data of untilDone(events, ending)) {
        hasAnswered = true;
        inTime();
        const text = answer.take(data);
        if (text !== '') yield { kind: 'text', text };
        inTime = abortAfter(settings.silenceMs, late);
      }
      const rest = answer.rest();
      if (rest !== '') yield { kind: 'text', text: rest };
      if (answer.tokens) yield { kind: 'usage', tokens: answer.tokens };
      const cut = answer.cut(ending.isDone);
      if (cut) yield { kind: 'cut', why: cut };
      const calls = answer.end();
      if (calls.length > 0) yield { kind: 'calls', calls, ...(answer.hasTextCalls && { asText: true }) };
    } catch (error) {
      throw marked(error, hasAnswered);
    } finally {
      inTime();
      if (events && ending.isDone) void drained(events, late);
      else late.abort();
    }
  },
});
