/**
 * What has been said, twice: as the language model is told it, and as the session's record keeps it, item by item
 * as it happens (native-and-platform.md 6.7). Of the agent only what was heard is in either.
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

/** A reply of the model that calls tools, and what it has been told of each call so far. */
interface Calls {
  readonly role: 'calls';
  readonly calls: readonly ToolCall[];
  readonly told: Map<string, string>;
}

/** Each call has an answer right behind it, also one that was broken off: models refuse anything else. */
const expand = ({ calls, told }: Calls): ChatMessage[] => [
  { role: 'assistant', content: '', toolCalls: calls },
  ...calls.map(({ id }): ChatMessage => ({ role: 'tool', callId: id, content: told.get(id) ?? BROKEN_OFF })),
];

type Item<Type extends SessionItem['type']> = Omit<
  Extract<SessionItem, { readonly type: Type }>,
  'turnId' | 'createdAt'
>;

export class Dialogue {
  readonly #said: (ChatMessage | Calls)[] = [];
  #turn = 0;

  constructor(
    private readonly now: () => Date,
    private readonly keep: (item: SessionItem) => void,
  ) {}

  get messages(): readonly ChatMessage[] {
    return this.#said.flatMap((each) => (each.role === 'calls' ? expand(each) : [each]));
  }

  /** A new turn begins with each message of the user. */
  user(content: string): void {
    this.#turn += 1;
    this.#said.push({ role: 'user', content });
    this.#keep<'message'>({ type: 'message', role: 'user', content });
  }

  /** `content`: what was heard, or read where nothing is spoken; `error`: why it is an excuse and no answer. */
  agent(content: string, error?: string): void {
    if (content === '') return;
    this.#said.push({ role: 'assistant', content });
    const why = error === undefined ? {} : { error };
    this.#keep<'message'>({ type: 'message', role: 'assistant', content, ...why });
  }

  calls(calls: readonly ToolCall[]): void {
    this.#said.push({ role: 'calls', calls, told: new Map() });
  }

  called(callId: string, toolName: string, toolSource: string, input: string): void {
    this.#keep<'tool_call'>({ type: 'tool_call', callId, toolName, toolSource, input });
  }

  /** `told`: what the model sees of it, as the answer to its call `modelCallId`. */
  result(outcome: ToolOutcome, told: string, modelCallId: string): void {
    const asked = this.#said.findLast(
      (each): each is Calls =>
        each.role === 'calls' &&
        !each.told.has(modelCallId) &&
        each.calls.some(({ id }) => id === modelCallId),
    );
    asked?.told.set(modelCallId, told);
    this.#keep<'tool_result'>({ type: 'tool_result', ...outcome });
  }

  #keep<Type extends SessionItem['type']>(item: Item<Type>): void {
    this.keep({ ...item, turnId: this.#turn, createdAt: this.now() } as unknown as SessionItem);
  }
}
