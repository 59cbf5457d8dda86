/**
 * One reply of the language model: its text streams to the voice, its tool calls are run and answered, in at most
 * MOST_STEPS steps (docs/contract/decisions.md "Language model", decision 11: nothing is asked twice).
 */
import type { Cause } from '../../../actors/agent/events.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { foundInTime } from '../../../contracts/agents/passages.js';
import {
  type ChatEvent,
  type ChatModel,
  type ChatRequest,
  type ChatTool,
  ContextExceeded,
  type ToolCall,
} from '../../../contracts/ports/chat.js';
import type { KnowledgeSearch, Passage } from '../../../contracts/ports/agents/knowledge.js';
import type { ToldPassage } from '../../../contracts/sessions/turns.js';
import type { SessionPlan } from '../../../contracts/ports/sessions/sessions.js';
import type { ToolCallStep, Dialogue } from './dialogue.js';
import { ContextWindow, tokensIn } from './context-window.js';
import { KnownTexts, questionOf } from './known-texts.js';
import { instructionsFor, occasionOf, wishOf } from './prompt.js';
import type { ConversationTools } from './tools/tools.js';
import { WorldClock } from './world-clock.js';

export const MOST_STEPS = 5;

/** What the model knows of the time, how much of the conversation it is told, and what it knows by heart: kept for the whole call. */
export interface ModelKnowledge {
  readonly worldClock: WorldClock;
  readonly window: ContextWindow;
  readonly texts: KnownTexts;
}

/** What another model is told of the same call. */
export const toldTo = ({
  contextTokens,
}: Pick<ChatModel, 'contextTokens'>): Pick<ModelKnowledge, 'window'> => ({
  window: new ContextWindow(contextTokens),
});

export const toldFrom = (begun: Date, model: Pick<ChatModel, 'contextTokens'>): ModelKnowledge => ({
  worldClock: new WorldClock(begun),
  ...toldTo(model),
  texts: new KnownTexts(),
});

export interface ReplyParts {
  /** Asks the language model. */
  ask(request: ChatRequest, signal: AbortSignal): AsyncIterable<ChatEvent>;
  readonly knowledge: KnowledgeSearch;
  readonly workspaceId: string;
  readonly plan: SessionPlan;
  readonly dialogue: Dialogue;
  readonly tools: ConversationTools;
  readonly now: () => Date;
  readonly told: ModelKnowledge;
  /** The model is told these passages of the agent's knowledge. */
  knew?(passages: readonly ToldPassage[]): void;
  /** Called when the model is asked, with all that has been said and answered so far. */
  informed(): void;
  /** Whether the model is told to write cues for the delivery. */
  readonly cues?: Promise<boolean> | undefined;
  /** Words of a turn that may not be over yet: no tool runs until it is. */
  readonly draft?: string | undefined;
  /** The client's instructions for this reply alone. */
  readonly instructions?: string | undefined;
}

/** Takes the text of a reply. */
export interface ReplyText {
  /** Returns what of it, and of what came before, is now known to be text: cues for the delivery are none. */
  write(text: string): string;
  /** The step's text is complete: its tools run now. */
  called(calls: ToolCallStep): void;
  /** Resolves when the turn that a draft answers has ended, or the reply was cancelled. */
  readonly sure: Promise<void>;
}

/** Says a line without asking a model. */
export const saying =
  (line: string) =>
  (text: ReplyText): Promise<void> => {
    text.write(line);
    return Promise.resolve();
  };

type Texts = ChatRequest['passages'];

const textsOf = (passages: readonly Passage[]): Texts =>
  passages.map(({ source, text }) => ({ source, text }));

/** What the agent knows by heart, else what is found for a turn of the user. */
async function knowledgeOf(cause: Cause, parts: ReplyParts): Promise<{ known: Texts; passages: Texts }> {
  const { knowledge, workspaceId, plan, dialogue, draft, told } = parts;
  const known = textsOf(await told.texts.of(knowledge, workspaceId, plan));
  const asked = cause === 'turn' ? questionOf(dialogue.messagesWith(draft)) : undefined;
  if (known.length > 0 || asked === undefined) return { known, passages: [] };
  const found = await foundInTime(knowledge, workspaceId, plan, asked);
  if (found.length > 0) parts.knew?.(found.map(({ sourceId, source, by }) => ({ sourceId, source, by })));
  return { known, passages: textsOf(found) };
}

/** The text and the calls of one step. Errors: those of the model, unless `isEnding`: then it counts as having said all. */
async function listen(answer: AsyncIterable<ChatEvent>, text: ReplyText, isEnding: boolean) {
  let calls: readonly ToolCall[] = [];
  let said = '';
  try {
    for await (const event of answer) {
      if (event.kind === 'calls') calls = event.calls;
      if (event.kind !== 'text') continue;
      said += text.write(event.text);
    }
  } catch (error) {
    if (!isEnding) throw error;
  }
  return { calls, said };
}

