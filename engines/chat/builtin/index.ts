/**
 * `builtin-dialogue`: the embedded stand-in for a language model (docs/contract/decisions.md "Language model"). Deterministic and
 * offline. It quotes the prompt and the knowledge base, fills and calls tools, hangs up when asked, and says
 * plainly what it cannot do. It understands English only, and invents nothing.
 */
import type { ChatEvent, ChatMessage, ChatModel, ChatRequest } from '../../../contracts/ports/chat.js';
import { UNCLEAR } from '../../../contracts/text/unclear.js';
import { readToolNews, TOOL_RUNS, TOOL_SENT } from '../../../contracts/tools/news.js';
import { answerFrom } from './answers.js';
import { inWords } from './results.js';
import { fill, questionFor, type BuiltinToolUse, toolFor } from './tool-use.js';

export const BUILTIN_DIALOGUE = 'builtin-dialogue';

/** The hang-up tool as the conversation host names it. */
export const HANG_UP = 'hang_up_call';
/** Tools that the words of a sentence never choose: one ends the call, the other needs an id that no user knows. */
const NOT_CHOSEN: ReadonlySet<string> = new Set([HANG_UP, 'transfer_to_agent']);

const LINES = {
  greeting: 'Hello. How can I help you?',
  stillThere: 'Are you still there?',
  goodbye: 'Goodbye.',
  thanks: 'You are welcome.',
  unclear: 'Sorry, I did not understand that. Could you say it again?',
  unknown: 'I do not know that. I can only tell you what I have been given.',
  toolFailed: 'That did not work, sorry.',
  toolRuns: 'I am looking that up, and tell you when I know.',
  toolSent: 'I have sent that.',
} as const;

const FAREWELL = /\b(good ?bye|bye|hang up|end (?:the|this) call|that(?:'s| is| will be) all)\b/iu;
const GREETING = /^\W*(hello|hi|hey|good (?:morning|afternoon|evening))\b[\s\p{P}]*$/iu;
const THANKS = /^\W*(thank you|thanks)\b/iu;

/** An instruction that leaves nothing to choose, as for dictation: `Answer everything with "Noted."`. */
const ALWAYS = /\bAnswer everything with [“"](.+?)[”"]/iu;

const isUser = ({ role }: ChatMessage): boolean => role === 'user';
const text = (line: string): ChatEvent => ({ kind: 'text', text: line });

/** The tool and the parameter that the last reply asked for. */
function askedFor({
  messages,
  tools,
}: ChatRequest): { tool: BuiltinToolUse['tool']; name: string } | undefined {
  const reply = messages.findLast(({ role }) => role === 'assistant')?.content ?? '';
  for (const tool of tools) {
    const { properties = {} } = tool.parameters as { properties?: object };
    const name = Object.keys(properties).find((key) => reply.endsWith(questionFor(key)));
    if (name !== undefined) return { tool, name };
  }
  return undefined;
}

function useOf(request: ChatRequest): BuiltinToolUse | undefined {
  const said = request.messages
    .filter(isUser)
    .map(({ content }) => content)
    .reverse();
  const asked = askedFor(request);
  if (asked) return fill(asked.tool, said, asked.name);
  const tool = toolFor(
    said[0] ?? '',
    request.tools.filter(({ name }) => !NOT_CHOSEN.has(name)),
  );
  return tool && fill(tool, said.slice(0, 1));
}

function* call(use: BuiltinToolUse, step: number): Generator<ChatEvent> {
  const [missing] = use.missing;
  if (missing !== undefined) return yield text(questionFor(missing));
  const made = { id: `call_${step}`, name: use.tool.name, arguments: JSON.stringify(use.filled) };
  yield { kind: 'calls', calls: [made] };
}

const wordsOf = (result: string): string => {
  if (result === TOOL_RUNS) return LINES.toolRuns;
  if (result === TOOL_SENT) return LINES.toolSent;
  return /^\s*\{"error"/u.test(result) ? LINES.toolFailed : inWords(result);
};

/** The newest tool results, if nothing has been said since. */
function* results(messages: readonly ChatMessage[]): Generator<string> {
  for (const message of [...messages].reverse()) {
    if (message.role !== 'tool') return;
    yield wordsOf(message.content);
  }
}

/** Answers of background tools since the last reply; the leading system prompt is not one. */
function* news(messages: readonly ChatMessage[]): Generator<string> {
  const begun = messages.findIndex(({ role }) => role !== 'system');
  const replied = messages.findLastIndex(({ role, content }) => role === 'assistant' && content !== '');
  if (begun < 0) return;
  for (const { role, content } of messages.slice(Math.max(begun, replied + 1))) {
    const answered = role === 'system' ? readToolNews(content) : undefined;
    if (answered !== undefined) yield wordsOf(answered);
  }
}

function* hangUp({ tools }: ChatRequest, step: number): Generator<ChatEvent> {
  yield text(LINES.goodbye);
  if (!tools.some(({ name }) => name === HANG_UP)) return;
  yield { kind: 'calls', calls: [{ id: `call_${step}`, name: HANG_UP, arguments: '{}' }] };
}

const promptOf = ({ messages }: ChatRequest): string =>
  messages.find(({ role }) => role === 'system')?.content ?? '';

function* converse(request: ChatRequest): Generator<ChatEvent> {
  const { messages, passages, known = [] } = request;
  const [...told] = results(messages);
  if (told.length > 0) return yield text(told.reverse().join(' '));
  const [...late] = news(messages);
  if (late.length > 0) return yield text(late.join(' '));
  const last = messages.findLast(isUser);
  if (!last) return yield text(LINES.greeting);
  if (messages.at(-1) !== last) return yield text(LINES.stillThere);
  const said = last.content;
  if (said === UNCLEAR) return yield text(LINES.unclear);
  if (FAREWELL.test(said)) return yield* hangUp(request, messages.length);
  const always = ALWAYS.exec(promptOf(request))?.[1];
  if (always !== undefined) return yield text(always);
  if (GREETING.test(said)) return yield text(LINES.greeting);
  if (THANKS.test(said)) return yield text(LINES.thanks);
  const use = useOf(request);
  if (use) return yield* call(use, messages.length);
  const found = answerFrom(
    said,
    [...known, ...passages].map((passage) => passage.text),
    promptOf(request),
  );
  yield text(found ?? LINES.unknown);
}

export const createBuiltinDialogue = (): ChatModel => ({
  name: BUILTIN_DIALOGUE,
  hasTokens: false,
  async *chat(request, signal): AsyncGenerator<ChatEvent> {
    signal.throwIfAborted();
    yield* converse(request);
  },
});
