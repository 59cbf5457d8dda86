/** Transfers of phone calls. Any process may receive a provider's report, so rows hold their state (ops/adr/0043-transfers.md). */
import type { LastTransferState } from '../../phone/transfer-states.js';
import type { Briefing, Transfer } from '../../phone/transfers.js';

export interface NewTransfer extends Pick<
  Transfer,
  'sessionId' | 'numberId' | 'provider' | 'callerCallId' | 'toolCallId' | 'mode' | 'label' | 'to'
> {
  readonly briefing: Briefing | null;
  /** When the transfer is checked, even if the provider reports nothing. */
  readonly dueMs: number;
}

/** A transfer whose end was not reported in time, or whose session has ended. */
export interface OverdueTransfer {
  readonly transfer: Transfer;
  readonly sessionEnded: boolean;
}

export interface Transfers {
  /** Undefined if the session has a transfer already, or has ended. */
  begin(transfer: NewTransfer): Promise<Transfer | undefined>;
  find(id: string): Promise<Transfer | undefined>;
  /**
   * Records a report about a running transfer; states only move forward. Undefined if the call differs from the one reported
   * before, or the transfer has ended.
   */
  report(
    id: string,
    told: { readonly callId?: string | undefined; readonly state?: 'answered' | 'accepted' },
  ): Promise<Transfer | undefined>;
  /** Ends it, once; undefined if it has ended already. */
  finish(id: string, state: LastTransferState, reason?: string): Promise<Transfer | undefined>;
  /** Marks, once, that the caller is back from a failed transfer. */
  bringBack(id: string): Promise<Transfer | undefined>;
  /** Makes the failure the tool's answer in the session's record. */
  amend(transfer: Transfer, error: string): Promise<void>;
  overdue(): Promise<readonly OverdueTransfer[]>;
  /** Calls `changed` when the transfer's state may have changed. The result unsubscribes. */
  onChange(id: string, changed: () => void): () => void;
}
