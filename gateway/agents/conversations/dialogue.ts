/**
 * Keeps the conversation's text twice: for the language model, and for the session's record, item by item as it happens
 * (docs/contract/platform.md 6.7). Both contain only what was heard of the agent. A message of the user is recorded once
 * its turn is closed: until then the user may continue it.
 */
import type { ChatMessage, ToolCall } from '../../../contracts/ports/chat.js';
import type { EndpointFailure, SessionItem } from '../../../contracts/ports/sessions/sessions.js';
import { UNCLEAR } from '../../../contracts/text/unclear.js';

const BROKEN_OFF = JSON.stringify({ error: 'The call was broken off' });

export interface ToolOutcome {
  readonly callId: string;
  readonly toolName: string;
  readonly toolSource: string;
  readonly status: 'completed' | 'failed';
  readonly output: string;
  readonly outputTruncated: boolean;
  readonly toldTruncated?: true;
  readonly error: string | null;
  readonly latencyMs: number;
}

/** A step of the model that calls tools: its text before them, and the answers it has been told so far. */
export interface ToolCallStep {
  readonly role: 'calls';
  content: string;
  readonly calls: readonly ToolCall[];
  readonly told: Map<string, string>;
}

/** The agent's words of one step of a job, and when that began. */
export interface SpokenStep {
  readonly text: string;
  readonly at: Date;
  /** The tools that it called after them. */
  readonly calls: ToolCallStep | undefined;
  /** Said while tools ran; the model is not told of it. */
  readonly filler?: true;
}

/** Each call has an answer right after it, even if it was broken off, as lookups are: models refuse anything else. */
const expand = ({ content, calls, told }: ToolCallStep): ChatMessage[] => [
  { role: 'assistant', content, toolCalls: calls },
  ...calls.map(({ id }): ChatMessage => ({ role: 'tool', callId: id, content: told.get(id) ?? BROKEN_OFF })),
];

/** State of a conversation that continues in another process. */
export interface Before {
  readonly told: readonly (ChatMessage | ToolCallStep)[];
  readonly turns: number;
  readonly calls: number;
}

/** A message of the user whose turn is still open. */
interface OpenMessage {
  readonly said: { readonly role: 'user'; readonly content: string };
  readonly turnId: number;
  readonly at: Date;
}

/** An answer that was cut off, and may be corrected. */
interface CutOff {
  readonly said: { readonly role: 'assistant'; readonly content: string } | undefined;
  readonly text: string;
  readonly turnId: number;
  readonly at: Date;
}

const joinedText = (steps: readonly SpokenStep[]): string =>
  steps
    .map(({ text }) => text)
    .join('')
    .trim();

type Item<Type extends SessionItem['type']> = Omit<
  Extract<SessionItem, { readonly type: Type }>,
  'turnId' | 'createdAt'
>;

export class Dialogue {
  readonly #said: (ChatMessage | ToolCallStep)[];
  #turn: number;
  #calls: number;
  #open: OpenMessage | undefined;
  #cutOff: CutOff | undefined;
  /** Messages of the user that wait until the agent has finished. */
  #postponed: { readonly content: string; readonly at: Date; readonly backchannel: boolean }[] = [];

  constructor(
    private readonly now: () => Date,
    private readonly keep: (item: SessionItem) => void,
    /** Messages, number of turns and number of tool calls before a takeover. */
    before: Before = { told: [], turns: 0, calls: 0 },
  ) {
    this.#calls = before.calls;
    this.#said = [...before.told];
    this.#turn = before.turns;
  }

  /** The number of the newest turn. */
  get turn(): number {
    return this.#turn;
  }

  /**
   * The agent's messages that the user has not answered before the last of them, oldest first; `saying` is heard now, and the last one
   * unless it is empty. A turn that is still open is no answer yet, nor is one that nobody understood.
   */
  saidUnanswered(saying: string): readonly string[] {
    const said = saying === '' ? this.#said : [...this.#said, { role: 'assistant', content: saying }];
    const until = said.findLastIndex(({ role }) => role === 'assistant') + 1;
    const isAnswer = (each: (typeof said)[number]): boolean =>
      each.role === 'user' && each !== this.#open?.said && each.content !== UNCLEAR;
    const from = said.slice(0, until).findLastIndex(isAnswer) + 1;
    return said.slice(from, until).flatMap(({ role, content }) => (role === 'assistant' ? [content] : []));
  }

  get messages(): readonly ChatMessage[] {
    return this.messagesWith();
  }

  /** With a draft of the user's message, which replaces the open one if there is one. */
  messagesWith(draft?: string): readonly ChatMessage[] {
    const kept = draft === undefined ? this.#said : this.#said.filter((each) => each !== this.#open?.said);
    const drafted = draft === undefined ? [] : [{ role: 'user', content: draft } as const];
    return [...kept, ...drafted].flatMap((each) => (each.role === 'calls' ? expand(each) : [each]));
  }

  /**
   * Sets the message of the user's turn. While that is open, another message replaces it: for the model, after what was
   * heard of the agent meanwhile; in the record, with the time at which the first one began.
   */
  user(content: string, at = this.now()): void {
    const before = this.#open;
    if (before) this.#said.splice(this.#said.indexOf(before.said), 1);
    const said = { role: 'user', content } as const;
    this.#said.push(said);
    this.#open = { said, turnId: before?.turnId ?? ++this.#turn, at: before?.at ?? at };
  }

