/**
 * The lifecycle of a placed call (ops/adr/0039-placed-calls.md; ops/adr/0058-tables-for-rows.md): which state follows from a
 * report, and what is to be done then.
 */
import { before, type Lifecycle, stay, type Step, to } from '../lifecycle.js';
import type { EndedReason } from '../ports/sessions/sessions.js';
import type { AnsweredBy, Answerer, DialOutcome, DialStatus } from './phone.js';

const OPEN = ['queued', 'ringing', 'answered'] as const;
const LAST = ['busy', 'no_answer', 'failed', 'cancelled', 'voicemail', 'ended'] as const;

/** In order; those from `busy` on are final. */
export const CALL_STATES = [...OPEN, ...LAST] as const;
export type CallState = (typeof CALL_STATES)[number];
export type LastCallState = (typeof LAST)[number];

/** What is reported about a placed call. */
export const PLACED_REPORTS = [
  /** The provider has a call for it, and has told which. */
  'taken',
  'ringing',
  'answered',
  'busy',
  'no_answer',
  /** The provider could not call, or a request to it failed. */
  'failed',
  /** The provider has stopped ringing. */
  'cancelled',
  'ended',
  /** The same, of a call that a machine has answered. */
  'machine_ended',
  /** A machine has answered, and it was agreed to hang up, or no message can be left. */
  'machine',
  /** The API asks for its end. */
  'stopped',
  /** Nothing was reported in the time in which it must have ended. */
  'silent',
  'session_ended',
] as const;
export type PlacedReport = (typeof PLACED_REPORTS)[number];

export type PlacedEffect =
  /** Ends a session that nobody has joined, as `WAITING_SESSION_ENDS` says. */
  'end_waiting_session' | 'hang_up' | 'end_session_as_hangup' | 'end_session_by_api';

/** The end of a session that waits for the call, by the call's end. */
export const WAITING_SESSION_ENDS: Readonly<Record<LastCallState, EndedReason>> = {
  busy: 'not_joined',
  no_answer: 'not_joined',
  failed: 'not_joined',
  voicemail: 'not_joined',
  ended: 'not_joined',
  cancelled: 'ended_by_api',
};

/** How the dialling came out, by the call's state. */
const DIAL_STATUS: Readonly<Record<CallState, DialStatus | null>> = {
  queued: null,
  ringing: null,
  answered: 'answered',
  busy: 'busy',
  no_answer: 'no_answer',
  failed: 'failed',
  cancelled: 'failed',
  voicemail: 'answered',
  ended: 'answered',
};

const ANSWERER: Readonly<Record<AnsweredBy, Answerer>> = {
  human: 'human',
  machine: 'voicemail',
  unknown: 'unknown',
};

/** As sessions and their events tell it. `isAnswered`: somebody had answered, whatever the provider has reported since. */
export function dialOutcome(call: {
  readonly state: CallState;
  readonly isAnswered: boolean;
  readonly answeredBy: AnsweredBy | null;
}): DialOutcome {
  const dialStatus = call.isAnswered ? 'answered' : DIAL_STATUS[call.state];
  return {
    dialStatus,
    answeredBy: dialStatus === 'answered' ? ANSWERER[call.answeredBy ?? 'unknown'] : null,
  };
}

type PlacedLifecycle = Lifecycle<CallState, PlacedReport, PlacedEffect>;

const ENDS: PlacedLifecycle[CallState] = {
  busy: to('busy', 'end_waiting_session'),
  no_answer: to('no_answer', 'end_waiting_session'),
  failed: to('failed', 'end_waiting_session'),
  cancelled: to('cancelled', 'end_waiting_session'),
  ended: to('ended', 'end_waiting_session'),
  machine_ended: to('voicemail', 'end_waiting_session'),
  // The row says `voicemail`, as it does of every call that a machine has answered.
  machine: to('ended', 'end_waiting_session', 'hang_up', 'end_session_as_hangup'),
};

const UNANSWERED: PlacedLifecycle[CallState] = {
  ...ENDS,
  stopped: to('cancelled', 'end_waiting_session', 'hang_up'),
  silent: to('failed', 'end_waiting_session', 'hang_up'),
  session_ended: to('cancelled', 'end_waiting_session', 'hang_up'),
};

/** It had ended before its id at the provider was known. */
const ENDED: PlacedLifecycle[CallState] = { taken: stay('hang_up') };

export const PLACED_CALL: PlacedLifecycle = {
  queued: { ringing: to('ringing'), answered: to('answered'), ...UNANSWERED },
  ringing: { answered: to('answered'), ...UNANSWERED },
  answered: {
    ...ENDS,
    // The call ends with its session.
    stopped: stay('end_session_by_api'),
    silent: to('ended', 'end_waiting_session', 'hang_up'),
    session_ended: to('ended', 'end_waiting_session', 'hang_up'),
  },
  busy: ENDED,
  no_answer: ENDED,
  failed: ENDED,
  cancelled: ENDED,
  voicemail: ENDED,
  ended: ENDED,
};

/** The same end of a call that a machine has answered. */
export const endByMachine = (state: LastCallState): LastCallState =>
  state === 'ended' ? 'voicemail' : state;

/** What a report does; undefined: nothing. */
export const nextOfCall = (
  state: CallState,
  report: PlacedReport,
): Step<CallState, PlacedEffect> | undefined => PLACED_CALL[state][report];

/** The states over which SQL may write this one. */
export const beforeCallIs = (state: CallState): readonly CallState[] => before(state, PLACED_CALL);

export const isLastCallState = (state: CallState | undefined): state is LastCallState =>
  (LAST as readonly (CallState | undefined)[]).includes(state);
