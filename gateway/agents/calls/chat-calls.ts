/**
 * Chats: each message is a call without media, of its session, which it takes over from whichever process answered the one before, and
 * leaves when the answer is whole (contracts/ports/calls/chats.ts).
 *
 * Invariant: a session has one owner at most, so one message of a chat is answered at a time, by all processes together.
 */
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { CALL_TIMES } from '../../../contracts/limits/call-times.js';
import type { Admission } from '../../../contracts/ports/accounts/identity.js';
import type {
  ChatAnswering,
  ChatCut,
  ChatNews,
  ChatOutcome,
  Chats,
  ChatTokens,
  OpenChat,
} from '../../../contracts/ports/calls/chats.js';
import type { RunningSession, SessionPlan, SessionRuns } from '../../../contracts/ports/sessions/sessions.js';
import type { ClosedBy } from '../conversations/closing.js';
import { pause } from '../conversations/record.js';
import { withAgentInCharge } from '../conversations/recovery.js';
import type { ConversationTool } from '../conversations/tools/tool.js';
import { DEAF, SILENT_VOICE } from '../conversations/writing/silent-voice.js';
import { type AgentEvent, TextCall } from '../conversations/writing/text-call.js';
import { waitedFor } from '../conversations/writing/waited-for.js';
import { type Carrier, carrying } from './carriers.js';
import { type CallParts, OwnedCall } from './owned-call.js';
import { CallRegistry } from './registry.js';

const { agentChat } = LIMITS;

export interface ChatCallsParts extends Omit<CallParts, 'admission'> {
  readonly admission: Pick<Admission, 'check' | 'use'>;
  readonly chatTokens: ChatTokens;
}

const busy = (): ServiceError =>
  new ServiceError('conflict', { message: 'Another message of this chat is being answered' });
const over = (): ServiceError => new ServiceError('conflict', { message: 'The chat has ended' });
const full = (): ServiceError =>
  new ServiceError('conflict', { message: `A chat takes ${agentChat.messages} messages; begin another one` });

/** Nobody waits on a line: no recovery is told of between two messages, and nothing is recorded as sound. */
const written = (plan: SessionPlan): SessionPlan => ({
  ...plan,
  // The call has to know of tools that run; its client is told if its session says so.
  toolEvents: true,
  recordAudio: false,
  config: { ...plan.config, conversation: { ...plan.config.conversation, recovery_mode: 'off' } },
});

function inWriting(session: RunningSession): RunningSession {
  const { plan, inCharge } = session;
  return { ...session, plan: written(plan), ...(inCharge && { inCharge: written(inCharge) }) };
}

/** No client is there that could run a tool of the client: the model is not offered any. */
const offered = (tool: ConversationTool): ConversationTool | undefined =>
  tool.source === 'client' ? undefined : waitedFor(tool);

const messagesIn = ({ said = [] }: RunningSession): number =>
  said.filter((item) => item.type === 'message' && item.role === 'user').length;

const TOOL_NEWS: Readonly<Record<string, (event: AgentEvent) => ChatNews>> = {
  'tool.started': ({ input = '', ...event }) => ({ on: 'tool_call', ...noteOf(event), input }),
  'tool.completed': ({ output = '', ...event }) => ({
    on: 'tool_result',
    ...noteOf(event),
    output,
    error: null,
  }),
  'tool.failed': ({ error = '', ...event }) => ({ on: 'tool_result', ...noteOf(event), output: '', error }),
};

const noteOf = ({ callId = '', toolName = '', toolSource = '' }: AgentEvent) => ({
  callId,
  toolName,
  toolSource,
});

/** One message and its answer; for the first time, the opening. */
class ChatCall implements OpenChat {
  readonly owned: OwnedCall;
  readonly #call: TextCall;
  readonly #begun: number;
  #answering: ChatAnswering | undefined;
  /** What was told before somebody listened. */
  readonly #early: ChatNews[] = [];
  #cut: ChatCut | null = null;
  /** What has closed it from outside. */
  #closed: ClosedBy | undefined;
  #settle = (): void => undefined;
  /** Resolves when the chat is free for the next message. */
  readonly #parked = new Promise<void>((resolve) => (this.#settle = resolve));

