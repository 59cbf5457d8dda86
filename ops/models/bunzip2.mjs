/**
 * bzip2, a block at a time, as sherpa-onnx packs its releases and Node cannot unpack. The input is not trusted: every
 * number is checked before it is used, both checksums are compared, and what ends early is an error. A block is decoded
 * at once, from at most `BLOCK_BYTES` of input; streams that follow one another count as one, as parallel packers make.
 */
import { setImmediate as turn } from 'node:timers/promises';

/** 900 001 symbols of 20 bits, and the tables before them. */
const BLOCK_BYTES = 2_400_000;
const LEVEL_BYTES = 100_000;
const GROUP = 50;
const LONGEST_CODE = 20;
const MOST_SYMBOLS = 258;
const OUTPUT_BYTES = 1 << 20;
const BLOCK_MAGIC = 0x314159265359;
const END_MAGIC = 0x177245385090;

export class Bzip2Error extends Error {}

const ends = () => new Bzip2Error('it ends early');
const damaged = (what) => new Bzip2Error(`its ${what} is damaged`);

const CRC = Int32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte << 24;
  for (let bit = 0; bit < 8; bit++) sum = sum < 0 ? (sum << 1) ^ 0x04c11db7 : sum << 1;
  return sum;
});

/** A window of the input that is read bit by bit. Beyond its end there are zeros; `check` tells. */
class Bits {
  #chunks;
  bytes = Buffer.alloc(0);
  /** In bits. */
  at = 0;

  constructor(chunks) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Has `wanted` bytes from here on, or all that there are. Returns whether there is any. */
  async fill(wanted) {
    const read = this.at >> 3;
    const parts = [this.bytes.subarray(read)];
    let have = parts[0].length;
    while (have < wanted) {
      const { value, done } = await this.#chunks.next();
      if (done) break;
      parts.push(value);
      have += value.length;
    }
    if (parts.length > 1 || read > 0) this.bytes = Buffer.concat(parts);
    this.at &= 7;
    return have > 0;
  }

  /** The next 20 bits, which stay. */
  peek() {
    const { bytes } = this;
    const byte = this.at >> 3;
    const word = (bytes[byte] << 24) | (bytes[byte + 1] << 16) | (bytes[byte + 2] << 8) | bytes[byte + 3];
    return (word << (this.at & 7)) >>> 12;
  }

  /** Up to 20 bits as a number. */
  take(count) {
    const value = this.peek() >>> (LONGEST_CODE - count);
    this.at += count;
    return value;
  }

  takeLong(count) {
    let value = 0;
    for (let left = count; left > 0; left -= 8) value = value * 256 + this.take(8);
    return value;
  }

  align() {
    this.at = (this.at + 7) & ~7;
  }

  check() {
    if (this.at > this.bytes.length * 8) throw ends();
  }
}

/** The bytes that the block uses, in order. */
function readUsed(bits) {
  const used = [];
  const rows = bits.take(16);
  for (let row = 0; row < 16; row++) {
    if (!(rows & (0x8000 >> row))) continue;
    const columns = bits.take(16);
    for (let column = 0; column < 16; column++)
      if (columns & (0x8000 >> column)) used.push(row * 16 + column);
  }
  if (used.length === 0) throw damaged('alphabet');
  return Uint8Array.from(used);
}

/** The number of the table that codes each group of 50 symbols. */
function readSelectors(bits, tables) {
  const count = bits.take(15);
  if (count === 0) throw damaged('selection');
  const order = Array.from({ length: tables }, (_, table) => table);
  return Uint8Array.from({ length: count }, () => {
    let place = 0;
    while (bits.take(1)) if (++place >= tables) throw damaged('selection');
    order.unshift(...order.splice(place, 1));
    return order[0];
  });
}

function readLengths(bits, symbols) {
  let length = bits.take(5);
  return Uint8Array.from({ length: symbols }, () => {
    while (bits.take(1)) {
      length += bits.take(1) ? -1 : 1;
      bits.check();
    }
    if (length < 1 || length > LONGEST_CODE) throw damaged('code');
    return length;
  });
}

/**
 * A canonical Huffman code: `limits[length]` is the first 20 bits that no code of that length begins with, `firsts` the
 * place of its first symbol in `sorted`, less its first code.
 */
function codeOf(lengths) {
  const sorted = new Uint16Array(lengths.length);
  const limits = new Int32Array(LONGEST_CODE + 2);
  const firsts = new Int32Array(LONGEST_CODE + 1);
  let placed = 0;
  let code = 0;
  for (let length = 1; length <= LONGEST_CODE; length++) {
    firsts[length] = placed - code;
    for (let symbol = 0; symbol < lengths.length; symbol++)
      if (lengths[symbol] === length) sorted[placed++] = symbol;
    code += placed - (firsts[length] + code);
    limits[length] = code << (LONGEST_CODE - length);
    code <<= 1;
  }
  return { sorted, limits, firsts };
}

function readSymbol(bits, { sorted, limits, firsts }) {
  const next = bits.peek();
  let length = 1;
  while (next >= limits[length]) if (++length > LONGEST_CODE) throw damaged('code');
  bits.at += length;
  return sorted[firsts[length] + (next >>> (LONGEST_CODE - length))];
}

