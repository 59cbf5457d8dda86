/**
 * One reply of the language model: its text streams to the voice, its tool calls are run and answered, in at most
 * MOST_STEPS steps (docs/contract/decisions.md "Language model", decision 11: nothing is asked twice).
 */
import type { Cause } from '../../actors/agent/events.js';
import { ServiceError } from '../../contracts/errors.js';
import { passagesInTime } from '../../contracts/agents/passages.js';
import type { ChatEvent, ChatRequest, ToolCall } from '../../contracts/ports/chat.js';
import type { KnowledgeSearch } from '../../contracts/ports/agents/knowledge.js';
import type { SessionPlan } from '../../contracts/ports/sessions/sessions.js';
import type { Calls, Dialogue } from './dialogue.js';
import { messagesFor } from './prompt.js';
import type { ConversationTools } from './tools/tools.js';

export const MOST_STEPS = 5;

export interface ReplyParts {
  /** Asks the language model. */
  ask(request: ChatRequest, signal: AbortSignal): AsyncIterable<ChatEvent>;
  readonly knowledge: KnowledgeSearch;
  readonly workspaceId: string;
  readonly plan: SessionPlan;
  readonly dialogue: Dialogue;
  readonly tools: ConversationTools;
  readonly now: () => Date;
  /** Called when the model is asked, with all that has been said and answered so far. */
  informed(): void;
  /** Words of a turn that may not be over yet: no tool runs until it is. */
  readonly draft?: string | undefined;
}

/** Takes the text of a reply. */
export interface ReplyText {
  write(text: string): void;
  /** The step's text is complete: its tools run now. */
  called(calls: Calls): void;
  /** Resolves when the turn that a draft answers has ended, or the reply was cancelled. */
  readonly sure: Promise<void>;
}

/** Says a line without asking a model. */
export const saying =
  (line: string) =>
  (text: ReplyText): Promise<void> =>
    Promise.resolve(text.write(line));

async function passagesOf({ knowledge, workspaceId, plan, dialogue, draft }: ReplyParts) {
  const asked = dialogue.messagesWith(draft).findLast(({ role }) => role === 'user')?.content;
  if (asked === undefined) return [];
  const found = await passagesInTime(knowledge, workspaceId, plan, asked);
  return found.map(({ source, text }) => ({ source, text }));
}

/** The text and the calls of one step. Errors: those of the model, unless `isEnding`: then it counts as having said all. */
async function listen(answer: AsyncIterable<ChatEvent>, text: ReplyText, isEnding: boolean) {
  let calls: readonly ToolCall[] = [];
  let said = '';
  try {
    for await (const event of answer) {
      if (event.kind === 'calls') calls = event.calls;
      if (event.kind !== 'text') continue;
      text.write(event.text);
      said += event.text;
    }
  } catch (error) {
    if (!isEnding) throw error;
  }
  return { calls, said };
}

/** Resolves when the model has said all. Errors: those of the model and of the search, and `provider_failed` if it calls tools without an end. */
export async function reply(
  cause: Cause,
  parts: ReplyParts,
  text: ReplyText,
  signal: AbortSignal,
): Promise<void> {
  const { plan, dialogue, tools, now, draft } = parts;
  const passages = cause === 'turn' ? await passagesOf(parts) : [];
  let mayBeEmpty = false;
  // The model has hung up: if it fails afterwards, the call ends with what has been said.
  let isEnding = false;
  for (let step = 1; step <= MOST_STEPS; step += 1) {
    // The last step may only speak.
    const offered = step < MOST_STEPS ? await tools.offered() : [];
    const told = dialogue.messagesWith(step === 1 ? draft : undefined);
    const messages = messagesFor(cause, plan, told, now(), tools.transfersCalls);
    parts.informed();
    const asked = { messages, tools: offered, passages, mayBeEmpty };
    const { calls, said } = await listen(parts.ask(asked, signal), text, isEnding);
    signal.throwIfAborted();
    if (calls.length === 0) return;
    mayBeEmpty ||= said.trim() !== '';
    if (draft !== undefined) await text.sure;
    signal.throwIfAborted();
    text.called(dialogue.calls(calls, said));
    isEnding ||= tools.hangsUp(calls);
    const isOver = await tools.run(calls, signal);
    signal.throwIfAborted();
    if (isOver) return;
  }
  if (isEnding) return;
  throw new ServiceError('provider_failed', { message: 'The language model calls tools without an end' });
}
