/**
 * Base64 of a stream of bytes, in blocks that clients may concatenate and decode in one go (docs/contract/protocol-a.md 4.2):
 * only the last may be padded, since decoders stop at the first padding. Six bytes are whole base64 groups and whole samples.
 */
const GROUP = 6;
/** Bytes of the largest block. */
const MOST = 8192 * GROUP;

export class Base64Blocks {
  /** Bytes that do not fill a group yet. */
  #rest = Buffer.alloc(0);

  *push(bytes: Uint8Array): Generator<string> {
    const all = Buffer.concat([this.#rest, bytes]);
    const whole = all.length - (all.length % GROUP);
    this.#rest = all.subarray(whole);
    for (let at = 0; at < whole; at += MOST) yield all.toString('base64', at, Math.min(at + MOST, whole));
  }

  /** The last block, the only one that may be padded; empty if no bytes are left. */
  end(): string {
    return this.#rest.toString('base64');
  }
}
