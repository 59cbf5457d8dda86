/**
 * The entries of a tokenizer by their bytes: a hash table in typed arrays, with open addressing. The 200,000 entries are
 * read in some 30 ms and take 5 MB; as a Map of strings they take half a second and 50 MB.
 */

/** The value of each base64 character, by its code. */
const BASE64 = new Uint8Array(128);
for (const [value, sign] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries())
  BASE64[sign.charCodeAt(0)] = value;
const SPACE = 0x20;
const PADDING = 0x3d;

/** Slots are at most half full: a search takes two steps on average. */
const SLOTS = 2 ** 19;
const FREE = 0;

function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  return (hash ^ (hash >>> 15)) & (SLOTS - 1);
}

export class TokenVocabulary {
  /** All entries, one behind the other. */
  readonly #bytes: Uint8Array;
  /** Where the entry of each rank begins, and at last where the last one ends. */
  readonly #starts = new Int32Array(SLOTS / 2 + 1);
  /** One more than the rank of the entry in the slot. */
  readonly #slots = new Int32Array(SLOTS);
  #size = 0;

  /** `entries`: in base64, with spaces between, in the order of their ranks. */
  constructor(entries: string) {
    this.#bytes = new Uint8Array(entries.length);
    this.#read(Buffer.from(`${entries} `, 'latin1'));
  }

  /** The rank of the entry with the bytes from `from` to `to`, -1 if there is none. */
  rankOf(bytes: Uint8Array, from: number, to: number): number {
    let slot = hashOf(bytes, from, to);
    for (let rank; (rank = this.#slots[slot]! - 1) >= 0; slot = (slot + 1) & (SLOTS - 1))
      if (this.#is(rank, bytes, from, to)) return rank;
    return -1;
  }

  #is(rank: number, bytes: Uint8Array, from: number, to: number): boolean {
    const start = this.#starts[rank]!;
    if (this.#starts[rank + 1]! - start !== to - from) return false;
    for (let at = from; at < to; at++) if (this.#bytes[start + at - from] !== bytes[at]) return false;
    return true;
  }

  #read(signs: Uint8Array): void {
    const bytes = this.#bytes;
    let end = 0;
    for (let at = 0, bits = 0, held = 0; at < signs.length; at++) {
      const sign = signs[at]!;
      if (sign === SPACE) {
        this.#add(end);
        held = 0;
      } else if (sign !== PADDING) {
        bits = (bits << 6) | BASE64[sign]!;
        held += 6;
        if (held >= 8) bytes[end++] = bits >> (held -= 8);
      }
    }
  }

  /** The bytes up to `end` that belong to no entry yet are the next one. */
  #add(end: number): void {
    if (this.#size === SLOTS / 2) throw new Error('The vocabulary is too large');
    let slot = hashOf(this.#bytes, this.#starts[this.#size]!, end);
    while (this.#slots[slot] !== FREE) slot = (slot + 1) & (SLOTS - 1);
    this.#slots[slot] = ++this.#size;
    this.#starts[this.#size] = end;
  }
}
