/** Reads an MCP server's reply as it arrives: JSON-RPC in one JSON document or in a stream of events. */
import { createParser } from 'eventsource-parser';
import { LIMITS } from '../../contracts/limits.js';
import { isPlainObject, type PlainObject } from '../../contracts/schemas/plain-object.js';
import type { ChatTool } from '../../contracts/ports/chat.js';
import { type McpAnswer, McpError } from '../../contracts/ports/agents/mcp.js';
import type { OutboundReply } from '../../contracts/ports/outbound.js';

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

/** Finds the answer to one request. A stream may bring notifications before it, and is not read after it. */
export class ReplyReader {
  #answer: PlainObject | undefined;
  readonly #decoder = new TextDecoder();
  readonly #events = createParser({ onEvent: ({ data }) => this.#look(parse(data)) });

  constructor(private readonly id: number) {}

  /** Takes the next bytes of a stream; true once the answer has arrived. */
  readonly enough = (chunk: Uint8Array, headers: OutboundReply['headers']): boolean => {
    if (!EVENT_STREAM.test(headers['content-type'] ?? '')) return false;
    this.#events.feed(this.#decoder.decode(chunk, { stream: true }));
    return this.#answer !== undefined;
  };

  /** The result. Errors: `McpError`. */
  resultOf({ status, headers, body, truncated }: OutboundReply): PlainObject {
    if (!EVENT_STREAM.test(headers['content-type'] ?? '')) this.#look(parse(Buffer.from(body).toString()));
    if (this.#answer) return this.#resultOf(this.#answer);
    if (status < 200 || status > 299) throw new McpError(`The server answered HTTP ${status}`);
    throw new McpError(truncated ? 'The answer is too large' : 'The server did not answer with JSON-RPC');
  }

  #look(message: unknown): void {
    for (const each of Array.isArray(message) ? message : [message])
      if (isPlainObject(each) && each['id'] === this.id && !('method' in each)) this.#answer ??= each;
  }

  #resultOf({ result, error }: PlainObject): PlainObject {
    if (isPlainObject(result)) return result;
    const why = isPlainObject(error) ? textOf(error['message']).slice(0, SHOWN) : '';
    throw new McpError(why === '' ? 'The server reported an error' : `The server reported: ${why}`);
  }
}

/** Length as JSON; infinite if the schema is nested too deeply for that. */
function lengthOf(schema: object): number {
  try {
    return JSON.stringify(schema).length;
  } catch {
    return Infinity;
  }
}

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
      description: textOf(description).slice(0, LIMITS.tool.description),
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

/** The result of `tools/call`. */
export function answerOf({ content, structuredContent: structured, isError }: PlainObject): McpAnswer {
  const parts = listOf(content).map((part) => {
    const type = textOf(part['type']);
    return Object.hasOwn(PARTS, type) ? (PARTS[type]?.(part) ?? '') : '';
  });
  const said = parts.filter((part) => part !== '').join('\n');
  const text = said === '' && structured !== undefined ? JSON.stringify(structured) : said;
  return { ok: isError !== true, text };
}
