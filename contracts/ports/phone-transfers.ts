/** Transfers of phone calls, of which any process may hear: their rows say what has become of them (ops/adr/0045-transfers.md). */
import type { Briefing, LastTransferState, Transfer } from '../transfers.js';

export interface NewTransfer extends Pick<
  Transfer,
  'sessionId' | 'numberId' | 'provider' | 'callerCallId' | 'toolCallId' | 'mode' | 'label' | 'to'
> {
  readonly briefing: Briefing | null;
  /** Whatever the provider tells, it is looked at then. */
  readonly dueMs: number;
}

/** One that nobody has told the end of in time, or whose session is over. */
export interface OverdueTransfer {
  readonly transfer: Transfer;
  readonly sessionEnded: boolean;
}

export interface Transfers {
  /** Undefined where the session has one already, or is over. */
  begin(transfer: NewTransfer): Promise<Transfer | undefined>;
  find(id: string): Promise<Transfer | undefined>;
  /**
   * What is told of one that goes on; states never go back. Undefined where the call is another one than the provider has told of
   * before, or it is over.
   */
  report(
    id: string,
    told: { readonly callId?: string | undefined; readonly state?: 'answered' | 'accepted' },
  ): Promise<Transfer | undefined>;
  /** Ends it, once: undefined where it is over already. */
  finish(id: string, state: LastTransferState, reason?: string): Promise<Transfer | undefined>;
  /** The caller comes back from one that did not come about, once. */
  bringBack(id: string): Promise<Transfer | undefined>;
  /** The tool's answer, in the session's record, is why it has not come about. */
  amend(transfer: Transfer, error: string): Promise<void>;
  overdue(): Promise<readonly OverdueTransfer[]>;
  /** Called when that one's state may have changed. The result ends it. */
  onChange(id: string, changed: () => void): () => void;
}
