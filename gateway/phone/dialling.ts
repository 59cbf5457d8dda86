/**
 * A provider's API in our words: how calls are placed and hung up, and what it tells of them. Each provider has a file in
 * providers/.
 */
import type { AnsweredBy, CallState, Voicemail } from '../../contracts/phone.js';
import type { Credentials } from '../../contracts/ports/phone.js';
import type { Reply } from '../server/port.js';
import type { Fields, Webhook } from './provider.js';

/** A request to the provider's API. */
export interface ApiRequest {
  readonly method: 'POST' | 'PUT' | 'DELETE';
  /** Below the address of the API. */
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Undefined for none. */
  readonly body?: string;
}

/** Credentials that no request can be made with; the message is for the owner of the number. */
export class CredentialError extends Error {}

export interface OutgoingCall {
  readonly from: string;
  readonly to: string;
  readonly ringSeconds: number;
  /** Where the provider asks what happens once it is answered, and where it tells of its states. */
  readonly urls: { readonly answer: string; readonly status: string; readonly machine: string };
  /** Whether it is told who has answered, at once or once a machine's greeting is over. */
  readonly detection: 'none' | 'at_once' | 'after_greeting';
}

/** What a callback about a call says. */
export interface CallReport {
  readonly callId: string;
  /** The call in whose place this one was dialled. */
  readonly parentId?: string;
  readonly state?: CallState;
  readonly answeredBy?: AnsweredBy;
  /** A machine's greeting is over. */
  readonly greeted?: boolean;
  /** Why it has failed, as the provider writes it. */
  readonly code?: string;
}

/** What is said to an answering machine. */
export interface SpokenMessage extends Required<Pick<Voicemail, 'message' | 'language'>> {
  readonly callId: string;
  /** Where the provider finds it that fetches it (`Dialling.message`). */
  readonly url: string;
}

/** What the provider's answer to `place` says. */
export interface TakenCall {
  /** Undefined where its callbacks tell it first. */
  readonly callId: string | undefined;
}

/** Somebody whom a caller is connected to. */
export interface DialledLeg {
  readonly to: string;
  /** The number that rings there; undefined for the provider's usual one. */
  readonly from: string | undefined;
  readonly ringSeconds: number;
  /**
   * Where the provider tells that somebody has answered, asks what happens once nobody has, or the leg is over, and fetches the
   * document that dials (`Dialling.dial`).
   */
  readonly urls: { readonly status: string; readonly action: string; readonly document: string };
}

/** Where two calls meet at the provider. */
export interface Room {
  readonly name: string;
  /** Where the provider fetches the document that leads there (`Dialling.meet`). */
  readonly url: string;
}

export interface DialledReport {
  /** The caller's call; undefined where the provider names the leg alone. */
  readonly callId: string | undefined;
  /** `answered`: it was, and may be over. Undefined while it rings. */
  readonly state: 'answered' | 'busy' | 'no_answer' | 'failed' | 'cancelled' | undefined;
  /** Whether the caller is there still. */
  readonly waits: boolean;
  /** Whether it is a question what the caller's call does next; else an answer is heeded where nobody has answered, each time. */
  readonly asks: boolean;
}

export interface Dialling {
  /** The address of its API, unless a number has another. */
  readonly apiUrl: string;
  place(call: OutgoingCall, credentials: Credentials): ApiRequest;
  /** Undefined for an answer that the provider does not document. `fields`: its JSON. */
  taken(fields: Fields): TakenCall | undefined;
  /** Ends a call that rings or goes on. */
  hangUp(callId: string, credentials: Credentials): ApiRequest;
  /** Says a text in the provider's own voice, in the place of the media stream, and ends the call. */
  say(message: SpokenMessage, credentials: Credentials): ApiRequest;
  /** The document with that text, of a provider that fetches it. */
  message?(text: Pick<SpokenMessage, 'message' | 'language'>): Reply;
  /**
   * Connects whom the call is with to somebody else, in the place of the media stream, and asks what happens where nobody
   * answers. Without it, calls are not transferred at the provider.
   */
  connect?(callId: string, leg: DialledLeg, credentials: Credentials): ApiRequest;
  /**
   * What has become of a leg that `connect` has dialled, by the callback to its `action`; undefined where it is about no call. Absent
   * where that is not asked.
   */
  dialled?(callback: Webhook): DialledReport | undefined;
  /**
   * Takes a call from its media stream into a room of the provider's, which ends when one of the calls in it does. Absent where
   * the provider has none: no colleague is asked before a caller is connected.
   */
  join?(callId: string, room: Room, credentials: Credentials): ApiRequest;
  /** The documents with which `connect` and `join` have a call go on, of a provider that fetches them. */
  dial?(leg: DialledLeg): Reply;
  meet?(room: Pick<Room, 'name'>): Reply;
  /** Undefined where the callback is about no call. */
  report(callback: Webhook): CallReport | undefined;
  /** The answer to a question about a call that is to end. */
  readonly ended: Reply;
}
