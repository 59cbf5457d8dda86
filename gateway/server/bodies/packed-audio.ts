/**
 * MessagePack with audio in one long binary, up to 140 MiB: lifted out of the document as it arrives, like the strings of
 * JSON (long-strings.ts), so that it is never whole in memory.
 */
import { randomUUID } from 'node:crypto';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { StoredFile } from '../../../contracts/ports/speech/codec.js';
import { isPlainObject, type PlainObject } from '../../../contracts/schemas/plain-object.js';
import { ArrivingBytes, mostBytesOf } from './arriving-bytes.js';
import { ArrivingFile, type BodyStorage } from './arriving-file.js';
import { expectMediaType, isMsgpack, parseMsgpack } from './body.js';
import type { HttpRequest } from '../port.js';
import { tokenAt } from './structure.js';

/** Bytes from which a binary is lifted; fewer have a shorter head. */
const LONG = 64 * 1024;
const BIN_32 = 0xc6;
const HEAD_BYTES = 5;
/** A string of less than 256 bytes, and its length. */
const STR_8 = 0xd9;
const NOTHING = Buffer.alloc(0);

class PackedStrings {
  readonly lifted = new Map<string, Uint8Array | StoredFile>();
  readonly #rest: ArrivingBytes;
  readonly #restBytes: number;
  /** The beginning of a token whose head has not arrived completely. */
  #head: Buffer = NOTHING;
  /** Bytes of the current token that are still to come. */
  #left = 0;
  #long: ArrivingFile | undefined;

  constructor(
    private readonly request: BodyStorage,
    private readonly mostBytes: number,
  ) {
    this.#restBytes = Math.min(mostBytes, LIMITS.body.shortStrings);
    this.#rest = new ArrivingBytes(this.#restBytes, request.share('body'));
  }

  async add(chunk: Buffer): Promise<void> {
    const bytes = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    this.#head = NOTHING;
    for (let at = 0; at < bytes.length;) {
      if (this.#left > 0) at += await this.#pass(bytes.subarray(at, at + this.#left));
      else if (this.#begin(bytes, at)) at += this.#long ? HEAD_BYTES : 0;
      else {
        this.#head = Buffer.from(bytes.subarray(at));
        break;
      }
    }
    await this.#long?.room();
  }

  rest(): Uint8Array {
    if (this.#head.length > 0) this.#keep(this.#head);
    return this.#rest.whole();
  }

  clear(): void {
    this.#rest.clear();
    this.#long?.clear();
  }

  /** False if the token's head is incomplete. Errors: `malformed_body`. */
  #begin(bytes: Buffer, at: number): boolean {
    try {
      const { size } = tokenAt(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), at);
      const isLong = bytes[at] === BIN_32 && size >= LONG;
      this.#left = isLong ? size - HEAD_BYTES : size;
      if (isLong) this.#long = new ArrivingFile(this.request, this.mostBytes);
      return true;
    } catch (error) {
      if (error instanceof RangeError) return false;
      throw error;
    }
  }

  async #pass(part: Buffer): Promise<number> {
    this.#left -= part.length;
    if (!this.#long) this.#keep(part);
    else {
      this.#long.add(part);
      if (this.#left === 0) await this.#name(this.#long);
    }
    return part.length;
  }

  async #name(long: ArrivingFile): Promise<void> {
    const name = randomUUID();
    this.#long = undefined;
    this.lifted.set(name, await long.finish());
    this.#keep(Buffer.from([STR_8, name.length]));
    this.#keep(Buffer.from(name));
  }

  #keep(part: Uint8Array): void {
    if (this.#rest.length + part.length > this.#restBytes) throw new ServiceError('payload_too_large');
    this.#rest.add(part);
  }
}

/**
 * The members of a map, long binaries on disk. Errors: those of `request.body`, `unsupported_media_type`, `malformed_body`,
 * `memory_exhausted`, `storage_full`.
 */
export async function readPackedAudio(
  request: Pick<HttpRequest, 'headers' | 'body'> & BodyStorage,
  limitBytes: number,
): Promise<PlainObject> {
  expectMediaType(request.headers, isMsgpack);
  const packed = new PackedStrings(request, mostBytesOf(request.headers, limitBytes));
  try {
    for await (const chunk of request.body(limitBytes))
      await packed.add(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    const value = parseMsgpack(packed.rest());
    if (!isPlainObject(value)) return {};
    const members = Object.entries(value);
    return Object.fromEntries(
      members.map(([name, member]) => [name, packed.lifted.get(member as string) ?? member]),
    );
  } catch (error) {
    packed.clear();
    throw error;
  }
}
