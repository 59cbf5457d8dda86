/**
 * How a conversation ends: its client is told, the call is closed, and its session ends once the last words and everything else are in its
 * record.
 */
import type { EndReason } from '../../../actors/agent/events.js';
import { CALL_TIMES } from '../../../contracts/limits/call-times.js';
import type { Call } from '../../../contracts/ports/calls/calls.js';
import type { CallerWords } from './caller-words.js';
import { AGENT_EVENTS } from './client/events.js';
import { type ClosedBy, SESSION_ENDS } from './closing.js';
import type { ConversationParts } from './conversation-parts.js';
import type { Dialogue } from './dialogue.js';
import { pause, type RecordWriter } from './record.js';
import type { Speaking } from './speaking.js';
import type { Thinking } from './thinking.js';
import type { ConversationTools } from './tools/tools.js';
import type { TurnRecord } from './turns/turn-record.js';

export interface EndingParts extends Pick<ConversationParts, 'clock' | 'log'> {
  readonly call: Pick<Call, 'end'>;
  readonly dialogue: Pick<Dialogue, 'closeTurn' | 'take' | 'settle'>;
  readonly speaking: Pick<Speaking, 'cancel'>;
  readonly words: Pick<CallerWords, 'finish'>;
  readonly thinking: Pick<Thinking, 'settled'>;
  readonly tools: Pick<ConversationTools, 'settled'>;
  readonly turns: Pick<TurnRecord, 'close'>;
  readonly record: Pick<RecordWriter, 'hurry' | 'written'>;
  /** The session's; `end` ends it. */
  readonly session: Pick<ConversationParts, 'end'>;
  /** Resolves when the call has brought its last event. Never rejects. */
  followed(): Promise<void>;
  /** Sends an event to the client. */
  send(event: object): void;
}

export class Ending {
  #begun = false;
  #cause: ClosedBy | undefined;
  #settle = (): void => undefined;
  /** Resolves when the call has ended and its record is kept. */
  readonly over = new Promise<void>((resolve) => (this.#settle = resolve));

  constructor(private readonly parts: EndingParts) {}

  get begun(): boolean {
    return this.#begun;
  }

  /** It is about to end for a cause outside of its statechart. One that comes when the end has begun is none. */
  causedBy(cause: ClosedBy): void {
    if (!this.#begun) this.#cause = cause;
    if (cause === 'shutdown') this.parts.record.hurry();
  }

  /** Never rejects. */
  async close(reason: EndReason): Promise<void> {
    const { clock, call, dialogue, speaking } = this.parts;
    this.#begun = true;
    dialogue.closeTurn();
    speaking.cancel();
    dialogue.take();
    dialogue.settle();
    this.parts.send(AGENT_EVENTS.ended(reason));
    const left = pause(clock, CALL_TIMES.goodbyeMs).then(() => call.end());
    await Promise.all([left, this.#endSession(reason)]);
    await this.parts.followed();
    this.#settle();
  }

  /** Never rejects. */
  async #endSession(reason: EndReason): Promise<void> {
    const { log, words, thinking, tools, turns, record, session } = this.parts;
    const settled = tools.settled();
    await words.finish();
    await Promise.all([settled, thinking.settled()]);
    turns.close();
    await record.written();
    await session
      .end(SESSION_ENDS[reason], this.#cause)
      .catch((error: unknown) => log.error({ err: error }, 'a session was not ended'));
  }
}
