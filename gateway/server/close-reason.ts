/** The reason in a close frame. */

/** RFC 6455 section 5.5: a control frame holds 125 bytes, two of which are the code. */
const REASON_BYTES = 123;

/** Shortens a reason to the size of a close frame, never inside a character. */
export function fitReason(reason: string): string {
  const bytes = Buffer.from(reason);
  if (bytes.byteLength <= REASON_BYTES) return reason;
  let end = REASON_BYTES;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
