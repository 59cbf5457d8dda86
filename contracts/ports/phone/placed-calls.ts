/** Calls that agents place (docs/contract/platform.md 6.14), for their workspace and for reports of their provider. */
import type { AnsweredBy, PhoneProvider, Voicemail } from '../../phone/phone.js';
import type { CallState, LastCallState } from '../../phone/placed-states.js';
import type { Listed, PageRequest } from '../page.js';
import type { PhoneNumber } from './phone.js';

/** The client's key of a request, and the digest of its body. */
export interface Idempotency {
  readonly key: string;
  readonly digest: string;
  /** Milliseconds for which the key is remembered. Absent: for as long as the call. */
  readonly keptMs?: number;
}

export interface NewPlacedCall {
  readonly number: PhoneNumber;
  /** As `phoneAddress` writes it. */
  readonly to: string;
  readonly agentId: string;
  readonly maxRingSeconds: number;
  /** Null: answering machines are not detected. */
  readonly voicemail: Voicemail | null;
  /** A repeated request with the same key places no second call. */
  readonly idempotency?: Idempotency;
}

export interface PlacedCall extends Pick<NewPlacedCall, 'to' | 'agentId' | 'maxRingSeconds' | 'voicemail'> {
  readonly id: string;
  readonly workspaceId: string;
  /** Null once the number was removed. */
  readonly numberId: string | null;
  readonly provider: PhoneProvider;
  readonly from: string;
  /** Null until it is created. */
  readonly sessionId: string | null;
  readonly state: CallState;
  /** Why it ended, if the state does not tell. */
  readonly reason: string | null;
  readonly answeredBy: AnsweredBy | null;
  /** The provider's id; null until known. */
  readonly callId: string | null;
  readonly createdAt: Date;
  readonly answeredAt: Date | null;
  readonly endedAt: Date | null;
}

/** A call whose end was not reported in time. */
export interface OverdueCall {
  readonly call: PlacedCall;
  /** Whether the provider has accepted it. */
  readonly placed: boolean;
  readonly sessionEnded: boolean;
}

export interface PlacedCalls {
  /** Newest first. */
  list(workspaceId: string, page: PageRequest): Promise<Listed<PlacedCall>>;
  read(id: string, workspaceId: string): Promise<PlacedCall | undefined>;
  /** In any workspace, for the provider's callbacks. */
  find(id: string): Promise<PlacedCall | undefined>;
  /**
   * The call that an earlier request with this key has placed. Errors: `conflict` if the key belongs to another request
   * (reason `idempotency_key_reuse`), or to one still being processed (`idempotency_key_conflict`).
   */
  repeated(workspaceId: string, idempotency: Idempotency): Promise<PlacedCall | undefined>;
  /** Counts an attempt to place a call. Errors: `forbidden` (reason `outbound_disabled`), `rate_limited` (`daily_limit_exceeded`). */
  attempt(workspaceId: string): Promise<void>;
  /**
   * Records the call. `known`: it was requested before with the same key. Errors: those of `repeated`; `rate_limited` with as many
   * calls as the workspace may have at once (reason `concurrency_limit_exceeded`).
   */
  claim(call: NewPlacedCall): Promise<{ readonly call: PlacedCall; readonly known: boolean }>;
  /** Deletes a call whose session was refused. */
  drop(id: string): Promise<void>;
  /** `webhooks` are told of its end. */
  begin(
    id: string,
    sessionId: string,
    webhooks: readonly string[],
    voicemail: Voicemail | null,
  ): Promise<PlacedCall>;
  /** Keeps what the model has written for an answering machine. */
  keepText(id: string, text: string): Promise<void>;
  /** The provider has accepted it. It may have ended already. */
  placed(id: string, callId: string | undefined): Promise<PlacedCall | undefined>;
  /**
   * Records a report about a running call; states only move forward. Undefined if the call differs from the one the
   * provider reported before.
   */
  report(
    id: string,
    report: { readonly callId: string; readonly state?: CallState; readonly answeredBy?: AnsweredBy },
  ): Promise<PlacedCall | undefined>;
  /** Ends it, once. `ended` becomes `voicemail` if a machine answered. Undefined if it has ended already. */
  finish(id: string, state: LastCallState, reason?: string): Promise<PlacedCall | undefined>;
  /** Tells webhooks how the dialling came out, of answered calls about which nobody reports who has answered. */
  tellLate(): Promise<void>;
  /** Calls whose time is up or whose session has ended. Several processes may see one; the first `finish` wins. */
  overdue(): Promise<readonly OverdueCall[]>;
}

/** Places calls. */
export interface PhoneDialling {
  /** Throws if no call can be placed from that number now. Errors: `conflict` without phone calls (reason `number_provider_unsupported`), `overloaded`. */
  check(number: Pick<PhoneNumber, 'provider'>): void;
  /** Asks the provider, and records the outcome in the call's row. `baseUrl`: our address for the provider. */
  place(call: PlacedCall, baseUrl: string): void;
  /** Returns the call afterwards. One that has ended stays as it is. */
  cancel(call: PlacedCall): Promise<PlacedCall>;
}
