/**
 * Voice sessions (docs/contract/platform.md 6.7; docs/contract/platform.md 6.6 to 6.8; docs/contract/decisions.md
 * 13). A session is made `pending` with everything that its conversation will need, is joined once by its token,
 * becomes `active` when the user is connected, and ends exactly once, whoever ends it and in whichever process.
 */
import type { Direction, PhoneLeg } from '../phone.js';
import type { Prices } from '../prices.js';
import type { RawJson } from '../raw-json.js';
import type { AgentConfig } from '../schemas/agent-config.js';
import type { ToolDefinition } from '../schemas/tools.js';
import type { Transfer } from '../transfers.js';
import type { Turn } from '../turns.js';
import type { Listed, PageRequest } from './page.js';

export const SESSION_STATUSES = ['pending', 'active', 'completed', 'failed'] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

export const SESSION_SOURCES = ['api_key', 'dashboard', 'public', 'phone'] as const;
/** `dashboard` is a preview of a draft: not in lists, nothing is delivered. */
export type SessionSource = (typeof SESSION_SOURCES)[number];

/** And the status that a session ends in. */
export const ENDED_REASONS = {
  hangup: 'completed',
  timeout: 'completed',
  ended_by_api: 'completed',
  error: 'failed',
  not_joined: 'failed',
  /** The caller was connected to somebody else. */
  transferred: 'completed',
} as const satisfies Record<string, SessionStatus>;
export type EndedReason = keyof typeof ENDED_REASONS;

export type Json = Readonly<Record<string, unknown>>;

/** A tool as it was published; its credentials are asked for by id when it is called. */
export interface PlannedTool {
  readonly toolId: string;
  /** The function name by which the model calls it. */
  readonly functionName: string;
  readonly definition: ToolDefinition;
}

/** An agent that a call may be handed over to, with its version of when the session was made. */
export interface PinnedAgent {
  readonly agentId: string;
  readonly name: string;
  readonly versionNumber: number;
}

/**
 * The plan that a conversation runs: the published configuration with the session's overrides in it and every
 * placeholder of `config.prompt` rendered. The rendered texts hold the session's variables, so they are forgotten
 * when it ends.
 */
export interface SessionPlan {
  readonly config: AgentConfig;
  readonly tools: readonly PlannedTool[];
  readonly knowledge: readonly { readonly sourceId: string; readonly revision: number }[];
  readonly configHash: string;
  readonly maxDurationSeconds: number;
  readonly recordAudio: boolean;
  readonly toolEvents: boolean;
  /** Whether the agent knows date and time, in the session's timezone. */
  readonly worldContext: boolean;
  readonly timezone: string;
  /** Absent where nobody can take the call over; the variables are rendered into the prompt of who does, and forgotten as it is. */
  readonly transfers?: {
    readonly agents: readonly PinnedAgent[];
    readonly variables: Readonly<Record<string, string | number | boolean>>;
  };
}

export interface NewSession {
  readonly workspaceId: string;
  readonly agentId: string;
  readonly agentName: string;
  /** Null for a draft. */
  readonly versionNumber: number | null;
  readonly source: SessionSource;
  readonly name: string | null;
  readonly endUserId: string | null;
  /** Of phone calls alone. */
  readonly leg?: PhoneLeg;
  /** Milliseconds in which it may be joined, where that is not `CALL_TIMES.joinWindowMs`. */
  readonly joinMs?: number;
  /** An object. */
  readonly metadata: RawJson;
  /** The overrides that took effect, as they came. */
  readonly overrides: Json;
  readonly plan: SessionPlan;
}

export interface SessionRecord extends Omit<NewSession, 'plan' | 'leg' | 'joinMs'> {
  readonly id: string;
  readonly status: SessionStatus;
  readonly configHash: string;
  readonly timezone: string;
  readonly callerNumber: string | null;
  readonly dialedNumber: string | null;
  /** Null of all but phone calls. */
  readonly direction: Direction | null;
  /** The LiveKit room of its call, where it is not named after the session. */
  readonly room: string | null;
  readonly createdAt: Date;
  /** End of the time in which it may be joined. */
  readonly expiresAt: Date;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  /** Length of the conversation in whole seconds. */
  readonly durationSeconds: number | null;
  readonly endedReason: EndedReason | null;
}

