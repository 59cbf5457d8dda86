/**
 * The conversation's text, twice: as the language model is told it, and as the session's record keeps it, item by item
 * as it happens (docs/contract/platform.md 6.7). Of the agent only what was heard is in either. A message of the user
 * is kept once its turn is closed: until then the user may go on with it.
 */
import type { ChatMessage, ToolCall } from '../../contracts/ports/chat.js';
import type { SessionItem } from '../../contracts/ports/sessions.js';

const BROKEN_OFF = JSON.stringify({ error: 'The call was broken off' });

export interface ToolOutcome {
  readonly callId: string;
  readonly toolName: string;
  readonly toolSource: string;
  readonly status: 'completed' | 'failed';
  readonly output: string;
  readonly outputTruncated: boolean;
  readonly error: string | null;
  readonly latencyMs: number;
}

/** A step of the model that calls tools: what it said before them, and what it has been told of each so far. */
export interface Calls {
  readonly role: 'calls';
  content: string;
  readonly calls: readonly ToolCall[];
  readonly told: Map<string, string>;
}

/** The agent's words of one step of a job, and when that began. */
export interface SpokenStep {
  readonly text: string;
  readonly at: Date;
  /** The tools that it called behind them. */
  readonly calls: Calls | undefined;
  /** Said while tools ran: the model is not told that it did. */
  readonly filler?: true;
}

/** Most characters of a conversation that a model is told: of a longer one the beginning is left out. */
const TOLD_CHARACTERS = 60_000;

/** Each call has an answer right behind it, also one that was broken off: models refuse anything else. */
const expand = ({ content, calls, told }: Calls): ChatMessage[] => [
  { role: 'assistant', content, toolCalls: calls },
  ...calls.map(({ id }): ChatMessage => ({ role: 'tool', callId: id, content: told.get(id) ?? BROKEN_OFF })),
];

const lengthOf = ({ content }: ChatMessage): number => content.length;

/** The newest of them, beginning with a message of the user: calls are never parted from their answers. */
function newest(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  let left = TOLD_CHARACTERS;
  const first = messages.findLastIndex((message) => (left -= lengthOf(message)) < 0) + 1;
  if (first === 0) return messages;
  const begins = messages.findIndex(({ role }, index) => index >= first && role === 'user');
  return messages.slice(begins < 0 ? messages.findLastIndex(({ role }) => role === 'user') : begins);
}

/** A conversation that goes on in another process. */
export interface Before {
  readonly told: readonly (ChatMessage | Calls)[];
  readonly turns: number;
  readonly calls: number;
}

/** A message of the user whose turn may be taken up again. */
interface OpenMessage {
  readonly said: { readonly role: 'user'; readonly content: string };
  readonly turnId: number;
  readonly at: Date;
}

type Item<Type extends SessionItem['type']> = Omit<
  Extract<SessionItem, { readonly type: Type }>,
  'turnId' | 'createdAt'
>;

export class Dialogue {
  readonly #said: (ChatMessage | Calls)[];
  #turn: number;
  #calls: number;
  #open: OpenMessage | undefined;
  /** Messages of the user to an agent that finishes first. */
  #postponed: { readonly content: string; readonly at: Date; readonly backchannel: boolean }[] = [];

  constructor(
    private readonly now: () => Date,
    private readonly keep: (item: SessionItem) => void,
    /** What the model is told of before, and how many turns and calls of tools there were. */
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

  get messages(): readonly ChatMessage[] {
    return this.messagesWith();
  }

  /** With a message that the user's turn may come to: in the place of the one that is open, where there is one. */
  messagesWith(draft?: string): readonly ChatMessage[] {
    const kept = draft === undefined ? this.#said : this.#said.filter((each) => each !== this.#open?.said);
    const drafted = draft === undefined ? [] : [{ role: 'user', content: draft } as const];
    return newest([...kept, ...drafted].flatMap((each) => (each.role === 'calls' ? expand(each) : [each])));
  }

  /**
   * The message of the user's turn. While it is open, another takes its place: behind what was heard of the agent
   * meanwhile, where the model is told it, and with the time of its beginning, where it is kept.
   */
  user(content: string, at = this.now()): void {
    const before = this.#open;
    if (before) this.#said.splice(this.#said.indexOf(before.said), 1);
    const said = { role: 'user', content } as const;
    this.#said.push(said);
    this.#open = { said, turnId: before?.turnId ?? ++this.#turn, at: before?.at ?? at };
  }

  /** The message stays as it is. */
  closeTurn(): void {
    const open = this.#open;
    this.#open = undefined;
    if (!open) return;
    const { said, turnId, at } = open;
    this.#keep<'message'>({ type: 'message', ...said }, at, turnId);
  }

  /** A message that is a turn by itself; `backchannel`: agreement while the agent spoke. */
  userApart(content: string, at = this.now(), backchannel = false): void {
    this.closeTurn();
    this.#said.push({ role: 'user', content });
    this.#turn += 1;
    const marked = backchannel ? { backchannel } : {};
    this.#keep<'message'>({ type: 'message', role: 'user', content, ...marked }, at);
  }

  /** The same for one that is part of the conversation when the agent has finished. */
  postpone(content: string, backchannel: boolean): void {
    this.#postponed.push({ content, at: this.now(), backchannel });
  }

  /** What was postponed is part of it from now on. */
  take(): void {
    for (const { content, at, backchannel } of this.#postponed.splice(0))
      this.userApart(content, at, backchannel);
  }

  /** Words that are nobody's turn: they are kept, and the model is not told of them. */
  aside(content: string, of: 'background' | 'echo'): void {
    this.#keep<'message'>({ type: 'message', role: 'user', content, [of]: true });
  }

  /** The part of a job that was heard, or read where nothing is spoken; `error`: why it is an excuse and no answer. */
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

  /** The model's step so far: what it said, as it was written, and what it calls now. */
  calls(calls: readonly ToolCall[], content: string): Calls {
    const step: Calls = { role: 'calls', content: content.trim(), calls, told: new Map() };
    this.#said.push(step);
    return step;
  }

  /** None that the record has. */
  nextCallId(): string {
    return `call_${++this.#calls}`;
  }

  called(callId: string, toolName: string, toolSource: string, input: string): void {
    this.#keep<'tool_call'>({ type: 'tool_call', callId, toolName, toolSource, input });
  }

  /** What the record keeps of a call's end. */
  outcome(outcome: ToolOutcome): void {
    this.#keep<'tool_result'>({ type: 'tool_result', ...outcome });
  }

  /** What the model sees as the answer to its call. */
  told(content: string, modelCallId: string): void {
    const asked = this.#said.findLast(
      (each): each is Calls =>
        each.role === 'calls' &&
        !each.told.has(modelCallId) &&
        each.calls.some(({ id }) => id === modelCallId),
    );
    asked?.told.set(modelCallId, content);
  }

  /** What the model is told beside what was said. */
  news(content: string): void {
    this.#said.push({ role: 'system', content });
  }

  #keep<Type extends SessionItem['type']>(
    item: Item<Type>,
    createdAt = this.now(),
    turnId = this.#turn,
  ): void {
    this.keep({ ...item, turnId, createdAt } as unknown as SessionItem);
  }
}
