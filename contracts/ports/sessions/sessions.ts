/**
 * Voice sessions (docs/contract/platform.md 6.7; docs/contract/platform.md 6.6 to 6.8; docs/contract/decisions.md
 * 13). A session is made `pending` with everything that its conversation will need, is joined once by its token,
 * becomes `active` when the user is connected, and ends exactly once, whoever ends it and in whichever process.
 */
import type { SystemVariables } from '../../agents/system-variables.js';
import type { Language } from '../../speech/languages.js';
import type { DialOutcome, Direction, PhoneLeg, Voicemail } from '../../phone/phone.js';
import type { InitOutcome } from './conversation-init.js';
import type { Prices } from '../../sessions/prices.js';
import type { RawJson } from '../../text/raw-json.js';
import type { AgentConfig } from '../../schemas/agent-config.js';
import type { ToolDefinition } from '../../schemas/tools.js';
import type { Transfer } from '../../phone/transfers.js';
import type { Turn } from '../../sessions/turns.js';
import type { PartOutcome } from '../parts.js';
import type { Listed, PageRequest } from '../page.js';
import type { PlainObject } from '../../schemas/plain-object.js';

export const SESSION_STATUSES = ['pending', 'active', 'completed', 'failed'] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

export const SESSION_SOURCES = ['api_key', 'dashboard', 'public', 'phone', 'chat'] as const;
/** `dashboard` is a preview of a draft: not in lists, nothing is delivered. `chat`: in writing, from whomever. */
export type SessionSource = (typeof SESSION_SOURCES)[number];

/** Why a session ended, and the status it ends in. */
export const ENDED_REASONS = {
  hangup: 'completed',
  timeout: 'completed',
  ended_by_api: 'completed',
  error: 'failed',
  /** Three answers in a row failed: because of the language model, or of voice or recogniser. */
  llm_endpoint_failure: 'failed',
  speech_failure: 'failed',
  not_joined: 'failed',
  /** Its transport died under the call: a LiveKit server, a media worker, a telephone provider's stream. */
  transport_lost: 'failed',
  /** The caller was connected to somebody else. */
  transferred: 'completed',
} as const satisfies Record<string, SessionStatus>;
export type EndedReason = keyof typeof ENDED_REASONS;

/** A published tool. Its credentials are looked up by id when it is called. */
export interface PlannedTool {
  readonly toolId: string;
  /** The function name by which the model calls it. */
  readonly functionName: string;
  readonly definition: ToolDefinition;
  /** JSON Schema of its arguments as its client gave it, who checks them; absent: they are text, as the definition lists them. */
  readonly parameters?: object;
}

/** An agent that may take the call over, pinned to its version at the session's creation. */
export interface PinnedAgent {
  readonly agentId: string;
  readonly name: string;
  readonly versionNumber: number;
}

/**
 * The plan that a conversation runs: the published configuration with the session's overrides in it and every
 * placeholder of `config.prompt` rendered. The rendered texts hold the session's variables, so they are deleted
 * when it ends.
 */
export interface SessionPlan {
  readonly config: AgentConfig;
  /** Whose configuration it is, after a hand-over; absent: the session's agent's. */
  readonly agentId?: string;
  /** One list for all sessions of a process with the same agent and `configHash`. */
  readonly tools: readonly PlannedTool[];
  /** Tools that the client of this call has brought along; absent in plans that are kept. */
  readonly clientTools?: readonly PlannedTool[];
  readonly knowledge: readonly { readonly sourceId: string; readonly revision: number }[];
  readonly configHash: string;
  readonly maxDurationSeconds: number;
  readonly recordAudio: boolean;
  readonly toolEvents: boolean;
  /** Whether the agent knows date and time, in the session's timezone. */
  readonly worldContext: boolean;
  readonly timezone: string;
  /** The values of `{{system.…}}` for the requests of tools, and for agents that take the call over. Absent in plans of before. */
  readonly system?: SystemVariables;
  /** Of placed calls: what the agent does where a machine answers, with its variables. Absent: machines are not detected. */
  readonly voicemail?: Voicemail;
  /** Names and other words that the caller may say: values of the session's variables. Deleted with the rendered texts. */
  readonly terms?: readonly string[];
  /** What its owner was asked before the call. Absent if nobody was asked. */
  readonly init?: InitOutcome;
  /** Agents that may take the call over, and the variables for their prompts, which are deleted with the plan. Absent if there are none. */
  readonly transfers?: {
    readonly agents: readonly PinnedAgent[];
    readonly variables: Readonly<Record<string, string | number | boolean>>;
  };
}