interface ToolUse {
  readonly callId: string;
  readonly toolName: string;
  /** `client`, `webhook`, `builtin` … */
  readonly toolSource: string;
}

/** One line of a conversation's record. `turnId` counts the turns. */
export type SessionItem = { readonly turnId: number; readonly createdAt: Date } & (
  | {
      readonly type: 'message';
      readonly role: 'user' | 'assistant';
      readonly content: string;
      /** Why the agent could not answer, where that is what it said: a code of contracts/errors.ts. */
      readonly error?: string;
      /** Of the user: agreement while the agent spoke, which has no answer of its own. */
      readonly backchannel?: boolean;
      /** Of the agent: said while tools took long, and no part of its answer. */
      readonly filler?: boolean;
      /** Not of the user, and not told to the model: somebody far quieter, or the agent's own words that came back. */
      readonly background?: boolean;
      readonly echo?: boolean;
    }
  /** `input` is JSON text, kept whole. */
  | ({ readonly type: 'tool_call'; readonly input: string } & ToolUse)
  | ({
      readonly type: 'tool_result';
      readonly status: 'completed' | 'failed';
      /** Output and error are cut at LIMITS.session.toolOutputBytes. */
      readonly output: string;
      readonly outputTruncated: boolean;
      readonly error: string | null;
      readonly latencyMs: number;
    } & ToolUse)
);

export interface SessionAnalysis {
  readonly status: 'queued' | 'running' | 'completed' | 'skipped' | 'error';
  readonly summary: string | null;
  readonly data: readonly {
    readonly name: string;
    readonly type: 'boolean' | 'text' | 'number' | 'enum';
    readonly value: unknown;
    readonly rationale: string;
  }[];
  readonly criteriaResults: readonly {
    readonly name: string;
    readonly result: 'success' | 'failure' | 'unknown';
    readonly rationale: string;
  }[];
  readonly error: string | null;
  /** Why it was skipped. */
  readonly reason?: string | null;
}

export interface SessionDetail extends SessionRecord {
  /** Those that were heard or are over, in order. */
  readonly turns: readonly Turn[];
  /** Of when it was made; null where there were none. */
  readonly prices: Prices | null;
  /** In the order in which they happened. */
  readonly items: readonly SessionItem[];
  /** Of phone calls, in the order in which they began. */
  readonly transfers: readonly Transfer[];
  readonly analysis: SessionAnalysis | null;
  /** Whether there is a recording, or one is being made. */
  readonly recorded: boolean;
}

export interface SessionFilter {
  readonly agentId?: string;
  /** Absent: all but `pending`. */
  readonly statuses?: readonly SessionStatus[];
  readonly callerNumber?: string;
  readonly endUserId?: string;
  readonly createdAfter?: Date;
  readonly createdBefore?: Date;
  /** Words that were all said. */
  readonly search?: string;
}

/** `live`: a conversation goes on, or may still be joined. */
export type SessionRemoval = 'removed' | 'live' | 'unknown';

/** Sessions as their workspace sees them. Another one's do not exist. */
export interface Sessions {
  /** Errors: `concurrency_exceeded` with as many live sessions as the workspace may have, or too many pending ones. */
  create(session: NewSession): Promise<SessionRecord>;
  /** Newest first, without previews. */
  list(workspaceId: string, filter: SessionFilter, page: PageRequest): Promise<Listed<SessionRecord>>;
  read(id: string, workspaceId: string): Promise<SessionDetail | undefined>;
  /** With all that belongs to it; the files of its recording follow, on the machine that has them. */
  remove(id: string, workspaceId: string): Promise<SessionRemoval>;
  /** Removes some of an end user's sessions that are not live; their ids, none once none is left. */
  removeSomeOf(endUserId: string, workspaceId: string): Promise<readonly string[]>;
  countLiveOf(endUserId: string, workspaceId: string): Promise<number>;
}

