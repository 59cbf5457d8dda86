/**
 * A language model behind an OpenAI-compatible `/chat/completions` (decisions.md "Language model", fine point 11),
 * an address of the operator's own. Streamed, never retried, bounded in time to the first byte and in length.
 */
import { createParser } from 'eventsource-parser';
import { ServiceError } from '../../contracts/errors.js';
import type { ChatEvent, ChatMessage, ChatModel, ChatRequest, ToolCall } from '../../contracts/ports/chat.js';
import { ask, partsOf, type RemoteAddress } from '../backends/remote/request.js';

export interface ChatSettings extends RemoteAddress {
  readonly model: string;
  /** Until the first event of an answer, and from each to the next, in milliseconds. */
  readonly silenceMs: number;
}

/** What one answer may hold, in characters: text and arguments together. */
const ANSWER_LENGTH = 100_000;
const MOST_CALLS = 16;

const toWireCall = ({ id, name, arguments: args }: ToolCall) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});

function toWireMessage(message: ChatMessage): object {
  if (message.role === 'tool') {
    return { role: 'tool', tool_call_id: message.callId, content: message.content };
  }
  if (message.role !== 'assistant' || !message.toolCalls?.length) {
    return { role: message.role, content: message.content };
  }
  const content = message.content === '' ? null : message.content;
  return { role: 'assistant', content, tool_calls: message.toolCalls.map(toWireCall) };
}

/** What was found for the turn stands right before the user's words. */
function withPassages({ messages, passages }: ChatRequest): readonly ChatMessage[] {
  if (passages.length === 0) return messages;
  const found = passages.map(({ source, text }) => `[${source}]\n${text}`).join('\n\n');
  const content = `Passages from the knowledge base that may help with the next answer:\n\n${found}`;
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const at = asked < 0 ? messages.length : asked;
  return [...messages.slice(0, at), { role: 'system', content }, ...messages.slice(at)];
}

const bodyOf = (request: ChatRequest, model: string): string =>
  JSON.stringify({
    model,
    stream: true,
    messages: withPassages(request).map(toWireMessage),
    ...(request.tools.length > 0 && {
      tools: request.tools.map((tool) => ({ type: 'function', function: tool })),
    }),
  });

interface WireCall {
  readonly index?: unknown;
  readonly id?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown };
}

interface WireChunk {
  readonly error?: { readonly message?: unknown };
  readonly choices?: readonly {
    readonly delta?: { readonly content?: unknown; readonly tool_calls?: readonly WireCall[] };
  }[];
}

const failed = (message: string): ServiceError => new ServiceError('provider_failed', { message });

/** Puts calls together that come in pieces. */
class Calls {
  readonly #calls: { id: string; name: string; arguments: string }[] = [];

  add({ index, id, function: made }: WireCall): number {
    const at = typeof index === 'number' ? index : this.#calls.length;
    if (at < 0 || at >= MOST_CALLS) throw failed('The language model made too many tool calls');
    const call = (this.#calls[at] ??= { id: '', name: '', arguments: '' });
    if (typeof id === 'string' && id !== '') call.id = id;
    if (typeof made?.name === 'string') call.name += made.name;
    if (typeof made?.arguments !== 'string') return 0;
    call.arguments += made.arguments;
    return made.arguments.length;
  }

  get whole(): readonly ToolCall[] {
    return this.#calls
      .filter((call) => call !== undefined && call.name !== '')
      .map((call, index) => ({ ...call, id: call.id || `call_${index}` }));
  }
}

/** The data of each event of a stream. Errors: `provider_failed` where it breaks off. */
async function* eventsOf(response: Response, signal: AbortSignal): AsyncGenerator<string> {
  let events: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => void events.push(data) });
  const decoder = new TextDecoder();
  for await (const part of partsOf(response, signal)) {
    parser.feed(decoder.decode(part, { stream: true }));
    yield* events;
    events = [];
  }
}

function chunkOf(data: string): WireChunk {
  let chunk: WireChunk | null;
  try {
    chunk = JSON.parse(data) as WireChunk | null;
  } catch {
    throw failed('The language model answered something that is not JSON');
  }
  if (chunk?.error) throw failed('The language model failed while it answered');
  return chunk ?? {};
}

/** Aborts `abort` unless `stop` is called within `ms`. */
function within(ms: number, abort: AbortController): () => void {
  const timer = setTimeout(() => abort.abort(new ServiceError('first_byte_timeout')), ms);
  return () => clearTimeout(timer);
}

/** Errors of `chat`: those of the port. */
export const createOpenaiChat = (settings: ChatSettings): ChatModel => ({
  name: settings.model,
  async *chat(request, signal): AsyncGenerator<ChatEvent> {
    const late = new AbortController();
    const both = AbortSignal.any([signal, late.signal]);
    let inTime = within(settings.silenceMs, late);
    const calls = new Calls();
    let length = 0;
    try {
      const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
      const body = bodyOf(request, settings.model);
      const response = await ask(settings, { path: '/chat/completions', headers, body }, both);
      for await (const data of eventsOf(response, both)) {
        inTime();
        if (data === '[DONE]') break;
        const delta = chunkOf(data).choices?.[0]?.delta;
        for (const call of delta?.tool_calls ?? []) length += calls.add(call);
        const { content } = delta ?? {};
        if (typeof content === 'string' && content !== '') {
          length += content.length;
          yield { kind: 'text', text: content };
        }
        if (length > ANSWER_LENGTH) throw failed('The language model answered too much');
        inTime = within(settings.silenceMs, late);
      }
      if (calls.whole.length > 0) yield { kind: 'calls', calls: calls.whole };
    } finally {
      inTime();
      late.abort();
    }
  },
});
