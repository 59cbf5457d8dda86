/** Transfers of phone calls, and how records and events show them. */
import type { Language } from '../speech/languages.js';
import type { PhoneProvider } from './phone.js';
import type { TransferMode, TransferState } from './transfer-states.js';

/** The briefing of a colleague before a caller is connected. */
export interface Briefing {
  readonly text: string;
  /** Whether the colleague is asked to accept. */
  readonly asks: boolean;
  readonly language: Language;
  /** The voice of the agent's configuration. */
  readonly voiceId: string;
}

export interface Transfer {
  readonly id: string;
  readonly sessionId: string;
  readonly workspaceId: string;
  /** Null once the number was removed. */
  readonly numberId: string | null;
  readonly provider: PhoneProvider;
  /** The caller's call, as the provider knows it. */
  readonly callerCallId: string;
  /** The colleague's call, if we placed it; null until known. */
  readonly callId: string | null;
  readonly toolCallId: string;
  readonly mode: TransferMode;
  readonly label: string;
  readonly to: string;
  /** Our number, shown to the colleague; null for the provider's default. */
  readonly shown: string | null;
  readonly state: TransferState;
  readonly reason: string | null;
  readonly briefing: Briefing | null;
  readonly createdAt: Date;
  readonly answeredAt: Date | null;
  readonly endedAt: Date | null;
  readonly returnedAt: Date | null;
}

export const transferBody = (transfer: Transfer) => ({
  transfer_id: transfer.id,
  mode: transfer.mode,
  label: transfer.label,
  to: transfer.to,
  state: transfer.state,
  reason: transfer.reason,
  started_at: transfer.createdAt.toISOString(),
  answered_at: transfer.answeredAt?.toISOString() ?? null,
  ended_at: transfer.endedAt?.toISOString() ?? null,
  returned_at: transfer.returnedAt?.toISOString() ?? null,
});
