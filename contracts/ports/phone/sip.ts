/** Telephone calls through a cluster's SIP service (docs/sip.md; ops/adr/0045-sip-through-livekit.md). */
import type { ServiceError } from '../../errors.js';
import type { LastCallState } from '../../phone/placed-states.js';
import type { LastTransferState } from '../../phone/transfer-states.js';

/** A number that receives calls. */
export interface SipNumber {
  readonly id: string;
  /** As `phoneAddress` writes it. */
  readonly address: string;
  /** IP addresses and networks from which its calls come; empty: any, with the account. */
  readonly sources: readonly string[];
  /** With which its calls have to authenticate (digest). Absent: without. */
  readonly account?: { readonly username: string; readonly password: string };
}

/** The caller, as a participant of the call's room. */
export interface SipCaller {
  readonly identity: string;
  /** As the service writes it; empty if withheld. */
  readonly number: string;
  /** Its phone is ringing; nobody has answered yet. */
  readonly rings: boolean;
}

/** A call to somebody, from a room where the agent waits. */
export interface SipLeg {
  readonly room: string;
  readonly from: string;
  readonly to: string;
  readonly ringSeconds: number;
  /** The SIP server of the number's carrier, in the format of `CREDENTIAL_FORMS` in contracts/phone/phone.ts, and the account there. */
  readonly server: string;
  readonly username: string;
  readonly password: string;
}

export interface SipRefusal {
  readonly state: Extract<LastCallState, 'busy' | 'no_answer' | 'failed'>;
  /** Given if the state does not tell. */
  readonly reason?: string;
}

/** Why a referral failed. */
export interface SipReferral {
  readonly state: Exclude<LastTransferState, 'connected' | 'voicemail'>;
  /** Given if the state does not tell. */
  readonly reason?: string;
}

export interface SipService {
  /**
   * Makes the service accept calls for exactly these numbers of this installation. Resolves with why it does not have some of them, by
   * id: `conflict` if it refuses one, `transport_failed`. Errors: `transport_failed`.
   */
  keep(numbers: readonly SipNumber[]): Promise<ReadonlyMap<string, ServiceError>>;
  /** The telephone participant of that room, if any. Errors: `transport_failed`. */
  caller(room: string): Promise<SipCaller | undefined>;
  /** Calls once. Resolves with undefined when somebody answers, else with the refusal. Never rejects. */
  dial(leg: SipLeg): Promise<SipRefusal | undefined>;
  /** Refers the caller's side to somebody else (REFER). Resolves with undefined once that worked. Never rejects. */
  refer(room: string, to: string, ringSeconds: number): Promise<SipReferral | undefined>;
}
