/** The first bytes of an uploaded file, in memory or on disk, behind the tag that it may begin with. */
import { open } from 'node:fs/promises';
import type { StoredFile } from '../../contracts/ports/speech/codec.js';

/** More than whatever is looked for: the first chunks of a container, the first frames of a stream. */
const HEAD_BYTES = 256 * 1024;

export interface FileHead {
  /** The first bytes behind the tag. */
  readonly bytes: Uint8Array;
  /** Length of an ID3v2 tag before them. */
  readonly tag: number;
}

/** Some bytes of the file, fewer at its end. */
export async function bytesAt(file: StoredFile, at: number, length: number): Promise<Uint8Array> {
  const handle = await open(file.path);
  try {
    const buffer = Buffer.allocUnsafeSlow(Math.max(0, Math.min(length, file.size - at)));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

const ID3_HEADER_BYTES = 10;

/** Length of an ID3v2 tag at the start: a ten-byte header, and the size in its last four bytes, seven bits each. */
export function id3Length(bytes: Uint8Array): number {
  if (bytes.length < ID3_HEADER_BYTES || String.fromCharCode(...bytes.subarray(0, 3)) !== 'ID3') return 0;
  return (
    bytes.subarray(6, ID3_HEADER_BYTES).reduce((size, byte) => size * 128 + (byte & 0x7f), 0) +
    ID3_HEADER_BYTES
  );
}

export function headIn(file: Uint8Array): FileHead {
  const tag = id3Length(file);
  return { tag, bytes: file.subarray(tag, tag + HEAD_BYTES) };
}

export async function headOf(file: Uint8Array | StoredFile): Promise<FileHead> {
  if (file instanceof Uint8Array) return headIn(file);
  const tag = id3Length(await bytesAt(file, 0, ID3_HEADER_BYTES));
  return { tag, bytes: await bytesAt(file, tag, HEAD_BYTES) };
}
