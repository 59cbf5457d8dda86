/** Calls that agents place (docs/contract/platform.md 6.14): as their workspace sees them, and as their provider tells of them. */
import type { AnsweredBy, CallState, LastCallState, PhoneProvider, Voicemail } from '../phone.js';
import type { Listed, PageRequest } from './page.js';
import type { PhoneNumber } from './phone.js';

export interface NewPlacedCall {
  readonly number: PhoneNumber;
  /** As `phoneAddress` writes it. */
  readonly to: string;
  readonly agentId: string;
  readonly maxRingSeconds: number;
  /** Null: nothing looks for a machine. */
  readonly voicemail: Voicemail | null;
  /** A request that is sent again with the same key begins nothing. `digest`: of the request. */
  readonly idempotency?: { readonly key: string; readonly digest: string };
}

export interface PlacedCall extends Pick<NewPlacedCall, 'to' | 'agentId' | 'maxRingSeconds' | 'voicemail'> {
  readonly id: string;
  readonly workspaceId: string;
  /** Null once the number was removed. */
  readonly numberId: string | null;
  readonly provider: PhoneProvider;
  readonly from: string;
  /** Null while it is made. */
  readonly sessionId: string | null;
  readonly state: CallState;
  /** Why it is in its last state, where the state does not say it. */
  readonly reason: string | null;
  readonly answeredBy: AnsweredBy | null;
  /** The provider's; null until it is known. */
  readonly callId: string | null;
  readonly createdAt: Date;
  readonly answeredAt: Date | null;
  readonly endedAt: Date | null;
}

/** A call that nobody has told the end of in time. */
export interface OverdueCall {
  readonly call: PlacedCall;
  /** Whether the provider has taken it. */
  readonly placed: boolean;
  readonly sessionEnded: boolean;
}

export interface PlacedCalls {
  /** Newest first. */
  list(workspaceId: string, page: PageRequest): Promise<Listed<PlacedCall>>;
  read(id: string, workspaceId: string): Promise<PlacedCall | undefined>;
  /** Of any workspace, for the provider's callbacks. */
  find(id: string): Promise<PlacedCall | undefined>;
  /**
   * Notes the call. `known`: it was asked for before, with the same key. Errors: `conflict` where the key is another
   * request's, or that of one which is being made.
   */
  claim(call: NewPlacedCall): Promise<{ readonly call: PlacedCall; readonly known: boolean }>;
  /** Forgets one whose session was refused. */
  drop(id: string): Promise<void>;
  /** `webhooks`: where its end is told. */
  begin(id: string, sessionId: string, webhooks: readonly string[]): Promise<PlacedCall>;
  /** The provider has taken it. It may be over by then. */
  placed(id: string, callId: string | undefined): Promise<PlacedCall | undefined>;
  /**
   * What the provider tells of a call that goes on; states never go back. Undefined where its call is another one than the
   * provider has told of before.
   */
  report(
    id: string,
    report: { readonly callId: string; readonly state?: CallState; readonly answeredBy?: AnsweredBy },
  ): Promise<PlacedCall | undefined>;
  /** Ends it, once: `ended` of one that a machine has answered is `voicemail`. Undefined where it is over already. */
  finish(id: string, state: LastCallState, reason?: string): Promise<PlacedCall | undefined>;
  /** Calls whose time is up or whose session is over. Several processes may see one: it is whose `finish` ends it. */
  overdue(): Promise<readonly OverdueCall[]>;
}

/** What places calls. */
export interface PhoneDialling {
  /** Why no call can be placed now from that number. Errors: `conflict` without phone calls, `overloaded`. */
  check(number: Pick<PhoneNumber, 'provider'>): void;
  /** Asks the provider, and tells what becomes of it in the call's row. `baseUrl`: where the provider reaches us. */
  place(call: PlacedCall, baseUrl: string): void;
  /** As it is then: one that is over stays as it is. */
  cancel(call: PlacedCall): Promise<PlacedCall>;
}
