/**
 * The body of a request for chat completions: messages in an order that every model's template takes, calls with their answers,
 * tools, passages (docs/contract/decisions.md "Language model").
 */
import { isPlainObject } from '../../contracts/schemas/plain-object.js';
import { wellFormed } from '../../contracts/text/text.js';
import {
  type ChatMessage,
  type ChatRequest,
  type ChatTool,
  PICKED_UP,
  type ToolCall,
} from '../../contracts/ports/chat.js';

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

const inWords = (texts: ChatRequest['passages']): string =>
  texts.map(({ source, text }) => `[${source}]\n${text}`).join('\n\n');

/** The instructions, with what the agent knows by heart behind its prompt: the same in all its calls, so that servers cache it. */
function withKnown(
  [prompt, ...others]: readonly string[],
  known: ChatRequest['passages'],
): readonly string[] {
  const all = [...(prompt === undefined ? [] : [prompt])];
  if (known.length > 0) all.push(`What you know, from your knowledge base:\n\n${inWords(known)}`);
  return [...all, ...others];
}

/** The messages, with the turn's passages right before the user's last message. */
function withPassages(
  messages: readonly ChatMessage[],
  passages: ChatRequest['passages'],
): readonly ChatMessage[] {
  if (passages.length === 0) return messages;
  const content = `Passages from the knowledge base that may help with the next answer:\n\n${inWords(passages)}`;
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
function ordered({ messages, known = [], passages, tools }: ChatRequest): readonly ChatMessage[] {
  const begun = messages.findIndex((message) => !isSystem(message));
  const [before, after] = begun < 0 ? [messages, []] : [messages.slice(0, begun), messages.slice(begun)];
  const written = before.map(({ content }) => content).filter((text) => text !== '');
  const instructions = withKnown(written, known);
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

/** `asksUsage`: whether the server is asked for its count of tokens. `more`: further members. */
export const bodyOf = (
  request: ChatRequest,
  {
    model,
    asksUsage = false,
    more = {},
  }: { readonly model: string; readonly asksUsage?: boolean; readonly more?: object },
): string =>
  JSON.stringify(
    {
      model,
      stream: true,
      ...(asksUsage && { stream_options: { include_usage: true } }),
      messages: ordered(request).map(toWireMessage),
      ...(request.tools.length > 0 && {
        tools: request.tools.map(toWireTool),
      }),
      ...more,
    },
    written,
  );
