/**
 * Parses large JSON in turns of the event loop, as `JSON.parse` would in one: of a hundred megabytes of strings that takes more than a
 * second. Bounds of its structure are those of structure.ts.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isTurnOver } from '../../../contracts/time/loop-turn.js';
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
/** Bytes searched at once for the end of a string. */
const SEARCHED = 1024 * 1024;

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

  async document(): Promise<unknown> {
    this.#skipBlanks();
    const value = await this.#value(0);
    if (this.#at < this.bytes.length) throw noJson();
    return value;
  }

  /** The value at the current place, and the blanks behind it. */
  async #value(depth: number): Promise<unknown> {
    if (isTurnOver()) await nextTurn();
    const byte = this.bytes[this.#at];
    if (byte === OBJECT.open) return this.#object(depth + 1);
    if (byte === ARRAY.open) return this.#array(depth + 1);
    if (byte === QUOTE) return this.#string();
    return this.#literal();
  }

  async #object(depth: number): Promise<unknown> {
    const members: Record<string, unknown> = {};
    await this.#members(depth, OBJECT.close, async () => {
      const name = await this.#nameOf();
      if (!this.#take(COLON)) throw noJson();
      this.#name = name;
      put(members, name, await this.#value(depth));
    });
    return members;
  }

  async #array(depth: number): Promise<unknown> {
    const items: unknown[] = [];
    await this.#members(depth, ARRAY.close, async () => void items.push(await this.#value(depth)));
    return items;
  }

  async #members(depth: number, close: number, member: () => Promise<void>): Promise<void> {
    this.#count();
    if (depth > JSON_BOUNDS.depth) throw tooLarge();
    this.#step();
    if (this.#take(close)) return;
    for (;;) {
      await member();
      if (this.#take(close)) return;
      if (!this.#take(COMMA)) throw noJson();
      this.#count();
    }
  }

  async #nameOf(): Promise<string> {
    const text = await this.#quoted();
    return text.length < LONG ? textOf(text) : readText({ content: text });
  }

  async #string(): Promise<unknown> {
    const text = await this.#quoted();
    return text.length < LONG ? textOf(text) : this.readLong(text, this.#name);
  }

  /** The bytes between the quotes at the current place. */
  async #quoted(): Promise<Buffer> {
    if (this.bytes[this.#at] !== QUOTE) throw noJson();
    const start = this.#at + 1;
    const end = await this.#endOfString(start);
    const text = this.bytes.subarray(start, end);
    this.#at = end;
    this.#step();
    return text;
  }

  async #endOfString(start: number): Promise<number> {
    for (let from = start; from < this.bytes.length;) {
      const found = this.bytes.subarray(from, from + SEARCHED).indexOf(QUOTE);
      const end = from + found;
      if (found >= 0 && !(await this.#isEscaped(start, end))) return end;
      if (found >= 0) this.#escapes += 1;
      if (this.#escapes > JSON_BOUNDS.escapes) throw tooLarge();
      from += found < 0 ? SEARCHED : found + 1;
      if (isTurnOver()) await nextTurn();
    }
    throw noJson();
  }

  async #isEscaped(start: number, quote: number): Promise<boolean> {
    let before = quote - 1;
    while (before >= start && this.bytes[before] === BACKSLASH) {
      before -= 1;
      if (before % TURN_BYTES === 0 && isTurnOver()) await nextTurn();
    }
    return (quote - before) % 2 === 0;
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
): Promise<unknown> => new JsonWalk(bytes, readLong, mostNodes).document();