export interface NewSession {
  /** Absent: a new one. */
  readonly id?: string;
  readonly workspaceId: string;
  readonly agentId: string;
  readonly agentName: string;
  /** Null for a draft. */
  readonly versionNumber: number | null;
  readonly source: SessionSource;
  readonly name: string | null;
  readonly endUserId: string | null;
  /** Phone calls only. */
  readonly leg?: PhoneLeg;
  /** Its call has a place from now on, as nobody could refuse it later. Absent: once it is joined. */
  readonly reserved?: boolean;
  /** Milliseconds in which it may be joined; default `CALL_TIMES.joinWindowMs`. */
  readonly joinMs?: number;
  /** An object. */
  readonly metadata: RawJson;
  /** The overrides that took effect, unchanged. */
  readonly overrides: PlainObject;
  readonly plan: SessionPlan;
}

export interface SessionRecord
  extends Omit<NewSession, 'id' | 'plan' | 'leg' | 'joinMs' | 'reserved'>, DialOutcome {
  readonly id: string;
  readonly status: SessionStatus;
  readonly configHash: string;
  readonly timezone: string;
  readonly callerNumber: string | null;
  readonly dialedNumber: string | null;
  /** Null except for phone calls. */
  readonly direction: Direction | null;
  /** The LiveKit room of its call, if it is not named after the session. */
  readonly room: string | null;
  readonly createdAt: Date;
  /** End of the time in which it may be joined. */
  readonly expiresAt: Date;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  /** Length of the conversation in whole seconds. */
  readonly durationSeconds: number | null;
  readonly endedReason: EndedReason | null;
  /** Turns in which the agent could not answer. */
  readonly failedAnswers: number;
}

interface ToolUse {
  readonly callId: string;
  readonly toolName: string;
  /** `client`, `webhook`, `builtin` … */
  readonly toolSource: string;
}

/** A request to an agent's own language model that failed. */
export interface EndpointFailure {
  readonly model: string;
  /** With its port if it is not the usual one; no path. */
  readonly host: string;
  readonly error: PartOutcome;
  /** With which it answered, if it did. */
  readonly statusCode: number | null;
  /** Whether the same request was sent again. */
  readonly retried: boolean;
}

/** One line of a conversation's record. `turnId` counts the turns. */
export type SessionItem = { readonly turnId: number; readonly createdAt: Date } & (
  | {
      readonly type: 'message';
      readonly role: 'user' | 'assistant';
      readonly content: string;
      /** Code (contracts/errors.ts) of the failure for which this message apologises. */
      readonly error?: string;
      /** User only: agreement while the agent spoke, which gets no answer. */
      readonly backchannel?: boolean;
      /** Agent only: said while a tool took long; not part of the answer. */
      readonly filler?: boolean;
      /** Not the user's, and withheld from the model: a much quieter speaker, or the agent's own words coming back. */
      readonly background?: boolean;
      readonly echo?: boolean;
    }
  /** `input` is JSON text, kept whole. */
  | ({ readonly type: 'tool_call'; readonly input: string } & ToolUse)
  | ({
      readonly type: 'tool_result';
      readonly status: 'completed' | 'failed';
      /** Output and error are truncated at LIMITS.session.toolOutputBytes. */
      readonly output: string;
      readonly outputTruncated: boolean;
      /** The model was told less of it than stands here. */
      readonly toldTruncated?: true;
      readonly error: string | null;
      readonly latencyMs: number;
    } & ToolUse)
  | ({ readonly type: 'llm.endpoint_error' } & EndpointFailure)
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
  /** Turns that were heard or have ended, in order. */
  readonly turns: readonly Turn[];
  /** Prices at its creation; null if none were configured. */
  readonly prices: Prices | null;
  /** In the order in which they happened. */
  readonly items: readonly SessionItem[];
  /** Transfers of the phone call, in the order in which they began. */
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
  /** `inbound`: also sessions that are no phone calls. */
  readonly direction?: Direction;
  readonly endUserId?: string;
  readonly createdAfter?: Date;
  readonly createdBefore?: Date;
  /** Words that must all have been said. */
  readonly search?: string;
}

/** `live`: the conversation is running, or may still be joined. */
export type SessionRemoval = 'removed' | 'live' | 'unknown';

/** Sessions for their workspace. Those of other workspaces do not exist. */
export interface Sessions {
  /**
   * Errors: `concurrency_exceeded` with as many calls as the workspace may have at once, or too many pending sessions;
   * `not_found` or `conflict` if the agent has been deleted or archived meanwhile.
   */
  create(session: NewSession): Promise<SessionRecord>;
  /** Newest first, without previews. */
  list(workspaceId: string, filter: SessionFilter, page: PageRequest): Promise<Listed<SessionRecord>>;
  read(id: string, workspaceId: string): Promise<SessionDetail | undefined>;
  /** Whether it exists, without reading its record, which may be long. */
  has(id: string, workspaceId: string): Promise<boolean>;
  /** Removes it with everything that belongs to it. The machine that holds its recording removes the files later. */
  remove(id: string, workspaceId: string): Promise<SessionRemoval>;
  /** Removes a batch of an end user's sessions that are not live, and returns their ids; none once all are gone. */
  removeSomeOf(endUserId: string, workspaceId: string): Promise<readonly string[]>;
  countLiveOf(endUserId: string, workspaceId: string): Promise<number>;
}

