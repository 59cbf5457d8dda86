/**
 * A provider's API in our terms: how calls are placed and hung up, and its reports about them. Each provider has a file in
 * providers/.
 */
import type { AnsweredBy, Voicemail } from '../../../contracts/phone/phone.js';
import type { CallState } from '../../../contracts/phone/placed-states.js';
import type { Credentials } from '../../../contracts/ports/phone/phone.js';
import type { PlainObject } from '../../../contracts/schemas/plain-object.js';
import type { Reply } from '../../server/port.js';
import type { Webhook } from './provider.js';

/** A request to the provider's API. */
export interface ApiRequest {
  readonly method: 'POST' | 'PUT' | 'DELETE';
  /** Path below the address of the API. */
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Undefined for none. */
  readonly body?: string;
}

/** Thrown for credentials that allow no request; the message is for the owner of the number. */
export class CredentialError extends Error {}

export interface OutgoingCall {
  readonly from: string;
  readonly to: string;
  readonly ringSeconds: number;
  /** Addresses at which the provider asks what to do once the call is answered, and reports its states and who has answered. */
  readonly urls: { readonly answer: string; readonly status: string; readonly machine: string };
  /** Whether the provider reports who has answered, and if so, at once or after a machine's greeting. */
  readonly detection: 'none' | 'at_once' | 'after_greeting';
}

/** A callback's report about a call. */
export interface CallReport {
  readonly callId: string;
  /** Id of the call for which this one was dialled. */
  readonly parentId?: string;
  readonly state?: CallState;
  readonly answeredBy?: AnsweredBy;
  /** A machine's greeting has ended. */
  readonly greeted?: boolean;
  /** The provider's code of the failure. */
  readonly code?: string;
}

/** A message for an answering machine. */
export interface SpokenMessage extends Required<Pick<Voicemail, 'message' | 'language'>> {
  readonly callId: string;
  /** Address of the message, for a provider that fetches it (`Dialling.message`). */
  readonly url: string;
}

/** The provider's answer to `place`. */
export interface TakenCall {
  /** Undefined if only callbacks report it. */
  readonly callId: string | undefined;
}

/** The leg to somebody to whom a caller is connected. */
export interface DialledLeg {
  readonly to: string;
  /** The number shown there; undefined for the provider's usual one. */
  readonly from: string | undefined;
  readonly ringSeconds: number;
  /**
   * Addresses at which the provider reports that somebody has answered, asks what to do after no answer or after the leg, and
   * fetches the document that dials (`Dialling.dial`).
   */
  readonly urls: { readonly status: string; readonly action: string; readonly document: string };
}

/** A room at the provider in which two calls meet. */
export interface Room {
  readonly name: string;
  /** Address of the document that leads there, for a provider that fetches it (`Dialling.meet`). */
  readonly url: string;
}

export interface DialledReport {
  /** The caller's call; undefined if the provider names only the leg. */
  readonly callId: string | undefined;
  /** `answered`: it was answered, and may have ended. Undefined while it rings. */
  readonly state: 'answered' | 'busy' | 'no_answer' | 'failed' | 'cancelled' | undefined;
  /** Whether the caller is still there. */
  readonly waits: boolean;
  /** Whether the callback asks what the caller's call does next. If not, every reply to a report of no answer takes effect. */
  readonly asks: boolean;
}

export interface Dialling {
  /** The address of its API, unless a number has another. */
  readonly apiUrl: string;
  place(call: OutgoingCall, credentials: Credentials): ApiRequest;
  /** Reads the answer to `place`; undefined if it is not as documented. `fields`: its JSON. */
  taken(fields: PlainObject): TakenCall | undefined;
  /** Ends a call that rings or is in progress. */
  hangUp(callId: string, credentials: Credentials): ApiRequest;
  /** Replaces the media stream by a text in the provider's own voice, and ends the call. */
  say(message: SpokenMessage, credentials: Credentials): ApiRequest;
  /** The document with that text, for a provider that fetches it. */
  message?(text: Pick<SpokenMessage, 'message' | 'language'>): Reply;
  /**
   * Connects the other side of the call to somebody else in place of the media stream; the provider asks what to do if nobody
   * answers.
   */
  connect(callId: string, leg: DialledLeg, credentials: Credentials): ApiRequest;
  /** Reads the callback to `action` of a leg that `connect` has dialled; undefined if it is about no call. */
  dialled(callback: Webhook): DialledReport | undefined;
  /** Moves a call from its media stream into a room at the provider, which ends when one of its calls does. */
  join(callId: string, room: Room, credentials: Credentials): ApiRequest;
  /** The documents by which `connect` and `join` continue a call, for a provider that fetches them. */
  dial?(leg: DialledLeg): Reply;
  meet?(room: Pick<Room, 'name'>): Reply;
  /** Undefined if the callback is about no call. */
  report(callback: Webhook): CallReport | undefined;
  /** The answer that ends a call about which the provider asks. */
  readonly ended: Reply;
}
