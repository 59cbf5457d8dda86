/** Parses large MessagePack in turns of the event loop. Bounds of its structure are those of structure.ts. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Decoder } from '@msgpack/msgpack';
import { ServiceError } from '../../../contracts/errors.js';
import { inTurns, isTurnOver, type Steps } from '../../../contracts/time/loop-turn.js';
import { MSGPACK_BOUNDS, tokenAt, tooLarge } from './structure.js';

const STRING_32 = 0xdb;
const HEAD_BYTES = 5;
/** Bytes of a string decoded per turn. */
const PIECE = 256 * 1024;

/** Decodes one token at a time: making one of its own for each takes longer than most tokens. */
const SCALARS = new Decoder();

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

interface Token {
  readonly from: number;
  readonly size: number;
  readonly children: number;
  /** Its first one. */
  readonly byte: number;
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

  *document(): Steps<unknown> {
    const value = yield* this.#value(1);
    if (this.#at < this.bytes.length) throw new ServiceError('malformed_body');
    return value;
  }

  /** The token at the current place, which is passed. */
  #token(depth: number): Token {
    const from = this.#at;
    const { size, children } = tokenAt(this.#view, from);
    this.#at += size;
    this.#nodes += 1 + children;
    if (this.#at > this.bytes.length) throw new ServiceError('malformed_body');
    if (this.#nodes > MSGPACK_BOUNDS.nodes || depth > MSGPACK_BOUNDS.depth) throw tooLarge();
    return { from, size, children, byte: this.#view.getUint8(from) };
  }

  *#value(depth: number): Steps<unknown> {
    if (isTurnOver()) yield undefined;
    const { from, size, children, byte } = this.#token(depth);
    if (isMap(byte)) return yield* this.#map(children / 2, depth + 1);
    if (isArray(byte)) return yield* this.#array(children, depth + 1);
    const token = this.bytes.subarray(from, from + size);
    return byte === STRING_32 && size > PIECE
      ? yield readString(token.subarray(HEAD_BYTES), this.mostText)
      : SCALARS.decode(token);
  }

  *#array(length: number, depth: number): Steps<unknown> {
    const items: unknown[] = [];
    while (items.length < length) items.push(yield* this.#value(depth));
    return items;
  }

  *#map(length: number, depth: number): Steps<unknown> {
    const members: Record<string, unknown> = {};
    for (let read = 0; read < length; read += 1) {
      const name = yield* this.#value(depth);
      const isName = (typeof name === 'string' && name !== '__proto__') || typeof name === 'number';
      if (!isName) throw new ServiceError('malformed_body');
      members[name] = yield* this.#value(depth);
    }
    return members;
  }
}

/**
 * One MessagePack value and nothing after it. Binary fields are views of `bytes`. `mostText`: characters after which a string of 256 KiB
 * and more is not read on. Errors: `malformed_body`, those of the format.
 */
export const walkMsgpack = (bytes: Uint8Array, mostText = Infinity): Promise<unknown> =>
  inTurns(new MsgpackWalk(bytes, mostText).document());
