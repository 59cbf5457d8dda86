/**
 * Parses large JSON in turns of the event loop, as `JSON.parse` would in one: of a hundred megabytes of strings that takes more than a
 * second. Bounds of its structure are those of structure.ts.
 */
import { inTurns, isTurnOver, type Steps } from '../../../contracts/time/loop-turn.js';
import { readText, textOf } from './long-text.js';
import { JSON_BOUNDS, noJson, tooLarge } from './structure.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OBJECT = { open: 0x7b, close: 0x7d };
const ARRAY = { open: 0x5b, close: 0x5d };
const LITERAL = /^[-+.0-9A-Za-z]*/;
/** No number or name of JSON is longer. */
const LITERAL_BYTES = 400;
/** Bytes from which a string is long. */
const LONG = 64 * 1024;
/** Bytes looked at one by one before the time is. */
const TURN_BYTES = 64 * 1024;

/** Reads a long string from the bytes between its quotes; `name`: of the member that it is the value of, or of the one that it lies in. */
export type ReadLong = (bytes: Buffer, name: string) => unknown;

const isBlank = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

class JsonWalk {
  #at = 0;
  #nodes = 0;
  #escapes = 0;
  #outside = 0;
  /** The last name of a member. */
  #name = '';

  constructor(
    private readonly bytes: Buffer,
    private readonly readLong: ReadLong,
    private readonly mostNodes: number,
  ) {}

  *document(): Steps<unknown> {
    this.#skipBlanks();
    const value = yield* this.#value(0);
    if (this.#at < this.bytes.length) throw noJson();
    return value;
  }

  /** The value at the current place, and the blanks behind it. */
  *#value(depth: number): Steps<unknown> {
    if (isTurnOver()) yield undefined;
    const byte = this.bytes[this.#at];
    if (byte === OBJECT.open) return yield* this.#object(depth + 1);
    if (byte === ARRAY.open) return yield* this.#array(depth + 1);
    if (byte !== QUOTE) return this.#literal();
    return this.#shortString() ?? (yield* this.#string((text) => this.readLong(text, this.#name)));
  }

  *#object(depth: number): Steps<unknown> {
    const members: Record<string, unknown> = {};
    for (let goesOn = this.#enter(depth, OBJECT.close); goesOn; goesOn = this.#goesOn(OBJECT.close)) {
      const name = this.#shortString() ?? (yield* this.#string((content) => readText({ content })));
      if (!this.#take(COLON)) throw noJson();
      this.#name = name as string;
      put(members, this.#name, this.#shortString() ?? (yield* this.#value(depth)));
    }
    return members;
  }

  *#array(depth: number): Steps<unknown> {
    const items: unknown[] = [];
    for (let goesOn = this.#enter(depth, ARRAY.close); goesOn; goesOn = this.#goesOn(ARRAY.close)) {
      items.push(this.#shortString() ?? (yield* this.#value(depth)));
      if (isTurnOver()) yield undefined;
    }
    return items;
  }

  /** Whether the object or array that begins at the current place has any members. */
  #enter(depth: number, close: number): boolean {
    this.#count();
    if (depth > JSON_BOUNDS.depth) throw tooLarge();
    this.#step();
    return !this.#take(close);
  }

  #goesOn(close: number): boolean {
    if (this.#take(close)) return false;
    if (!this.#take(COMMA)) throw noJson();
    this.#count();
    return true;
  }

  /** The string at the current place, if there is one that is short and has no escapes. */
  #shortString(): string | undefined {
    const { bytes } = this;
    if (bytes[this.#at] !== QUOTE) return undefined;
    const start = this.#at + 1;
    const end = bytes.subarray(start, start + LONG).indexOf(QUOTE) + start;
    if (end < start || bytes[end - 1] === BACKSLASH) return undefined;
    this.#at = end;
    this.#step();
    return textOf(bytes.subarray(start, end));
  }

  /** The string at the current place, as `read` does it if it is long. */
  *#string(read: (text: Buffer) => unknown): Steps<unknown> {
    if (this.bytes[this.#at] !== QUOTE) throw noJson();
    const start = this.#at + 1;
    const end = yield* this.#endOfString(start);
    const text = this.bytes.subarray(start, end);
    this.#at = end;
    this.#step();
    if (text.length < LONG) return textOf(text);
    const value = read(text);
    return value instanceof Promise ? yield value : value;
  }

  /** The quote that ends the string. */
  *#endOfString(start: number): Steps<number> {
    for (let from = start; from < this.bytes.length;) {
      const until = from + TURN_BYTES;
      const piece = this.bytes.subarray(from, until);
      const [quote, escape] = [piece.indexOf(QUOTE), piece.indexOf(BACKSLASH)];
      if (quote >= 0 && (escape < 0 || quote < escape)) return from + quote;
      from = escape < 0 ? until : this.#pastEscapes(from + escape, until);
      if (this.#escapes > JSON_BOUNDS.escapes) throw tooLarge();
      if (this.bytes[from] === QUOTE && from < until) return from;
      if (isTurnOver()) yield undefined;
    }
    throw noJson();
  }

  /** The next quote that is not escaped, or where the search goes on. */
  #pastEscapes(from: number, until: number): number {
    const { bytes } = this;
    let at = from;
    while (at < until && bytes[at] !== QUOTE) {
      const isEscape = bytes[at] === BACKSLASH;
      if (isEscape && bytes[at + 1] === QUOTE) this.#escapes += 1;
      at += isEscape ? 2 : 1;
    }
    return at;
  }

  #literal(): unknown {
    const [text] = LITERAL.exec(this.bytes.toString('latin1', this.#at, this.#at + LITERAL_BYTES)) ?? [''];
    this.#at += text.length;
    this.#skipBlanks();
    try {
      return JSON.parse(text) as unknown;
    } catch (cause) {
      throw noJson(cause);
    }
  }

  #take(byte: number): boolean {
    if (this.bytes[this.#at] !== byte) return false;
    this.#step();
    return true;
  }

  /** Past one byte of structure, and the blanks behind it. */
  #step(): void {
    this.#at += 1;
    this.#skipBlanks();
  }

  #skipBlanks(): void {
    const { bytes } = this;
    const from = this.#at;
    const most = from + JSON_BOUNDS.outside - this.#outside;
    let at = from;
    while (at <= most && isBlank(bytes[at])) at += 1;
    if (at > most) throw tooLarge('The request body has too much outside of its strings');
    this.#at = at;
    this.#outside += at - from;
  }

  #count(): void {
    this.#nodes += 1;
    if (this.#nodes > this.mostNodes) throw tooLarge();
  }
}

/** As `JSON.parse`, for which `__proto__` is a name like any other. */
function put(members: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') members[name] = value;
  else Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true });
}

/** UTF-8 JSON of any value and size. `readLong`: reads strings of 64 KiB and more. Errors: `malformed_body`. */
export const walkJson = (
  bytes: Buffer,
  readLong: ReadLong = (content) => readText({ content }),
  mostNodes = JSON_BOUNDS.nodes,
): Promise<unknown> => inTurns(new JsonWalk(bytes, readLong, mostNodes).document());
