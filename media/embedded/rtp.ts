/** RTP packets (RFC 3550), limited to one Opus stream in each direction. */

/** The payload type that we offer for Opus; a client's offer may name another. */
export const OPUS_TYPE = 111;
/** Opus timestamps always count at 48 kHz (RFC 7587). */
export const OPUS_CLOCK = 48_000;
export const CLOCK_PER_FRAME = OPUS_CLOCK / 50;

const HEADER = 12;

export interface RtpPacket {
  /** Identifies a stream of the client. */
  readonly ssrc: number;
  readonly sequence: number;
  readonly timestamp: number;
  readonly payload: Uint8Array;
}

/** Undefined if it is not RTP with a payload of that type; RTCP arrives on the same path. */
export function readRtp(bytes: Buffer, type: number): RtpPacket | undefined {
  const [first = 0, second = 0] = bytes;
  if (bytes.length <= HEADER || first >> 6 !== 2 || (second & 0x7f) !== type) return undefined;
  let from = HEADER + 4 * (first & 0x0f);
  if (first & 0x10) {
    if (bytes.length < from + 4) return undefined;
    from += 4 + 4 * bytes.readUInt16BE(from + 2);
  }
  const padding = first & 0x20 ? (bytes.at(-1) ?? 0) : 0;
  if (from >= bytes.length - padding) return undefined;
  return {
    sequence: bytes.readUInt16BE(2),
    timestamp: bytes.readUInt32BE(4),
    ssrc: bytes.readUInt32BE(8),
    payload: bytes.subarray(from, bytes.length - padding),
  };
}

/** How far `sequence` is ahead of `last`, from -32,768 to 32,767. */
export const ahead = (sequence: number, last: number): number => ((sequence - last) << 16) >> 16;

/** The stream that we send. Its timestamp advances even while nothing is sent. */
export class RtpWriter {
  #sequence = 0;
  #timestamp = 0;

  constructor(
    readonly ssrc: number,
    private readonly type: number,
  ) {}

  /** Advances by one frame. */
  tick(): void {
    this.#timestamp = (this.#timestamp + CLOCK_PER_FRAME) >>> 0;
  }

  packet(payload: Uint8Array, begins: boolean): Buffer {
    const packet = Buffer.allocUnsafe(HEADER + payload.length);
    packet[0] = 0x80;
    packet[1] = this.type | (begins ? 0x80 : 0);
    packet.writeUInt16BE(this.#sequence, 2);
    packet.writeUInt32BE(this.#timestamp, 4);
    packet.writeUInt32BE(this.ssrc, 8);
    packet.set(payload, HEADER);
    this.#sequence = (this.#sequence + 1) & 0xffff;
    return packet;
  }
}
