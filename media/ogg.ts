/**
 * Ogg pages with one Opus stream (RFC 3533, RFC 7845). A page is closed once a second or when it is full, so a
 * truncated file loses a second at most and is readable up to there.
 *
 * Invariants: no packet spans pages; a page's position is that of the last sample that ends on it, at 48 kHz; the
 * last page is marked as the last.
 */

/** Granule positions count samples at this rate, whatever the rate of the input. */
export const OPUS_RATE = 48_000;
/** Samples that a decoder outputs before the first encoded one (the look-ahead of libopus); players skip them. */
export const PRE_SKIP = 312;

const HEADER = 27;
const CRC_AT = 22;
const FIRST = 2;
const LAST = 4;
const CAPTURE = Buffer.from('OggS');
/** Most lacing values of a page, and the largest lacing value. */
const MOST_SEGMENTS = 255;
const SEGMENT = 255;
/** Header, lacing values, and the segments that they count. */
const MOST_PAGE = HEADER + MOST_SEGMENTS + MOST_SEGMENTS * SEGMENT;
const PAGE_SAMPLES = OPUS_RATE;

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) value = value & 0x80000000 ? (value << 1) ^ 0x04c11db7 : value << 1;
  return value >>> 0;
});

function checksum(page: Uint8Array): number {
  let value = 0;
  for (const byte of page) value = ((value << 8) ^ (CRC[(value >>> 24) ^ byte] ?? 0)) >>> 0;
  return value;
}

/** Number of lacing values of a packet: full segments, and one that is not full. */
const segmentsOf = (packet: Uint8Array): number => Math.floor(packet.length / SEGMENT) + 1;

function lacing(packets: readonly Uint8Array[]): Buffer {
  const values = packets.flatMap((packet) => [
    ...Array<number>(segmentsOf(packet) - 1).fill(SEGMENT),
    packet.length % SEGMENT,
  ]);
  return Buffer.from(values);
}

function opusHead(): Buffer {
  const head = Buffer.alloc(19);
  head.write('OpusHead');
  head[8] = 1;
  head[9] = 1;
  head.writeUInt16LE(PRE_SKIP, 10);
  head.writeUInt32LE(OPUS_RATE, 12);
  return head;
}

function opusTags(): Buffer {
  const vendor = 'speech-gateway';
  const tags = Buffer.alloc(8 + 4 + vendor.length + 4);
  tags.write('OpusTags');
  tags.writeUInt32LE(vendor.length, 8);
  tags.write(vendor, 12);
  return tags;
}

/** A mono stream. Its methods return bytes to append to the file. */
export class OggOpusWriter {
  #packets: Uint8Array[] = [];
  #segments = 0;
  #pages = 0;
  #position = 0;
  /** Position at which the open page begins. */
  #since = 0;

  /** `serial` distinguishes streams that are later multiplexed into one file. */
  constructor(private readonly serial: number) {}

  /** Total samples. */
  get position(): number {
    return this.#position;
  }

  head(): Buffer {
    return Buffer.concat([this.#write([opusHead()], FIRST), this.#write([opusTags()], 0)]);
  }

  /** Adds a packet; returns the previous page if it was full. `packet` is kept until its page is written: at most 65 KB. */
  add(packet: Uint8Array, samples: number): Buffer | undefined {
    const full =
      this.#segments + segmentsOf(packet) > MOST_SEGMENTS || this.#position - this.#since >= PAGE_SAMPLES;
    const page = full ? this.#close(0) : undefined;
    this.#packets.push(packet);
    this.#segments += segmentsOf(packet);
    this.#position += samples;
    return page;
  }

  /** The last page. It may be empty. */
  end(): Buffer {
    return this.#close(LAST);
  }

  #close(flags: number): Buffer {
    const page = this.#write(this.#packets, flags);
    this.#packets = [];
    this.#segments = 0;
    this.#since = this.#position;
    return page;
  }

  #write(packets: readonly Uint8Array[], flags: number): Buffer {
    const table = lacing(packets);
    const header = Buffer.alloc(HEADER);
    CAPTURE.copy(header);
    header[5] = flags;
    header.writeBigUInt64LE(BigInt(this.#position), 6);
    header.writeUInt32LE(this.serial, 14);
    header.writeUInt32LE(this.#pages++, 18);
    header[26] = table.length;
    const page = Buffer.concat([header, table, ...packets]);
    page.writeUInt32LE(checksum(page), CRC_AT);
    return page;
  }
}

export interface LastPage {
  /** Samples up to its end, without those that players skip. */
  readonly samples: number;
  /** Whether the stream has ended. */
  readonly ended: boolean;
}

/** Bytes at a file's end that contain at least one whole page, if the file has any. */
export const TAIL_BYTES = 2 * MOST_PAGE;

function pageAt(bytes: Buffer, at: number): LastPage | undefined {
  if (at + HEADER > bytes.length) return undefined;
  const table = bytes.subarray(at + HEADER, at + HEADER + (bytes[at + 26] ?? 0));
  const end = at + HEADER + (bytes[at + 26] ?? 0) + table.reduce((sum, value) => sum + value, 0);
  if (end > bytes.length) return undefined;
  const page = Buffer.from(bytes.subarray(at, end));
  const stated = page.readUInt32LE(CRC_AT);
  page.writeUInt32LE(0, CRC_AT);
  if (checksum(page) !== stated) return undefined;
  const samples = Math.max(0, Number(page.readBigUInt64LE(6)) - PRE_SKIP);
  return { samples, ended: ((page[5] ?? 0) & LAST) !== 0 };
}

/** The last whole page in the tail of a file; a partly written page after it is ignored. */
export function lastPage(tail: Buffer): LastPage | undefined {
  for (let at = tail.lastIndexOf(CAPTURE); at >= 0; at = at > 0 ? tail.lastIndexOf(CAPTURE, at - 1) : -1) {
    const page = pageAt(tail, at);
    if (page) return page;
  }
  return undefined;
}
