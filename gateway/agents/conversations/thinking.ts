/**
 * The agent's language model in a conversation: what it is given for each reply, and what it knows from the replies before. Each of its
 * answers is metered.
 */
import type { Log } from '../../../contracts/log.js';
import type { ChatModel } from '../../../contracts/ports/chat.js';
import type { AgentInCharge, HostedSession } from './agent-in-charge.js';
import type { ConversationParts } from './conversation-parts.js';
import type { Dialogue } from './dialogue.js';
import { ChatMeter } from './metered-chat.js';
import { modelRemarks } from './remarks.js';
import { type ModelKnowledge, type ReplyParts, toldFrom, toldTo } from './replies.js';
import type { ConversationTools } from './tools/tools.js';
import type { NoteTurn } from './turns/turn-events.js';

export interface ThinkingParts {
  readonly session: HostedSession;
  readonly thinking: ConversationParts['thinking'];
  readonly agent: Pick<AgentInCharge, 'plan' | 'model' | 'voice'>;
  readonly dialogue: Dialogue;
  readonly log: Log;
  readonly now: () => Date;
  readonly note: NoteTurn;
  readonly tools: () => ConversationTools;
  /** Called when the model is asked, with all that has been said and answered so far. */
  readonly informed: () => void;
}

export class Thinking {
  readonly #meter: ChatMeter;
  #told: ModelKnowledge;
  /** The client's, for the next reply alone. */
  #instructions: string | undefined;

  constructor(private readonly parts: ThinkingParts) {
    const { session, agent, dialogue, log, now, note } = parts;
    const model = (): ChatModel => agent.model;
    this.#told = toldFrom(session.record.startedAt ?? now(), agent.model);
    this.#meter = new ChatMeter({
      ...parts.thinking,
      ...modelRemarks(log),
      model,
      note,
      endpointFailed: (failure) => dialogue.endpointFailed(failure),
    });
  }

  /** Another agent is in charge: its model is told from now on. */
  handedOver(): void {
    this.#told = { ...this.#told, ...toldTo(this.parts.agent.model) };
  }

  /** The client's wish for the next reply alone. */
  instruct(text: string): void {
    this.#instructions = text;
  }

  /** What the next reply is made from; `draft`: words of a turn that may not be over yet. */
  replyOf(job: number, draft: string | undefined): ReplyParts {
    const { session, thinking, agent, dialogue, now, note, tools, informed } = this.parts;
    const instructions = this.#instructions;
    this.#instructions = undefined;
    return {
      ask: (request, signal) => this.ask(job, request, signal),
      knowledge: thinking.knowledge,
      workspaceId: session.record.workspaceId,
      plan: agent.plan,
      dialogue,
      tools: tools(),
      now,
      told: this.#told,
      cues: agent.voice.cues,
      knew: (passages) => note({ type: 'knew', job, passages }),
      informed,
      draft,
      instructions,
    };
  }

  /** Asks the model for that job. */
  ask(job: number, ...asked: Parameters<ReplyParts['ask']>): ReturnType<ReplyParts['ask']> {
    return this.#meter.ask(job, ...asked);
  }

  /** Resolves when all its usage is counted. Never rejects. */
  settled(): Promise<void> {
    return this.#meter.settled();
  }
}
