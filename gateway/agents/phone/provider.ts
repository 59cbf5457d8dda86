/**
 * A telephone provider's webhooks and media streams in our terms. Each provider is one file of providers/: a table of its
 * events, and functions for the answers to it.
 */
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { isPlainObject, type PlainObject } from '../../../contracts/schemas/plain-object.js';
import type { PhoneProvider } from '../../../contracts/phone/phone.js';
import type { LineFormat } from '../../../contracts/ports/calls/calls.js';
import { boundFields, boundJson } from '../../server/bodies/structure.js';
import type { Reply } from '../../server/port.js';

export interface Webhook {
  /** The address that the provider was told, with its query. */
  readonly url: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
}

/**
 * Reads something of a webhook once, however often it is asked for: its signature is tried with the secret of every number that
 * it may be about, by senders who are not known yet.
 */
export function onceForEach<Read>(read: (webhook: Webhook) => Read): (webhook: Webhook) => Read {
  const known = new WeakMap<Webhook, { readonly is: Read }>();
  return (webhook) => {
    const found = known.get(webhook) ?? { is: read(webhook) };
    known.set(webhook, found);
    return found.is;
  };
}

/** An incoming call, as the provider writes it. */
export interface IncomingCall {
  readonly callId: string;
  readonly from: string;
  readonly to: string;
}

/** A message of a media stream. */
export type StreamEvent =
  | {
      readonly type: 'start';
      /** The provider's id of the stream, which our messages carry. */
      readonly stream: string;
      readonly callId: string;
      /** The token from the answer to the webhook; undefined if the stream's address has it. */
      readonly token?: string | undefined;
      /** The call's sides, from a provider that sends no webhook before. */
      readonly about?: Omit<IncomingCall, 'callId'>;
      /** Undefined for a format that is not supported. */
      readonly format: LineFormat | undefined;
    }
  | { readonly type: 'media'; readonly audio: Uint8Array; readonly order?: number }
  | { readonly type: 'mark'; readonly mark: number }
  | { readonly type: 'key'; readonly key: string }
  /** The call has ended. */
  | { readonly type: 'stop' };

/** Messages for one media stream. */
export interface StreamWriter {
  /** Greets a stream that was accepted; most providers expect nothing. */
  begin?(): string;
  speak(audio: Uint8Array): string | Uint8Array;
  /** Absent if the provider does not report what it has played. */
  mark?(mark: number): string;
  clearAudio(): string;
}

/** The messages of media streams. */
export interface Speaking {
  /** Undefined for messages that do not matter. Errors: `StreamFault`. */
  read(message: string | Uint8Array): StreamEvent | undefined;
  writer(stream: string): StreamWriter;
  /** Announces the end of the stream, after which the provider closes it. Absent if closing is enough. */
  end?(why: 'completed' | 'unauthorized' | 'error', info: string): string;
}

/** Messages of a provider that numbers them or expects answers: each stream has its own state. */
export interface Conversing {
  /** `headers`: of the handshake. */
  converse(send: (message: string) => void, headers: ReadonlyMap<string, string>): Speaking;
}

interface Named {
  readonly name: PhoneProvider;
  /**
   * Whether the webhook, or the handshake of a stream, was signed with that secret. `now`: milliseconds since 1970. What it reads
   * of the webhook it reads once (`onceForEach`), so that a secret costs one signature. Errors: `invalid_request` for too many fields.
   */
  isSigned(webhook: Webhook, secret: string, now: number): boolean;
}

/** A provider without a webhook for calls: its streams say which call they carry, and are authenticated by their handshake. */
export type StreamProvider = Named & (Speaking | Conversing);

/** A provider that asks by a webhook who answers. */
export interface Provider extends Named, Speaking {
  /** Undefined if the webhook is about no call. */
  incoming(webhook: Webhook): IncomingCall | undefined;
  /** Answers the call with a media stream to that address. */
  accept(stream: { readonly url: string; readonly token: string; readonly callId: string }): Reply;
  /** Rejects the call. `busy`: the caller may call again. */
  reject(why: 'busy' | 'rejected'): Reply;
}

/** Error that ends a media stream; the provider is told the reason. */
export class StreamFault extends Error {
  constructor(
    readonly code: 1003 | 1007 | 1008 | 1009 | 1013,
    reason: string,
  ) {
    super(reason);
    this.name = 'StreamFault';
  }
}

/** Puts the token into the address, for streams that carry nothing else. */
export const withToken = (url: string, token: string): string => `${url}?token=${encodeURIComponent(token)}`;

/** A member that is an object; an empty object if it is none. */
export const objectIn = (fields: PlainObject, name: string): PlainObject => {
  const value = fields[name];
  return isPlainObject(value) ? value : {};
};

const MOST_TEXT = 1024;

/** A member that is a text; empty if it is none, or implausibly long. */
export const textIn = (fields: PlainObject, name: string): string => {
  const value = fields[name];
  return typeof value === 'string' && value.length <= MOST_TEXT ? value : '';
};

/** A member that is a count, written as a number or as text. */
export function countIn(fields: PlainObject, name: string): number | undefined {
  const value = fields[name];
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

/** Undefined if it is no JSON object. */
export function jsonObject(text: string): PlainObject | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const { parts } = LIMITS.unauthenticated;

function boundMessage(message: string): void {
  try {
    boundJson(Buffer.from(message), parts);
  } catch {
    throw new StreamFault(1009, 'a message is nested too deep, or has too many parts');
  }
}

/** A message that is a JSON object: the first of a stream are a stranger's. Errors: `StreamFault`. */
export function jsonMessage(message: string | Uint8Array): PlainObject {
  if (typeof message !== 'string') throw new StreamFault(1003, 'messages are text');
  boundMessage(message);
  const fields = jsonObject(message);
  if (!fields) throw new StreamFault(1007, 'a message is no JSON object');
  return fields;
}

const CALL_ID = /^[\w:.-]{1,128}$/;

/** Undefined if no call is named. */
export function incomingOf(callId: string, from: string, to: string): IncomingCall | undefined {
  return CALL_ID.test(callId) && to !== '' ? { callId, from, to } : undefined;
}

const UTF8 = new TextDecoder();

export const bodyOf = ({ body }: Pick<Webhook, 'body'>): string => UTF8.decode(body);

/** The fields of a webhook that is a form. Errors: `invalid_request` for too many. */
export const formOf = onceForEach((webhook) => {
  const text = bodyOf(webhook);
  boundFields(text, parts);
  return new URLSearchParams(text);
});

/** The members of a webhook that is JSON; undefined if it is no object. Errors: `invalid_request` for too many. */
export const fieldsOf = onceForEach((webhook) => {
  try {
    boundJson(webhook.body, parts);
  } catch (cause) {
    throw new ServiceError('invalid_request', { message: 'Nested too deep, or too many parts', cause });
  }
  return jsonObject(bodyOf(webhook));
});

const XML: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '>': '&gt;',
  '&': '&amp;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Characters that no document may contain (XML 1.0, 2.2). */
const NO_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

export const xmlText = (text: string): string =>
  text.replace(NO_XML, '').replace(/[<>&"']/g, (character) => XML[character] ?? '');

/** A document of call instructions. */
export const xmlReply = (body: string): Reply => ({
  status: 200,
  headers: { 'content-type': 'text/xml; charset=utf-8' },
  body: `<?xml version="1.0" encoding="UTF-8"?><Response>${body}</Response>`,
});
