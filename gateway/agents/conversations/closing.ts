/** Reasons for the end of a conversation, as its client and its session are told them (docs/architecture.md "Who closes a call"). */
import type { EndReason } from '../../../actors/agent/events.js';
import type { EndedReason } from '../../../contracts/ports/sessions/sessions.js';

/** Causes outside of its statechart that close a conversation, as the client is told them. */
export const CLOSED_BY = {
  /** Its session has ended: by the API, by another process, by the sweep. */
  session: 'ended_by_api',
  /** The call ended by itself: the server closed its room. */
  transport: 'user_hangup',
  /** The provider's stream of a phone call broke off without a report that the caller has hung up. */
  line: 'transport_lost',
  /** The worker that carried it died, or the connection to its LiveKit server. */
  mediaLoss: 'transport_lost',
  /** Its session could not become active. */
  storage: 'error',
  /** Its provider connects the caller to somebody else: the session continues without it until the outcome is known. */
  connecting: 'transferred',
  /** The caller has been connected to somebody else. */
  transferred: 'transferred',
  /** This process stops. */
  shutdown: 'error',
  /** This process was taken for dead, and another may have the call already: the session continues without it. */
  lost: 'error',
  /** Its message is answered, or its client has left: the chat continues without it. */
  parked: 'user_hangup',
  /** No client used the token that began it, or has not yet, and this process stops: the session continues without it. */
  unclaimed: 'error',
} as const satisfies Readonly<Record<string, EndReason>>;

export type ClosedBy = keyof typeof CLOSED_BY;

/** The session's `ended_reason` for each. */
export const SESSION_ENDS: Readonly<Record<EndReason, EndedReason>> = {
  user_hangup: 'hangup',
  agent_hangup: 'hangup',
  gone: 'hangup',
  conversation_timeout: 'timeout',
  ended_by_api: 'ended_by_api',
  transferred: 'transferred',
  transport_lost: 'transport_lost',
  llm_endpoint_failure: 'llm_endpoint_failure',
  speech_failure: 'speech_failure',
  error: 'error',
};