  constructor(
    session: RunningSession,
    private readonly parts: ChatCallsParts,
    /** Called when it has left the chat. */
    private readonly free: (call: OwnedCall) => void,
  ) {
    const { toolEvents } = session.plan;
    this.#begun = parts.clock.monotonic();
    this.#call = new TextCall(parts.clock, {
      shown: ({ speaker, text }) => {
        if (speaker === 'agent' && text !== '') this.#tell({ on: 'delta', text });
      },
      told: (event) => {
        const news = toolEvents ? TOOL_NEWS[event.type] : undefined;
        if (news) this.#tell(news(event));
      },
    });
    this.owned = new OwnedCall(this.#call, inWriting(session), this.#callParts(), this.#carrier(session));
  }

  /** Chats are no calls in figures of calls; what they take is counted by their answers. */
  #callParts(): CallParts {
    const { lines: _lines, ...parts } = this.parts;
    const nothing = (): void => undefined;
    return {
      ...parts,
      speech: SILENT_VOICE,
      transcription: DEAF,
      turns: undefined,
      drafts: false,
      standIn: offered,
      admission: { use: nothing },
      metrics: { started: nothing, ended: nothing, turn: nothing },
      runs: this.#runs(),
    };
  }

  /** What is kept of it is told, and nothing of it was spoken. */
  #runs(): SessionRuns {
    const { runs } = this.parts;
    return {
      ...runs,
      append: async (id, items) => {
        await runs.append(id, items);
        for (const item of items)
          if (item.type === 'message' && item.role === 'assistant') this.#tell({ on: 'message', item });
      },
      keepTurn: (id, turn) => runs.keepTurn(id, { ...turn, usage: { ...turn.usage, characters: 0 } }),
    };
  }

  #carrier({ record }: RunningSession): Carrier {
    const { runs } = this.parts;
    return {
      ...carrying('chat', record, runs),
      closing: (cause) => {
        if (!this.owned.ending) this.#closed ??= cause;
      },
      release: async () => {
        await runs.park(record.id);
        this.free(this.owned);
        this.#settle();
      },
    };
  }

  #tell(news: ChatNews): void {
    if (!this.#answering) this.#early.push(news);
    else if (!this.#answering.told(news)) this.#stop('client');
  }

  #stop(cut: ChatCut): void {
    this.#cut ??= cut;
    this.owned.closedBy('parked');
  }

  async answer(text: string | undefined, answering: ChatAnswering): Promise<ChatOutcome> {
    const { clock } = this.parts;
    const { signal } = answering;
    const left = (): void => this.#stop('client');
    const stopTimer = clock.after(agentChat.answerMs, () => this.#stop('timeout'));
    this.#answering = answering;
    for (const news of this.#early.splice(0)) this.#tell(news);
    signal.addEventListener('abort', left);
    if (signal.aborted) left();
    try {
      await this.#talk(text);
      await this.#settled();
      return this.#outcome();
    } finally {
      stopTimer();
      signal.removeEventListener('abort', left);
      this.#count();
    }
  }

  async #talk(text: string | undefined): Promise<void> {
    const listens = await this.#call.untilListening();
    if (listens && text !== undefined) {
      await this.#call.say(text, false);
      await this.#call.untilListening();
    }
    if (!this.owned.ending) this.owned.closedBy('parked');
  }

  /** Resolves when its record is kept, and its session parked or ended. Errors: `storage_unavailable`. */
  async #settled(): Promise<void> {
    const done = Promise.race([this.#parked, this.owned.over]).then(() => true);
    const late = pause(this.parts.clock, CALL_TIMES.releaseMs).then(() => false);
    if (!(await Promise.race([done, late]))) throw new ServiceError('storage_unavailable');
  }

  #outcome(): ChatOutcome {
    const isStopped = this.#closed === 'shutdown' || this.#closed === 'lost';
    const cut = this.#cut ?? (isStopped ? 'shutdown' : null);
    return { ended: this.#closed === undefined || this.#closed === 'session', cut };
  }

  /** An answer takes as much of the quota as time of a call. */
  #count(): void {
    const { admission, clock } = this.parts;
    const ms = Math.round(clock.monotonic() - this.#begun);
    admission.use(this.owned.session.record.workspaceId, 'conversation_ms', ms);
  }
}

export class ChatCalls implements Chats {
  readonly #registry: CallRegistry<OwnedCall>;
  /** Sessions that are being taken. */
  readonly #opening = new Set<string>();
  #stopping = false;

  constructor(private readonly parts: ChatCallsParts) {
    this.#registry = new CallRegistry(parts);
  }

  get tokens(): ChatTokens {
    return this.parts.chatTokens;
  }

  async open(sessionId: string, workspaceId: string): Promise<OpenChat> {
    this.#checkRoom();
    await this.parts.admission.check(workspaceId, 'conversation_ms');
    if (this.#opening.has(sessionId) || this.#registry.find(sessionId)) throw busy();
    this.#opening.add(sessionId);
    try {
      const chat = new ChatCall(await this.#taken(sessionId), this.parts, (call) =>
        this.#registry.remove(call),
      );
      this.#registry.add(chat.owned);
      return chat;
    } finally {
      this.#opening.delete(sessionId);
    }
  }

  #checkRoom(): void {
    const retryAfter = LIMITS.http.drainRetrySeconds;
    if (this.#stopping) throw new ServiceError('draining', { retryAfter });
    if (!this.parts.held.holds) throw new ServiceError('overloaded', { retryAfter });
  }

  /** The session with its record so far; this process is its owner. Errors: `conflict`. */
  async #taken(id: string): Promise<RunningSession> {
    const { runs, agents } = this.parts;
    const joined = await runs.join(id);
    const taken = 'refused' in joined && joined.refused === 'used' ? await runs.takeOver(id) : joined;
    if ('owner' in taken) throw busy();
    if ('refused' in taken) throw over();
    try {
      if (messagesIn(taken) >= agentChat.messages) throw full();
      return taken.said ? await withAgentInCharge(taken, agents) : taken;
    } catch (error) {
      await runs.park(id);
      throw error;
    }
  }

  /** Begins no more answers, and breaks off those left after `until`: their chats go on elsewhere. */
  stop(until: Promise<unknown>): Promise<void> {
    this.#stopping = true;
    return this.#registry.stop(until);
  }
}
