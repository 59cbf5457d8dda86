/**
 * What a telephone provider's webhooks and media streams say, in our words. Each provider is one file of providers/: a
 * table of its events, and functions for what it is answered.
 */
import { isPlainObject } from '../../contracts/plain-object.js';
import type { PhoneProvider } from '../../contracts/phone.js';
import type { LineFormat } from '../../contracts/ports/calls.js';
import type { Reply } from '../server/port.js';

/** A webhook as it came. */
export interface Webhook {
  /** The address that the provider was told, with its query. */
  readonly url: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
}

/** A call that comes in, as the provider writes it. */
export interface IncomingCall {
  readonly callId: string;
  readonly from: string;
  readonly to: string;
}

/** What a media stream says. */
export type StreamEvent =
  | {
      readonly type: 'start';
      /** The provider's name of the stream, which our messages carry. */
      readonly stream: string;
      readonly callId: string;
      /** What the webhook was answered with; undefined where the stream's address has it. */
      readonly token?: string | undefined;
      /** Of a provider that asks nobody beforehand. */
      readonly about?: Omit<IncomingCall, 'callId'>;
      /** Undefined for one that is not spoken here. */
      readonly format: LineFormat | undefined;
    }
  | { readonly type: 'media'; readonly audio: Uint8Array; readonly order?: number }
  | { readonly type: 'mark'; readonly mark: number }
  | { readonly type: 'key'; readonly key: string }
  /** The call is over. */
  | { readonly type: 'stop' };

/** Messages for one media stream. */
export interface StreamWriter {
  /** What a stream is told that was let in; nothing at most providers. */
  begin?(): string;
  speak(audio: Uint8Array): string | Uint8Array;
  /** Undefined where a provider tells nothing of what it has played. */
  mark?(mark: number): string;
  hush(): string;
}

/** The messages of media streams. */
export interface Speaking {
  /** Undefined for what is of no concern. Errors: `StreamFault`. */
  read(message: string | Uint8Array): StreamEvent | undefined;
  writer(stream: string): StreamWriter;
  /** Says that the stream is over, after which the provider closes it. Absent where closing says it. */
  end?(why: 'completed' | 'unauthorized' | 'error', info: string): string;
}

/** Of a provider whose messages count, or are answered: each stream has its own. */
export interface Conversing {
  /** `headers`: of the handshake. */
  converse(send: (message: string) => void, headers: ReadonlyMap<string, string>): Speaking;
}

interface Named {
  readonly name: PhoneProvider;
  /** Whether the webhook, or the handshake of a stream, was signed with that secret. `now`: milliseconds since 1970. */
  isSigned(webhook: Webhook, secret: string, now: number): boolean;
}

/** One that asks nobody: its streams say themselves which call they carry, and their handshake is the proof. */
export type StreamProvider = Named & (Speaking | Conversing);

/** One that asks beforehand who answers. */
export interface Provider extends Named, Speaking {
  /** Undefined where the webhook is about no call. */
  incoming(webhook: Webhook): IncomingCall | undefined;
  /** The call is answered by a media stream to that address. */
  accept(stream: { readonly url: string; readonly token: string; readonly callId: string }): Reply;
  /** The call is not answered. `busy`: somebody may call again. */
  reject(why: 'busy' | 'rejected'): Reply;
}

/** A media stream that cannot go on; the reason is told to the provider. */
export class StreamFault extends Error {
  constructor(
    readonly code: 1003 | 1007 | 1008 | 1013,
    reason: string,
  ) {
    super(reason);
    this.name = 'StreamFault';
  }
}

/** For streams that cannot be told anything but where they go. */
export const withToken = (url: string, token: string): string => `${url}?token=${encodeURIComponent(token)}`;

export type Fields = Readonly<Record<string, unknown>>;

/** A member that is an object; an empty one where there is none. */
export const objectIn = (fields: Fields, name: string): Fields => {
  const value = fields[name];
  return isPlainObject(value) ? value : {};
};

const MOST_TEXT = 1024;

/** A member that is a text; an empty one where it is none, or too long to be what it should be. */
export const textIn = (fields: Fields, name: string): string => {
  const value = fields[name];
  return typeof value === 'string' && value.length <= MOST_TEXT ? value : '';
};

/** A member that counts, as a number or as its text. */
export function countIn(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

/** Undefined for what is no JSON object. */
export function jsonObject(text: string): Fields | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A message that is a JSON object. Errors: `StreamFault`. */
export function jsonMessage(message: string | Uint8Array): Fields {
  if (typeof message !== 'string') throw new StreamFault(1003, 'messages are text');
  const fields = jsonObject(message);
  if (!fields) throw new StreamFault(1007, 'a message is no JSON object');
  return fields;
}

const CALL_ID = /^[\w:.-]{1,128}$/;

/** Undefined for what names no call. */
export function incomingOf(callId: string, from: string, to: string): IncomingCall | undefined {
  return CALL_ID.test(callId) && to !== '' ? { callId, from, to } : undefined;
}

const UTF8 = new TextDecoder();

export const bodyOf = ({ body }: Pick<Webhook, 'body'>): string => UTF8.decode(body);

const XML: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '>': '&gt;',
  '&': '&amp;',
  '"': '&quot;',
  "'": '&apos;',
};

/** What no document may have (XML 1.0, 2.2). */
const NO_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

export const xmlText = (text: string): string =>
  text.replace(NO_XML, '').replace(/[<>&"']/g, (character) => XML[character] ?? '');

/** A document of call instructions. */
export const xmlReply = (body: string): Reply => ({
  status: 200,
  headers: { 'content-type': 'text/xml; charset=utf-8' },
  body: `<?xml version="1.0" encoding="UTF-8"?><Response>${body}</Response>`,
});
