/** JSON of large text frames, parsed in turns of the event loop. */
import { LIMITS } from '../../../contracts/limits.js';
import { decodeWhole } from '../bodies/long-base64.js';
import { readText } from '../bodies/long-text.js';
import { parseLongJson } from '../bodies/body.js';
import type { LongText } from './frame-queue.js';

const BACKSLASH = 0x5c;

/** What stands for a long string of base64: its bytes, undefined if it is none. */
export class DecodedBase64 {
  constructor(readonly bytes: Uint8Array | undefined) {}
}

async function decodedOf(content: Buffer): Promise<DecodedBase64> {
  const long = { content, size: content.length, escaped: content.includes(BACKSLASH) };
  return new DecodedBase64(await decodeWhole(long));
}

/**
 * The value of a frame. A string of 64 KiB and more that is named `base64` is a `DecodedBase64`; of any other one no more is read
 * than shows that it is longer than a text of a frame may be. Errors: `malformed_body`.
 */
export const parseLongText = ({ bytes }: LongText, base64?: string): Promise<unknown> =>
  parseLongJson(bytes, (content, name) =>
    name === base64 ? decodedOf(content) : readText({ content }, LIMITS.socket.textLength),
  );
