/** Parses large MessagePack in turns of the event loop. Bounds of its structure are those of structure.ts. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { decode } from '@msgpack/msgpack';
import { ServiceError } from '../../../contracts/errors.js';
import { isTurnOver } from '../../../contracts/time/loop-turn.js';
import { MSGPACK_BOUNDS, tokenAt, tooLarge } from './structure.js';

const STRING_32 = 0xdb;
const HEAD_BYTES = 5;
/** Bytes of a string decoded per turn. */
const PIECE = 256 * 1024;

const isMap = (byte: number): boolean => (byte & 0xf0) === 0x80 || byte === 0xde || byte === 0xdf;
const isArray = (byte: number): boolean => (byte & 0xf0) === 0x90 || byte === 0xdc || byte === 0xdd;

async function readString(bytes: Uint8Array, mostText: number): Promise<string> {
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  for (let at = 0, length = 0; at < bytes.length && length <= mostText; at += PIECE) {
    const piece = decoder.decode(bytes.subarray(at, at + PIECE), { stream: true });
    pieces.push(piece);
    length += piece.length;
    await nextTurn();
  }
  return pieces.join('') + decoder.decode();
}

class MsgpackWalk {
  readonly #view: DataView;
  #at = 0;
  #nodes = 0;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly mostText: number,
  ) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  async document(): Promise<unknown> {
    const value = await this.#value(1);
    if (this.#at < this.bytes.length) throw new ServiceError('malformed_body');
    return value;
  }

  async #value(depth: number): Promise<unknown> {
    if (isTurnOver()) await nextTurn();
    const from = this.#at;
    const { size, children } = tokenAt(this.#view, from);
    this.#at += size;
    this.#nodes += 1 + children;
    if (this.#at > this.bytes.length) throw new ServiceError('malformed_body');
    if (this.#nodes > MSGPACK_BOUNDS.nodes || depth > MSGPACK_BOUNDS.depth) throw tooLarge();
    const byte = this.#view.getUint8(from);
    if (isMap(byte)) return this.#map(children / 2, depth + 1);
    if (isArray(byte)) return this.#array(children, depth + 1);
    const token = this.bytes.subarray(from, this.#at);
    return byte === STRING_32 && size > PIECE
      ? readString(token.subarray(HEAD_BYTES), this.mostText)
      : decode(token);
  }

  async #array(length: number, depth: number): Promise<unknown> {
    const items: unknown[] = [];
    while (items.length < length) items.push(await this.#value(depth));
    return items;
  }

  async #map(length: number, depth: number): Promise<unknown> {
    const members: Record<string, unknown> = {};
    for (let read = 0; read < length; read += 1) {
      const name = await this.#value(depth);
      const isName = (typeof name === 'string' && name !== '__proto__') || typeof name === 'number';
      if (!isName) throw new ServiceError('malformed_body');
      members[name] = await this.#value(depth);
    }
    return members;
  }
}

/**
 * One MessagePack value and nothing after it. Binary fields are views of `bytes`. `mostText`: characters after which a string of 256 KiB
 * and more is not read on. Errors: `malformed_body`, those of the format.
 */
export const walkMsgpack = (bytes: Uint8Array, mostText = Infinity): Promise<unknown> =>
  new MsgpackWalk(bytes, mostText).document();
