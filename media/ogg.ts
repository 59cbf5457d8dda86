/**
 * Ogg pages with one Opus stream (RFC 3533, RFC 7845). A page is closed once a second or when it is full, so a file
 * that is cut off loses a second at most and stays readable up to there.
 *
 * Invariants: no packet spans pages; a page's position is that of the last sample which ends on it, at 48 kHz; the
 * last page says that it is the last.
 */

/** Granule positions count samples at this rate, whatever the stream carries. */
export const OPUS_RATE = 48_000;
/** Samples that a decoder makes before the first that was encoded (the look-ahead of libopus); players leave them out. */
export const PRE_SKIP = 312;

const HEADER = 27;
const CRC_AT = 22;
const FIRST = 2;
const LAST = 4;
const CAPTURE = Buffer.from('OggS');
/** Most lacing values of one page, and the largest of them. */
const MOST_SEGMENTS = 255;
const SEGMENT = 255;
/** Header, lacing values and what they count. */
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

/** Lacing values of a packet: full segments, and one that is not full. */
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

/** A mono stream. What it returns goes to the file as it is. */
export class OggOpusWriter {
  #packets: Uint8Array[] = [];
  #segments = 0;
  #pages = 0;
  #position = 0;
  /** Where the open page began. */
  #since = 0;

  /** `serial` tells streams apart that are put into one file later. */
  constructor(private readonly serial: number) {}

  /** Samples in all. */
  get position(): number {
    return this.#position;
  }

  head(): Buffer {
    return Buffer.concat([this.#write([opusHead()], FIRST), this.#write([opusTags()], 0)]);
  }

  /** The page that was full, where there is one. `packet` is kept until its page is written: at most 65 KB. */
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
  /** Samples up to there, without those that players leave out. */
  readonly samples: number;
  /** Whether the stream was ended. */
  readonly ended: boolean;
}

/** So much of a file's end holds one whole page at least, where there is one. */
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

/** The last whole page in the end of a file; what was half written behind it does not count. */
export function lastPage(tail: Buffer): LastPage | undefined {
  for (let at = tail.lastIndexOf(CAPTURE); at >= 0; at = at > 0 ? tail.lastIndexOf(CAPTURE, at - 1) : -1) {
    const page = pageAt(tail, at);
    if (page) return page;
  }
  return undefined;
}