/** One step's question to the model. */
interface Step {
  readonly cause: Cause;
  readonly tools: () => Promise<readonly ChatTool[]>;
  readonly known: Texts;
  readonly passages: Texts;
  readonly mayBeEmpty: boolean;
  readonly writesCues: boolean;
  /** Words of a turn that may not be over yet. */
  readonly draft: string | undefined;
}

/** Tells the model the time, if it has passed on. */
function noteTime({ plan, dialogue, now, told }: ReplyParts): void {
  const note = plan.worldContext ? told.worldClock.note(now(), plan.timezone) : undefined;
  if (note !== undefined) dialogue.note(note);
}

const lengthOf = (parts: readonly object[]): number =>
  parts.length === 0 ? 0 : tokensIn(JSON.stringify(parts));

/** The question with as much of the conversation as fits. */
function requestOf(
  { plan, dialogue, tools: own, told, instructions }: ReplyParts,
  step: Omit<Step, 'tools'> & Pick<ChatRequest, 'tools'>,
): ChatRequest {
  const { cause, tools, known, passages, mayBeEmpty, writesCues, draft } = step;
  const { transfersCalls } = own;
  const before = instructionsFor(plan, told.worldClock.begun, { transfersCalls, writesCues });
  const after = [...occasionOf(cause, plan), ...wishOf(instructions)];
  const fixed = [before, after, tools, known, passages].reduce((sum, part) => sum + lengthOf(part), 0);
  const said = told.window.fit(dialogue.messagesWith(draft), fixed);
  return { messages: [...before, ...said, ...after], tools, known, passages, mayBeEmpty };
}

/** Statuses by which a server refuses what a request says. */
const REFUSALS: ReadonlySet<number> = new Set([400, 422]);

/** Whether the request can be asked again without what its server has refused: part of the conversation, or a tool. */
function isMended(error: unknown, { told, tools }: ReplyParts): boolean {
  if (error instanceof ContextExceeded) return told.window.refused(error.share);
  const isRefusal =
    error instanceof ServiceError && error.code === 'provider_failed' && REFUSALS.has(error.status);
  return isRefusal && tools.refused(error.message);
}

/** The model's answer. A request that is refused for what it holds is asked again at once, with less of it. */
async function* answerTo(parts: ReplyParts, step: Step, signal: AbortSignal): AsyncGenerator<ChatEvent> {
  for (let asked = 1; ; asked += 1) {
    try {
      return yield* parts.ask(requestOf(parts, { ...step, tools: await step.tools() }), signal);
    } catch (error) {
      signal.throwIfAborted();
      if (asked >= LIMITS.languageModel.shortened || !isMended(error, parts)) throw error;
    }
  }
}

/** Resolves when the model has said all. Errors: those of the model and of the search, and `provider_failed` if it calls tools without an end. */
export async function reply(
  cause: Cause,
  parts: ReplyParts,
  text: ReplyText,
  signal: AbortSignal,
): Promise<void> {
  const { dialogue, tools, draft } = parts;
  const knowledge = await knowledgeOf(cause, parts);
  const writesCues = (await parts.cues) ?? false;
  noteTime(parts);
  let mayBeEmpty = false;
  // The model has hung up: if it fails afterwards, the call ends with what has been said.
  let isEnding = false;
  for (let step = 1; step <= MOST_STEPS; step += 1) {
    // The last step may only speak.
    const offered = () => (step < MOST_STEPS ? tools.offered() : Promise.resolve([]));
    // Lists of MCP servers are waited for before the time of the model begins.
    await offered();
    parts.informed();
    const words = step === 1 ? draft : undefined;
    const asked = { cause, tools: offered, ...knowledge, mayBeEmpty, writesCues, draft: words };
    const { calls, said } = await listen(answerTo(parts, asked, signal), text, isEnding);
    signal.throwIfAborted();
    if (calls.length === 0) return;
    mayBeEmpty ||= said.trim() !== '';
    if (draft !== undefined) await text.sure;
    signal.throwIfAborted();
    const mayBegin = await tools.mayBegin(calls, signal);
    signal.throwIfAborted();
    // What the user has said since is answered next, with no word of these calls.
    if (!mayBegin) return;
    text.called(dialogue.calls(calls, said));
    isEnding ||= tools.hangsUp(calls);
    const isOver = await tools.run(calls, signal);
    signal.throwIfAborted();
    if (isOver) return;
  }
  if (isEnding) return;
  throw new ServiceError('provider_failed', { message: 'The language model calls tools without an end' });
}