export interface RunningSession {
  readonly record: SessionRecord;
  readonly plan: SessionPlan;
  /** What was said until its owner died, where another process goes on with it. */
  readonly said?: readonly SessionItem[];
  /** The caller is back from a transfer that has not come about. */
  readonly returned?: boolean;
  /** The number of the last turn that was kept until then. */
  readonly lastTurn?: number;
  /** The part of its recording that begins with it; absent: the first. */
  readonly part?: number;
  /** The plan of the agent that has the call, where that is another one by then. */
  readonly inCharge?: SessionPlan;
}

/** The process that holds a conversation. */
export interface CallOwner {
  readonly nodeId: string;
  /** The same for all processes of one supervisor; null of an older version. */
  readonly installation: string | null;
  /** Its Unix socket for signalling, within its machine. */
  readonly address: string;
  /** Where other nodes reach it. */
  readonly url: string | null;
  /** False where it has not said in time that it lives: who has its client may take the conversation over. */
  readonly alive: boolean;
}

export type JoinRefusal = 'unknown' | 'used' | 'expired' | 'ended';

/** Sessions as the process sees them that holds their conversations. */
export interface SessionRuns {
  /** Spends the session's token and makes this process its owner. At most one call of all processes gets it. */
  join(id: string): Promise<RunningSession | { readonly refused: JoinRefusal }>;
  /**
   * Makes this process the owner of a session that was joined or held and whose owner has died, with all that was said. At most one
   * process gets it; `owner` lives, or got it first.
   */
  takeOver(
    id: string,
  ): Promise<RunningSession | { readonly refused: JoinRefusal } | { readonly owner: CallOwner }>;
  /** Some sessions that were held, and have no owner that lives: `takeOver` may get them. */
  lost(): Promise<readonly string[]>;
  /** Whether it goes on, and this process is its owner. */
  owns(id: string): Promise<boolean>;
  /** Whether it was joined, goes on, and has no owner that lives. */
  isLost(id: string): Promise<boolean>;
  /** Why it cannot be joined; undefined where it can. Spends nothing. */
  refusal(id: string): Promise<JoinRefusal | undefined>;
  /** A pending session that no process holds. Undefined where it is held, or is not pending any more. */
  unheld(id: string): Promise<RunningSession | undefined>;
  /** Makes this process the owner of a pending session without spending its token. */
  hold(id: string): Promise<void>;
  /** Whoever takes the session over finds its call there. */
  keepRoom(id: string, room: string): Promise<void>;
  /**
   * Lets go of it. Before it was active, its token is given back: the client has gone before it got a token of its own to
   * return with. An active one is lost, until its client returns to any process.
   */
  unjoin(id: string): Promise<void>;
  /** The user is connected. False where the session has ended meanwhile. */
  activate(id: string): Promise<boolean>;
  /** What a process adds that is not its owner any more is dropped. */
  append(id: string, items: readonly SessionItem[]): Promise<void>;
  /** In the place of what was kept of that turn before. */
  keepTurn(id: string, turn: Turn): Promise<void>;
  /**
   * Ends a session that is pending or active, in one transaction with the deliveries that its end causes. False where
   * it has ended already, by whatever process. The owner hears of it by `onEnded`.
   */
  end(id: string, reason: EndedReason): Promise<boolean>;
  /** The same, by its owner: false also where it is another process's by now. */
  finish(id: string, reason: EndedReason): Promise<boolean>;
  /** Whether there was such a session, and it is over. */
  hasEnded(id: string): Promise<boolean>;
  /** The owner of a session that goes on; undefined where nobody holds it. */
  owner(id: string): Promise<CallOwner | undefined>;
  /** Called with each session of this process that has ended, also by itself. The result ends it. */
  onEnded(listener: (id: string) => void): () => void;
}

/** Work after a call: what is known of a conversation is made of its record, by any process. */
export interface AnalysisQueue {
  /** One ended session whose analysis waits, for `leaseMs`; then another process may take it, three times in all. */
  take(leaseMs: number): Promise<(RunningSession & { readonly items: readonly SessionItem[] }) | undefined>;
  /** Keeps the result and queues its deliveries, once. What the session ran is forgotten. */
  finish(id: string, analysis: SessionAnalysis): Promise<void>;
}
