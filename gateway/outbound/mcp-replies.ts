/** Reads an MCP server's reply as it arrives: JSON-RPC in one JSON document or in a stream of events. */
import { createParser } from 'eventsource-parser';
import { LIMITS } from '../../contracts/limits.js';
import { isPlainObject, type PlainObject } from '../../contracts/schemas/plain-object.js';
import type { ChatTool } from '../../contracts/ports/chat.js';
import { type McpAnswer, McpError, McpUnanswered } from '../../contracts/ports/agents/mcp.js';
import type { OutboundReply } from '../../contracts/ports/outbound.js';
import { firstUnits, wellFormed } from '../../contracts/text/text.js';

/** Longest id of an event that is sent back. */
const MOST_ID = 1024;
/** Most characters that are kept of a server's own error message. */
const SHOWN = 500;

const EVENT_STREAM = /^\s*text\/event-stream\b/i;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const listOf = (value: unknown): readonly PlainObject[] =>
  Array.isArray(value) ? value.filter((item) => isPlainObject(item)) : [];

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const TOOLS_CHANGED = 'notifications/tools/list_changed';

/**
 * Reads what a server sends on one stream: the answer to a request, and notifications beside it. A stream that breaks off is
 * read on by the same reader when it is resumed.
 */
export class ReplyReader {
  #answer: PlainObject | undefined;
  /** An error that names no request of ours: the server has not got as far as reading it. */
  #refusal: PlainObject | undefined;
  #decoder = new TextDecoder();
  #events = this.#parser();
  /** The id of the last event, by which the stream can be resumed. */
  lastEventId: string | undefined;
  /** The pause that the server wants before that, in ms. */
  retryMs: number | undefined;
  /** Whether the server has said that its tools have changed. */
  toolsChanged = false;

  /** `id`: the request; undefined for a stream of notifications alone, which ends as soon as there is one that matters. */
  constructor(private readonly id?: number) {}

  /** Takes the next bytes of a stream; true once what it is read for has arrived. */
  readonly enough = (chunk: Uint8Array, headers: OutboundReply['headers']): boolean => {
    if (!EVENT_STREAM.test(headers['content-type'] ?? '')) return false;
    this.#events.feed(this.#decoder.decode(chunk, { stream: true }));
    return this.id === undefined ? this.toolsChanged : this.hasAnswer;
  };

  get hasAnswer(): boolean {
    return this.#answer !== undefined;
  }

  /** The stream begins anew: half an event of the old one is none. */
  resumed(): void {
    this.#decoder = new TextDecoder();
    this.#events = this.#parser();
  }

  /** Takes the whole of a reply that is no stream. */
  take({ headers, body }: Pick<OutboundReply, 'headers' | 'body'>): void {
    if (!EVENT_STREAM.test(headers['content-type'] ?? '')) this.#look(parse(Buffer.from(body).toString()));
  }

  /** The result. Errors: `McpError`. */
  resultOf({ status, truncated }: Pick<OutboundReply, 'status' | 'truncated'>): PlainObject {
    if (this.#answer) return resultIn(this.#answer);
    const isRefused = status < 200 || status > 299;
    if (this.#refusal) return resultIn(this.#refusal, isRefused ? status : undefined);
    if (isRefused) throw new McpError(`The server answered HTTP ${status}`, { answered: status });
    throw new McpUnanswered(
      truncated ? 'The answer is too large' : 'The server did not answer with JSON-RPC',
    );
  }

  #parser() {
    return createParser({
      onEvent: ({ data, id }) => {
        if (id !== undefined && id.length <= MOST_ID) this.lastEventId = id;
        this.#look(parse(data));
      },
      onRetry: (ms) => (this.retryMs = ms),
    });
  }

  #look(message: unknown): void {
    for (const each of Array.isArray(message) ? (message as unknown[]) : [message])
      if (isPlainObject(each)) this.#lookAt(each);
  }

  #lookAt(message: PlainObject): void {
    const { id } = message;
    if (message['method'] === TOOLS_CHANGED) this.toolsChanged = true;
    if ('method' in message) return;
    if (this.id !== undefined && id === this.id) this.#answer ??= message;
    else if ('error' in message) this.#refusal ??= message;
  }
}

/** `answered`: the status of a refusal, which says more than the message that came with it. */
function resultIn({ result, error }: PlainObject, answered?: number): PlainObject {
  if (isPlainObject(result)) return result;
  const why = isPlainObject(error) ? firstUnits(wellFormed(textOf(error['message'])), SHOWN) : '';
  const message = why === '' ? 'The server reported an error' : `The server reported: ${why}`;
  throw new McpError(message, { answered });
}

/** As JSON; undefined for what is nested too deep to be written. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** Length as JSON; infinite if the schema is nested too deep. */
const lengthOf = (schema: object): number => jsonOf(schema)?.length ?? Infinity;

const isUsable = ({ name, inputSchema: schema }: PlainObject): boolean =>
  textOf(name) !== '' &&
  textOf(name).length <= LIMITS.mcp.toolName &&
  isPlainObject(schema) &&
  lengthOf(schema) <= LIMITS.mcp.schemaLength;

/** The tools of one page of `tools/list`, without those that are malformed or too large. */
export const toolsOf = ({ tools }: PlainObject): readonly ChatTool[] =>
  listOf(tools)
    .filter(isUsable)
    .map(({ name, description, inputSchema }) => ({
      name: textOf(name),
      description: firstUnits(wellFormed(textOf(description)), LIMITS.tool.description),
      parameters: inputSchema as object,
    }));

/** The text of each type of part in a tool's result; images and audio are only named, since they cannot be spoken. */
const PARTS: Readonly<Record<string, (part: PlainObject) => string>> = {
  text: ({ text }) => textOf(text),
  resource: ({ resource }) => (isPlainObject(resource) ? textOf(resource['text'] ?? resource['uri']) : ''),
  resource_link: ({ uri }) => textOf(uri),
  image: ({ mimeType }) => `[${textOf(mimeType) || 'image'}]`,
  audio: ({ mimeType }) => `[${textOf(mimeType) || 'audio'}]`,
};

const TOO_DEEP: McpAnswer = { ok: false, text: 'The result is nested too deep' };

/** The result of `tools/call`. */
export function answerOf({ content, structuredContent: structured, isError }: PlainObject): McpAnswer {
  const parts = listOf(content).map((part) => {
    const type = textOf(part['type']);
    return Object.hasOwn(PARTS, type) ? (PARTS[type]?.(part) ?? '') : '';
  });
  const said = parts.filter((part) => part !== '').join('\n');
  const text = said === '' && structured !== undefined ? jsonOf(structured) : said;
  return text === undefined ? TOO_DEEP : { ok: isError !== true, text };
}
