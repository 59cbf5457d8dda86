/** Telephones that come through a cluster's SIP service (docs/sip.md; ops/adr/0047-sip-through-livekit.md). */
import type { LastCallState } from '../phone.js';
import type { LastTransferState } from '../transfers.js';

/** A number whose calls come in. */
export interface SipNumber {
  readonly id: string;
  /** As `phoneAddress` writes it. */
  readonly address: string;
  /** IP addresses and networks that its calls come from. */
  readonly sources: readonly string[];
}

/** The other side of a call, as the service has let it into its room. */
export interface SipCaller {
  readonly identity: string;
  /** As the service writes it; empty where it is withheld. */
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
  /** The SIP server of the number's carrier, with or without a port, and the account there. */
  readonly server: string;
  readonly username: string;
  readonly password: string;
}

export interface SipRefusal {
  readonly state: Extract<LastCallState, 'busy' | 'no_answer' | 'failed'>;
  /** Where the state does not say it. */
  readonly reason?: string;
}

/** Why a caller's side has not gone on with somebody else. */
export interface SipReferral {
  readonly state: Exclude<LastTransferState, 'connected' | 'voicemail'>;
  /** Where the state does not say it. */
  readonly reason?: string;
}

export interface SipService {
  /**
   * Makes the service take calls for those numbers and for no other of this installation. Errors: `conflict` where it refuses one, once
   * all have been tried; `transport_failed`.
   */
  keep(numbers: readonly SipNumber[]): Promise<void>;
  /** Who is in that room by telephone. Errors: `transport_failed`. */
  caller(room: string): Promise<SipCaller | undefined>;
  /** Resolves once somebody has answered (undefined), or nobody does. Asked once. Never rejects. */
  dial(leg: SipLeg): Promise<SipRefusal | undefined>;
  /** Has the caller's own side go on with somebody else (REFER), and waits for what it tells: undefined where it has. Never rejects. */
  refer(room: string, to: string, ringSeconds: number): Promise<SipReferral | undefined>;
}
