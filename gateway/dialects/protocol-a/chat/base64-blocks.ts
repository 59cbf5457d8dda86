/**
 * Base64 of bytes that stream by, in blocks whose text may be put together and decoded at once: clients do that
 * (docs/contract/protocol-a.md 4.2), and decoders stop at the first padding. Six bytes are whole groups of base64 and whole samples.
 */
const GROUP = 6;
/** Bytes of the largest block. */
const MOST = 8192 * GROUP;

export class Base64Blocks {
  /** Less than a group, waiting for more. */
  #rest = Buffer.alloc(0);

  *push(bytes: Uint8Array): Generator<string> {
    const all = Buffer.concat([this.#rest, bytes]);
    const whole = all.length - (all.length % GROUP);
    this.#rest = all.subarray(whole);
    for (let at = 0; at < whole; at += MOST) yield all.toString('base64', at, Math.min(at + MOST, whole));
  }

  /** The last block, which alone may be padded; empty where nothing waits. */
  end(): string {
    return this.#rest.toString('base64');
  }
}
