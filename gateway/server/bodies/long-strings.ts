/**
 * Lifts long strings out of JSON while it arrives, so that a document with a hundred megabytes of audio is never whole in
 * memory: they go to disk, and the document keeps a name in the place of each.
 *
 * Invariant: nobody can guess these names, so a document cannot contain one itself.
 */
import { randomUUID } from 'node:crypto';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { StoredFile } from '../../../contracts/ports/speech/codec.js';
import { ArrivingBytes } from './arriving-bytes.js';
import { ArrivingFile, type BodyStorage } from './arriving-file.js';
import { JSON_BOUNDS, tooLarge } from './structure.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const CLOSING = Buffer.from('"');
/** Bytes from which a string is lifted. */
const LONG = 64 * 1024;

export interface LongString {
  /** The text between the quotes, with its escapes. */
  readonly content: Uint8Array | StoredFile;
  readonly size: number;
  readonly escaped: boolean;
}

/** Length of the run of backslashes before `at`, and whether it begins at `from`. */
function runBefore(
  bytes: Buffer,
  from: number,
  at: number,
): { readonly length: number; readonly whole: boolean } {
  let start = at;
  while (start > from && bytes[start - 1] === BACKSLASH) start -= 1;
  return { length: at - start, whole: start === from };
}

export class LongStrings {
  readonly lifted = new Map<string, LongString>();
  readonly #prefix = randomUUID();
  readonly #rest: ArrivingBytes;
  readonly #restBytes: number;
  #inString = false;
  #strings = 0;
  /** Whether the byte to come is escaped. */
  #escapes = false;
  /** The string that arrives, while it is short. */
  readonly #short: ArrivingBytes;
  #size = 0;
  #escaped = false;
  #long: ArrivingFile | undefined;
  /** A long string that has ended and has no name yet. */
  #complete: ArrivingFile | undefined;

  /** `mostBytes`: of the whole document. */
  constructor(
    private readonly request: BodyStorage,
    private readonly mostBytes: number,
  ) {
    this.#restBytes = Math.min(mostBytes, LIMITS.body.shortStrings);
    this.#short = new ArrivingBytes(LONG, request.share('body'));
    this.#rest = new ArrivingBytes(this.#restBytes, request.share('body'));
  }

  /** `chunk` is lent until this resolves. Errors: `payload_too_large`, `memory_exhausted`, `storage_full`, `malformed_body` for too many strings. */
  async add(chunk: Buffer): Promise<void> {
    for (let at = 0; at < chunk.length;) {
      at = this.#inString ? this.#within(chunk, at) : this.#outside(chunk, at);
      // Only a long string waits for its file: a promise for each of 200,000 short ones would take a second.
      if (this.#complete) await this.#name(this.#complete);
    }
    await this.#long?.room();
  }

  /** The document with a name for each long string. */
  rest(): Uint8Array {
    return this.#rest.whole();
  }

  /** Gives everything back. */
  clear(): void {
    this.#short.clear();
    this.#rest.clear();
    this.#long?.clear();
    this.#complete?.clear();
  }

  #outside(chunk: Buffer, at: number): number {
    const open = chunk.indexOf(QUOTE, at);
    const end = open < 0 ? chunk.length : open + 1;
    this.#keep(chunk.subarray(at, end));
    if (open >= 0) this.#open();
    return end;
  }

  /** A name and a value are two strings of one node; more than that is refused before the rest arrives. */
  #open(): void {
    this.#inString = true;
    this.#strings += 1;
    if (this.#strings > 2 * JSON_BOUNDS.nodes) throw tooLarge();
  }

  #within(chunk: Buffer, from: number): number {
    const close = this.#closing(chunk, from);
    if (close >= 0 && this.#size === 0 && close - from < LONG) return this.#pass(chunk, from, close + 1);
    const end = close < 0 ? chunk.length : close;
    this.#extend(chunk.subarray(from, end));
    if (close < 0) {
      this.#escapes = this.#isEscaped(chunk, from, end);
      return end;
    }
    this.#endString();
    return close + 1;
  }

  /** Keeps a short string that is all there, and its quote. */
  #pass(chunk: Buffer, from: number, to: number): number {
    this.#keep(chunk.subarray(from, to));
    this.#inString = false;
    this.#escapes = false;
    return to;
  }

  /** The quote that ends the string; negative if it has not arrived yet. */
  #closing(chunk: Buffer, from: number): number {
    const quote = chunk.indexOf(QUOTE, from);
    if (quote < 0 || !this.#isEscaped(chunk, from, quote)) return quote;
    // Byte by byte, since a search for each of many escaped quotes takes longer.
    let at = from + (this.#escapes ? 1 : 0);
    while (at < chunk.length && chunk[at] !== QUOTE) at += chunk[at] === BACKSLASH ? 2 : 1;
    return at < chunk.length ? at : -1;
  }

  #isEscaped(chunk: Buffer, from: number, at: number): boolean {
    const { length, whole } = runBefore(chunk, from, at);
    return (length + (whole && this.#escapes ? 1 : 0)) % 2 === 1;
  }

  #extend(part: Buffer): void {
    this.#size += part.length;
    this.#escaped ||= part.includes(BACKSLASH);
    if (!this.#long && this.#size < LONG) return this.#short.add(part);
    this.#long ??= this.#lift();
    this.#long.add(part);
  }

  #lift(): ArrivingFile {
    const long = new ArrivingFile(this.request, this.mostBytes);
    long.add(this.#short.whole());
    this.#short.clear();
    return long;
  }

  /** A long one keeps its place open until it has a name. */
  #endString(): void {
    this.#complete = this.#long;
    if (!this.#long) {
      this.#keepShort();
      this.#keep(CLOSING);
      this.#escaped = false;
    }
    this.#inString = false;
    this.#escapes = false;
    this.#long = undefined;
    this.#size = 0;
  }

  #keepShort(): void {
    if (this.#size === 0) return;
    this.#keep(this.#short.whole());
    this.#short.clear();
  }

  async #name(long: ArrivingFile): Promise<void> {
    const name = `${this.#prefix}-${this.lifted.size}`;
    const { size } = long;
    this.lifted.set(name, { content: await long.finish(), size, escaped: this.#escaped });
    this.#complete = undefined;
    this.#escaped = false;
    this.#keep(Buffer.from(`${name}"`));
  }

  #keep(part: Uint8Array): void {
    if (part.length === 0) return;
    if (this.#rest.length + part.length > this.#restBytes) throw new ServiceError('payload_too_large');
    this.#rest.add(part);
  }
}
