/** An archive of texts, uncompressed (PKWARE's APPNOTE.TXT). Its files bear no date, so the same texts make the same archive. */

export interface ZippedText {
  /** With `/`. */
  readonly path: string;
  readonly text: string;
}

/** Version 2.0 of the format, and names in UTF-8. */
const VERSION = 20;
const UTF8 = 0x0800;
/** 1 January 1980, the format's first day. */
const DAY = 0x21;

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? 0xedb88320 ^ (rest >>> 1) : rest >>> 1;
  return rest;
});

const checksum = (bytes: Uint8Array): number =>
  ~bytes.reduce((crc, byte) => (CRC[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8), ~0) >>> 0;

/** Numbers of 2 and 4 bytes, little-endian. */
function record(...fields: readonly (readonly [size: 2 | 4, value: number])[]): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(fields.reduce((sum, [size]) => sum + size, 0)));
  let at = 0;
  for (const [size, value] of fields) {
    if (size === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += size;
  }
  return new Uint8Array(view.buffer);
}

/** What stands in front of a file, and again in the list at the end. */
function about(name: Uint8Array, content: Uint8Array) {
  const sizes = [
    [4, checksum(content)],
    [4, content.length],
    [4, content.length],
  ] as const;
  const how = [
    [2, VERSION],
    [2, UTF8],
    [2, 0],
    [2, 0],
    [2, DAY],
  ] as const;
  return [...how, ...sizes, [2, name.length], [2, 0]] as const;
}

export function zipOf(files: readonly ZippedText[]): Blob {
  const encoder = new TextEncoder();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const list: Uint8Array<ArrayBuffer>[] = [];
  const lengthOf = (some: readonly Uint8Array[]) => some.reduce((sum, { length }) => sum + length, 0);
  for (const { path, text } of files) {
    const [name, content] = [encoder.encode(path), encoder.encode(text)];
    const fields = about(name, content);
    const offset = lengthOf(parts);
    const rest = [
      [2, 0],
      [2, 0],
      [2, 0],
      [4, 0],
      [4, offset],
    ] as const;
    list.push(record([4, 0x02014b50], [2, VERSION], ...fields, ...rest), name);
    parts.push(record([4, 0x04034b50], ...fields), name, content);
  }
  const counts = [
    [2, files.length],
    [2, files.length],
  ] as const;
  const end = record(
    ...([
      [4, 0x06054b50],
      [2, 0],
      [2, 0],
    ] as const),
    ...counts,
    ...([
      [4, lengthOf(list)],
      [4, lengthOf(parts)],
      [2, 0],
    ] as const),
  );
  return new Blob([...parts, ...list, end], { type: 'application/zip' });
}
