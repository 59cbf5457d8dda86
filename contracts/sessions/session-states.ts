/**
 * The lifecycle of a session (docs/contract/decisions.md 13, ops/adr/0016-a-session-outlives-its-agent.md;
 * ops/adr/0033-nodes.md; ops/adr/0058-tables-for-rows.md). A session is leased by at most one process, its owner, which
 * renews the leases of all of its sessions with its heartbeats. An owner that dies, or releases a conversation, leaves a
 * lost session, until another process takes it over.
 */
import { answering, type Lifecycle, type Step, stay, to } from '../lifecycle.js';
import { ENDED_REASONS, type EndedReason, type SessionStatus } from '../ports/sessions/sessions.js';

export const SESSION_STATES = [
  /** Nobody owns it; its token can be used. */
  'waiting',
  /** Its owner waits for the user, whose arrival spends the token. */
  'prepared',
  /** The token is spent; the user is not connected yet. */
  'joined',
  /** The conversation runs. */
  'active',
  /** The conversation has no owner. */
  'lost',
  'completed',
  'failed',
] as const;
export type SessionState = (typeof SESSION_STATES)[number];

/** What is reported about a session. */
export const SESSION_REPORTS = [
  /** A process leases it, before its token is spent. */
  'leased',
  /** Its token is spent; the process in which that happens is its owner. */
  'joined',
  /** The user is connected. */
  'connected',
  /** Its owner is dead or has released it, and another process leases it. */
  'taken_over',
  /** Its owner gives it up. */
  'released',
  /** Its owner leaves a chat, whose message is answered, until the next one. */
  'parked',
  'owner_died',
  /** Its agent is archived or deleted. */
  'agent_gone',
  ...(Object.keys(ENDED_REASONS) as EndedReason[]),
] as const;
export type SessionReport = (typeof SESSION_REPORTS)[number];

export type SessionEffect =
  /** Writes since when it is lost. */
  | 'note_loss'
  /** Writes the deliveries of its end, and queues its analysis. */
  | 'report_end';

type SessionLifecycle = Lifecycle<SessionState, SessionReport, SessionEffect>;

/** An end, for each reason. */
const ends = (
  step: (reason: EndedReason) => Step<SessionState, SessionEffect>,
): Readonly<Record<EndedReason, Step<SessionState, SessionEffect>>> => {
  const reasons = Object.keys(ENDED_REASONS) as EndedReason[];
  return Object.fromEntries(reasons.map((reason) => [reason, step(reason)])) as Record<
    EndedReason,
    Step<SessionState, SessionEffect>
  >;
};

/** Without a conversation it has failed, whatever the reason, and nobody is told. */
const UNCONNECTED_ENDS = ends(() => to('failed'));
const CONVERSATION_ENDS = ends((reason) => to(ENDED_REASONS[reason], 'report_end'));

export const SESSION: SessionLifecycle = {
  waiting: {
    leased: to('prepared'),
    joined: to('joined'),
    // By whoever notices first that its owner has died.
    taken_over: to('prepared'),
    agent_gone: to('failed'),
    ...UNCONNECTED_ENDS,
  },
  prepared: {
    leased: stay(),
    joined: to('joined'),
    connected: to('active'),
    taken_over: stay(),
    released: to('waiting'),
    owner_died: stay('note_loss'),
    agent_gone: to('failed'),
    ...UNCONNECTED_ENDS,
  },
  joined: {
    leased: stay(),
    connected: to('active'),
    taken_over: stay(),
    // The token can be used again.
    released: to('waiting'),
    owner_died: stay('note_loss'),
    ...UNCONNECTED_ENDS,
  },
  active: {
    taken_over: stay(),
    released: to('lost', 'note_loss'),
    parked: stay(),
    owner_died: to('lost', 'note_loss'),
    ...CONVERSATION_ENDS,
  },
  lost: {
    taken_over: to('active'),
    // By an owner that was taken for dead.
    released: stay('note_loss'),
    ...CONVERSATION_ENDS,
  },
  completed: {},
  failed: {},
};

/** The states in which a report does something, for SQL. */
export const answeringSession = (report: SessionReport): readonly SessionState[] =>
  answering(report, SESSION);

/** The states of a session that takes a place as a call. */
export const CALLED: readonly SessionState[] = ['joined', 'active', 'lost'];
/** The states before and after the user is connected. */
export const UNCONNECTED: readonly SessionState[] = ['waiting', 'prepared', 'joined'];
export const CONVERSING: readonly SessionState[] = ['active', 'lost'];
/** The statuses of a session that has not ended. */
export const LIVE_STATUSES: readonly SessionStatus[] = ['pending', 'active'];

/** The status in which the reason leaves a session in that state. */
export const statusAfter = (state: 'joined' | 'active', reason: EndedReason): SessionState | undefined =>
  SESSION[state][reason]?.to;