export interface RunningSession {
  readonly record: SessionRecord;
  readonly plan: SessionPlan;
  /** After a takeover: the record until the previous owner died. */
  readonly said?: readonly SessionItem[];
  /** After a takeover: how long the call has lasted, in milliseconds. Absent for one of the previous release. */
  readonly lastedMs?: number;
  /** The caller is back from a failed transfer. */
  readonly returned?: boolean;
  /** After a takeover: the number of the last turn in the record. */
  readonly lastTurn?: number;
  /** The language to which its caller had changed, if another process began it. */
  readonly language?: Language;
  /** The part of its recording that begins now; absent: the first. */
  readonly part?: number;
  /** The plan of the agent in charge, if the call was handed over. */
  readonly inCharge?: SessionPlan;
}

/** The process that holds a conversation. */
export interface CallOwner {
  readonly nodeId: string;
  /** The same for all processes of one supervisor; null for an older version. */
  readonly installation: string | null;
  /** Its Unix socket for signalling, reachable on its machine only. */
  readonly address: string;
  /** Its address for other nodes. */
  readonly url: string | null;
  /** False if its heartbeat is stale: the process that has its client may take the conversation over. */
  readonly alive: boolean;
}

/** `full`: the workspace has as many calls at once as it may; the token stays valid. */
export type JoinRefusal = 'unknown' | 'used' | 'expired' | 'ended' | 'full';

/** Sessions for the process that runs their conversations. */
export interface SessionRuns {
  /** Spends the session's token and makes this process its owner. At most one call of all processes gets it. */
  join(id: string): Promise<RunningSession | { readonly refused: JoinRefusal }>;
  /**
   * Makes this process the owner of a session whose owner has died, with its record so far. At most one
   * process gets it; `owner` is alive, or was first.
   */
  takeOver(
    id: string,
  ): Promise<RunningSession | { readonly refused: JoinRefusal } | { readonly owner: CallOwner }>;
  /** A batch of lost sessions, whose owner has died or released them, for `takeOver`. */
  lost(): Promise<readonly string[]>;
  /** Whether it is running, and this process is its owner. */
  isOwner(id: string): Promise<boolean>;
  /** Whether it was joined, is running, and is lost. */
  isLost(id: string): Promise<boolean>;
  /** Why it cannot be joined; undefined if it can. Does not spend the token. */
  refusal(id: string): Promise<JoinRefusal | undefined>;
  /** A pending session without an owner. Undefined if it has one, or is no longer pending. */
  unowned(id: string): Promise<RunningSession | undefined>;
  /** Makes this process the owner of a pending session without spending its token. */
  lease(id: string): Promise<void>;
  /** Records the room of its call, for a takeover. */
  keepRoom(id: string, room: string): Promise<void>;
  /**
   * Releases it. Before it was active, its token becomes valid again: the client left before it got a token of its own to
   * return with. An active one counts as lost, until its client returns to any process.
   */
  release(id: string): Promise<void>;
  /** Leaves an active chat without an owner until its next message, for which any process may take it over. */
  park(id: string): Promise<void>;
  /** The user is connected. False if the session has ended meanwhile. */
  activate(id: string): Promise<boolean>;
  /** Adds items to its record; ignored unless this process is its owner. */
  append(id: string, items: readonly SessionItem[]): Promise<void>;
  /** Stores the turn, replacing what was stored of it before. */
  keepTurn(id: string, turn: Turn): Promise<void>;
  /**
   * Ends a pending or active session, in one transaction with the deliveries that its end causes. False if
   * any process has ended it already. Its owner is told by `onEnded`.
   */
  end(id: string, reason: EndedReason): Promise<boolean>;
  /** The same, by its owner. False also if another process owns it by now. */
  finish(id: string, reason: EndedReason): Promise<boolean>;
  /** Whether there was such a session, and it has ended. */
  hasEnded(id: string): Promise<boolean>;
  /** The owner of a running session, if it has one. */
  owner(id: string): Promise<CallOwner | undefined>;
  /** Calls `listener` with each session of this process that ends, whoever ends it. The result unsubscribes. */
  onEnded(listener: (id: string) => void): () => void;
}

/** An ended session, and what was said. */
export interface AnalysedSession {
  readonly record: SessionRecord;
  readonly plan: Pick<SessionPlan, 'config'>;
  readonly items: readonly SessionItem[];
}

/** Analyses of ended sessions, made from their records by any process. */
export interface AnalysisQueue {
  /** Leases one session that awaits analysis for `leaseMs`; after that another process may take it, three times in all. */
  take(leaseMs: number): Promise<AnalysedSession | undefined>;
  /** Stores the result and queues its deliveries, once. Deletes the session's plan. */
  finish(id: string, analysis: SessionAnalysis): Promise<void>;
}