  /** Closes the user's turn: its message is final and recorded. */
  closeTurn(): void {
    const open = this.#open;
    this.#open = undefined;
    if (!open) return;
    const { said, turnId, at } = open;
    this.#keep<'message'>({ type: 'message', ...said }, at, turnId);
  }

  /** Adds a message that is a turn by itself; `backchannel`: agreement while the agent spoke. */
  userApart(content: string, at = this.now(), backchannel = false): void {
    this.closeTurn();
    this.#said.push({ role: 'user', content });
    this.#turn += 1;
    const marked = backchannel ? { backchannel } : {};
    this.#keep<'message'>({ type: 'message', role: 'user', content, ...marked }, at);
  }

  /** Adds such a message once the agent has finished. */
  postpone(content: string, backchannel: boolean): void {
    this.#postponed.push({ content, at: this.now(), backchannel });
  }

  /** Adds the postponed messages. */
  take(): void {
    for (const { content, at, backchannel } of this.#postponed.splice(0))
      this.userApart(content, at, backchannel);
  }

  /** Records words that are nobody's turn; the model is not told of them. */
  aside(content: string, of: 'background' | 'echo'): void {
    this.#keep<'message'>({ type: 'message', role: 'user', content, [of]: true });
  }

  /** Adds the part of a job that was heard, or read if it is not spoken; `error`: why it is an excuse and no answer. */
  agent(steps: readonly SpokenStep[], error?: string): void {
    const why = error === undefined ? {} : { error };
    for (const { text, at, calls, filler } of steps) {
      const content = text.trim();
      if (calls) calls.content = content;
      if (content === '') continue;
      if (!calls && !filler) this.#said.push({ role: 'assistant', content });
      const marked = filler ? { filler } : why;
      this.#keep<'message'>({ type: 'message', role: 'assistant', content, ...marked }, at);
    }
  }

  /** As `agent`, of an answer that was cut off: until `settle`, or the next item of the record, `correct` may say that another part was heard. */
  agentCutOff(steps: readonly SpokenStep[]): void {
    this.settle();
    const text = joinedText(steps);
    const said = text === '' ? undefined : ({ role: 'assistant', content: text } as const);
    if (said) this.#said.push(said);
    this.#cutOff = { said, text, turnId: this.#turn, at: steps[0]?.at ?? this.now() };
  }

  /** That part of the answer was heard. */
  correct(steps: readonly SpokenStep[]): void {
    const before = this.#cutOff;
    if (!before) return;
    const text = joinedText(steps);
    const said = text === '' ? undefined : ({ role: 'assistant', content: text } as const);
    const at = before.said ? this.#said.indexOf(before.said) : this.#said.length;
    this.#said.splice(at, before.said ? 1 : 0, ...(said ? [said] : []));
    this.#cutOff = { ...before, said, text };
  }

  /** What was heard of an answer that was cut off is certain: it is recorded. */
  settle(): void {
    const cut = this.#cutOff;
    this.#cutOff = undefined;
    if (!cut || cut.text === '') return;
    const { text: content, at, turnId } = cut;
    this.#keep<'message'>({ type: 'message', role: 'assistant', content }, at, turnId);
  }

  /** Adds a text of the client's: a turn of the user; what an agent has said before this call, or a note, of which the record has nothing. */
  brought(role: 'user' | 'assistant' | 'system', content: string): void {
    if (role === 'user') this.userApart(content);
    else this.#said.push({ role, content });
  }

  /** Adds a step of the model: its text as it was written, and its calls. */
  calls(calls: readonly ToolCall[], content: string): ToolCallStep {
    const step: ToolCallStep = { role: 'calls', content: content.trim(), calls, told: new Map() };
    this.#said.push(step);
    return step;
  }

  /** An id that the record does not contain yet. */
  nextCallId(): string {
    return `call_${++this.#calls}`;
  }

  called(callId: string, toolName: string, toolSource: string, input: string): void {
    this.#keep<'tool_call'>({ type: 'tool_call', callId, toolName, toolSource, input });
  }

  /** Records the end of a call. */
  outcome(outcome: ToolOutcome): void {
    this.#keep<'tool_result'>({ type: 'tool_result', ...outcome });
  }

  /** Records that the agent's own model failed. */
  endpointFailed(failure: EndpointFailure): void {
    this.#keep<'llm.endpoint_error'>({ type: 'llm.endpoint_error', ...failure });
  }

  /** Sets the answer to its call that the model sees. */
  told(content: string, modelCallId: string): void {
    const asked = this.#said.findLast(
      (each): each is ToolCallStep =>
        each.role === 'calls' &&
        !each.told.has(modelCallId) &&
        each.calls.some(({ id }) => id === modelCallId),
    );
    asked?.told.set(modelCallId, content);
  }

  /** Records and tells the model that a call from before a takeover was lost. */
  lost(outcome: ToolOutcome): void {
    this.outcome(outcome);
    this.told(JSON.stringify({ error: outcome.error }), outcome.callId);
  }

  /** Tells the model something that nobody said. */
  news(content: string): void {
    this.#said.push({ role: 'system', content });
  }

  /** The same, in front of what the user has just said, which stays the last word. */
  note(content: string): void {
    const isAsked = this.#said.at(-1)?.role === 'user';
    this.#said.splice(this.#said.length - (isAsked ? 1 : 0), 0, { role: 'system', content });
  }

  #keep<Type extends SessionItem['type']>(
    item: Item<Type>,
    createdAt = this.now(),
    turnId = this.#turn,
  ): void {
    this.settle();
    this.keep({ ...item, turnId, createdAt } as unknown as SessionItem);
  }
}
