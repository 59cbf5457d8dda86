/**
 * The lifecycles of a transfer (ops/adr/0043-transfers.md; ops/adr/0058-tables-for-rows.md): which state follows from a
 * report, and what is to be done then. There are three, by who calls the colleague: the provider in place of the agent's
 * stream (cold), we ourselves (warm), or the caller's own side by REFER (SIP).
 */
import { answering, before, type Lifecycle, stay, type Step, to } from '../lifecycle.js';
import type { PhoneProvider } from './phone.js';

/** `cold`: the provider dials in the place of the agent; `warm`: the agent speaks with the colleague first. */
export const TRANSFER_MODES = ['cold', 'warm'] as const;
export type TransferMode = (typeof TRANSFER_MODES)[number];

const OPEN = ['ringing', 'answered', 'accepted'] as const;
const UNSUCCESSFUL = ['busy', 'no_answer', 'refused', 'voicemail', 'failed', 'cancelled'] as const;

/** In order; those from `connected` on are final. `accepted`: the colleague takes the call, and both are being connected. */
export const TRANSFER_STATES = [...OPEN, 'connected', ...UNSUCCESSFUL] as const;
export type TransferState = (typeof TRANSFER_STATES)[number];
export type LastTransferState = 'connected' | (typeof UNSUCCESSFUL)[number];

/** What is reported about a transfer. */
export const TRANSFER_REPORTS = [
  /** The provider: the colleague's call rings or goes on. */
  'under_way',
  /** The provider asks what to do with the colleague's call, which was answered. */
  'answered',
  /** The colleague takes the call. */
  'accepted',
  /** Caller and colleague are connected. */
  'connected',
  'busy',
  'no_answer',
  /** The colleague does not take the call, or gives no answer. */
  'refused',
  'voicemail',
  /** The colleague's call has ended. */
  'left',
  /** A request to the provider failed, or the provider could not call. */
  'failed',
  /** The transfer was given up elsewhere, and the caller is still there. */
  'cancelled',
  /** The caller has hung up. */
  'hung_up',
  /** Nothing was reported in the time that the transfer may take. */
  'silent',
  'session_ended',
  /** The caller, whom nobody was connected to, comes back to the agent. */
  'returned',
] as const;
export type TransferReport = (typeof TRANSFER_REPORTS)[number];

export const TRANSFER_EFFECTS = [
  'end_session_as_transferred',
  'end_session_as_hangup',
  'hang_up_caller',
  'hang_up_colleague',
  /** Notes in the row, once, that the caller is with the agent again. */
  'bring_back',
] as const;
export type TransferEffect = (typeof TRANSFER_EFFECTS)[number];

type TransferLifecycle = Lifecycle<TransferState, TransferReport, TransferEffect>;
type Answers = TransferLifecycle[TransferState];

/** The same answers in each of the states. */
const each = <State extends TransferState>(states: readonly State[], answers: Answers) =>
  Object.fromEntries(states.map((state) => [state, answers])) as Readonly<Record<State, Answers>>;

/** The provider dials in place of the media stream, and asks what to do with a caller whom nobody was connected to. */
export const COLD_TRANSFER: TransferLifecycle = {
  ringing: {
    connected: to('connected', 'end_session_as_transferred'),
    busy: to('busy'),
    no_answer: to('no_answer'),
    failed: to('failed'),
    cancelled: to('cancelled'),
    hung_up: to('cancelled', 'end_session_as_hangup'),
    // The provider returns unanswered callers while it rings, so these two must be talking.
    silent: to('connected', 'end_session_as_transferred'),
    session_ended: to('cancelled', 'hang_up_caller'),
  },
  answered: {},
  accepted: {},
  connected: {},
  ...each(UNSUCCESSFUL, { returned: stay('bring_back') }),
};

/** The end of a warm transfer ends the colleague's call. */
const WARM_ENDS: Answers = {
  busy: to('busy', 'hang_up_colleague'),
  no_answer: to('no_answer', 'hang_up_colleague'),
  refused: to('refused', 'hang_up_colleague'),
  voicemail: to('voicemail', 'hang_up_colleague'),
  left: to('refused', 'hang_up_colleague'),
  failed: to('failed', 'hang_up_colleague'),
  cancelled: to('cancelled', 'hang_up_colleague'),
  hung_up: to('cancelled', 'hang_up_colleague'),
  silent: to('failed', 'hang_up_colleague'),
  session_ended: to('cancelled', 'hang_up_colleague'),
};

/** We call the colleague, and the provider joins both calls. */
export const WARM_TRANSFER: TransferLifecycle = {
  ringing: { answered: to('answered'), ...WARM_ENDS },
  answered: { accepted: to('accepted'), ...WARM_ENDS },
  accepted: { connected: to('connected'), ...WARM_ENDS },
  // A caller who enters the room after the colleague has left would wait there.
  connected: {
    busy: stay('hang_up_caller'),
    no_answer: stay('hang_up_caller'),
    failed: stay('hang_up_caller'),
    left: stay('hang_up_caller'),
  },
  ...each(UNSUCCESSFUL, {
    under_way: stay('hang_up_colleague'),
    voicemail: stay('hang_up_colleague'),
    // The transfer ended while both were put into the room.
    connected: stay('hang_up_caller', 'hang_up_colleague'),
  }),
};

/** The caller's own side calls (REFER). One who is still there is with the agent. */
export const REFERRED_TRANSFER: TransferLifecycle = {
  ringing: {
    connected: to('connected'),
    busy: to('busy', 'bring_back'),
    no_answer: to('no_answer', 'bring_back'),
    refused: to('refused', 'bring_back'),
    failed: to('failed', 'bring_back'),
    cancelled: to('cancelled'),
    silent: to('failed', 'bring_back'),
    session_ended: to('cancelled'),
  },
  answered: {},
  accepted: {},
  connected: {},
  ...each(UNSUCCESSFUL, { returned: stay('bring_back') }),
};

const ALL = [COLD_TRANSFER, WARM_TRANSFER, REFERRED_TRANSFER] as const;

export interface TransferPosition {
  readonly mode: TransferMode;
  readonly provider: PhoneProvider;
  readonly state: TransferState;
}

const lifecycleOf = ({ mode, provider }: TransferPosition): TransferLifecycle => {
  if (provider === 'sip') return REFERRED_TRANSFER;
  return mode === 'warm' ? WARM_TRANSFER : COLD_TRANSFER;
};

/** What a report does; undefined: nothing. */
export const nextOfTransfer = (
  transfer: TransferPosition,
  report: TransferReport,
): Step<TransferState, TransferEffect> | undefined => lifecycleOf(transfer)[transfer.state][report];

/** The states over which SQL may write this one. */
export const beforeTransferIs = (state: TransferState): readonly TransferState[] => before(state, ...ALL);

/** The states from which a caller may come back to the agent. */
export const RETURNABLE: readonly TransferState[] = answering('returned', ...ALL);

const isOneOf =
  (states: readonly TransferState[]) =>
  ({ state }: Pick<TransferPosition, 'state'>): boolean =>
    states.includes(state);

export const isOpen = isOneOf(OPEN);
/** Whether it has ended, and nobody was connected. */
export const isUnsuccessful = isOneOf(UNSUCCESSFUL);
/** Whether the agent that waits for the colleague's answer need not wait any more. */
export const isDecided = isOneOf(['accepted', 'connected', ...UNSUCCESSFUL]);
/** Whether both calls are on their way into a room, or in it. */
export const isMeeting = isOneOf(['accepted', 'connected']);
export const isLast = (state: TransferState | undefined): state is LastTransferState =>
  state !== undefined && !isOpen({ state });