function readCodes(bits, symbols) {
  const tables = bits.take(3);
  if (tables < 2 || tables > 6 || symbols > MOST_SYMBOLS) throw damaged('table');
  const selectors = readSelectors(bits, tables);
  const codes = Array.from({ length: tables }, () => codeOf(readLengths(bits, symbols)));
  return { codes, selectors };
}

/** Brings the byte at `place` to the front, and returns it. */
function toFront(order, place) {
  const byte = order[place];
  for (let at = place; at > 0; at--) order[at] = order[at - 1];
  order[0] = byte;
  return byte;
}

/** The sorted bytes of a block as they are decoded: runs of the byte in front, and bytes that come to the front. */
class Sorted {
  #order;
  #block;
  #run = 0;
  #weight = 1;
  count = 0;

  constructor(order, block) {
    this.#order = order;
    this.#block = block;
  }

  take(symbol) {
    if (symbol > 1) {
      this.endRun();
      if (this.count === this.#block.length) throw damaged('length');
      this.#block[this.count++] = toFront(this.#order, symbol - 1);
      return;
    }
    this.#run += this.#weight << symbol;
    this.#weight <<= 1;
    if (this.#run > this.#block.length - this.count) throw damaged('length');
  }

  endRun() {
    if (this.#run === 0) return;
    this.#block.fill(this.#order[0], this.count, this.count + this.#run);
    this.count += this.#run;
    this.#run = 0;
    this.#weight = 1;
  }
}

/** Fills `block` with the sorted bytes; returns how many. */
function readSorted(bits, block) {
  const order = readUsed(bits);
  const end = order.length + 1;
  const { codes, selectors } = readCodes(bits, end + 1);
  const sorted = new Sorted(order, block);
  for (const selector of selectors) {
    for (let left = GROUP; left > 0; left--) {
      const symbol = readSymbol(bits, codes[selector]);
      if (symbol === end) {
        sorted.endRun();
        return sorted.count;
      }
      sorted.take(symbol);
    }
    bits.check();
  }
  throw damaged('end');
}

/** Behind each byte, from bit 8 on, the place of the one that follows it in the text. */
function linkBack(block, count) {
  const starts = new Uint32Array(257);
  for (let at = 0; at < count; at++) starts[block[at] + 1]++;
  for (let byte = 0; byte < 256; byte++) starts[byte + 1] += starts[byte];
  for (let at = 0; at < count; at++) block[starts[block[at] & 0xff]++] |= at << 8;
}

/** The text: four bytes alike are followed by how many more there are. Throws at its end where its checksum differs. */
function* readText(block, count, first, wanted) {
  let out = Buffer.allocUnsafe(OUTPUT_BYTES);
  let [length, alike, before, sum] = [0, 0, -1, -1];
  let link = block[first] >>> 8;
  for (let left = count; left > 0; left--) {
    link = block[link];
    const byte = link & 0xff;
    link >>>= 8;
    const isCount = alike === 4;
    const times = isCount ? byte : 1;
    const written = isCount ? before : byte;
    alike = isCount ? 0 : byte === before ? alike + 1 : 1;
    before = isCount ? -1 : byte;
    for (let n = 0; n < times; n++) {
      out[length++] = written;
      sum = (sum << 8) ^ CRC[(sum >>> 24) ^ written];
    }
    if (length + 256 < OUTPUT_BYTES) continue;
    yield out.subarray(0, length);
    [out, length] = [Buffer.allocUnsafe(OUTPUT_BYTES), 0];
  }
  if (~sum >>> 0 !== wanted) throw damaged('content');
  yield out.subarray(0, length);
}

/** One block behind its magic number; returns its checksum. */
function* readBlock(bits, room) {
  const sum = bits.takeLong(32);
  if (bits.take(1)) throw new Bzip2Error('it was made by a version that is too old');
  const first = bits.takeLong(24);
  const block = new Uint32Array(room);
  const count = readSorted(bits, block);
  bits.check();
  if (first >= count) throw damaged('start');
  linkBack(block, count);
  yield* readText(block, count, first, sum);
  return sum;
}

function readLevel(bits) {
  const magic = bits.takeLong(24);
  const level = bits.take(8) - 0x30;
  if (magic !== 0x425a68 || level < 1 || level > 9) throw damaged('header');
  return level;
}

/** One stream. */
async function* readStream(bits) {
  const room = readLevel(bits) * LEVEL_BYTES;
  let total = 0;
  for (;;) {
    await bits.fill(BLOCK_BYTES);
    const magic = bits.takeLong(48);
    if (magic === END_MAGIC) break;
    bits.check();
    if (magic !== BLOCK_MAGIC) throw damaged('block');
    const sum = yield* readBlock(bits, room);
    total = ((total << 1) | (total >>> 31)) ^ sum;
    await turn();
  }
  if (bits.takeLong(32) !== total >>> 0) throw damaged('checksum');
  bits.check();
  bits.align();
}

/** Unpacks chunks into chunks. Throws Bzip2Error. */
export async function* bunzip2(chunks) {
  const bits = new Bits(chunks);
  if (!(await bits.fill(BLOCK_BYTES))) throw ends();
  do yield* readStream(bits);
  while (await bits.fill(BLOCK_BYTES));
}
