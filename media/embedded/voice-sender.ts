/** The agent's voice on its way out: playout to Opus to RTP, one frame a beat. It is encoded only while it speaks. */
import type { Encoder } from '@evan/opus';
import { bytesOf } from '../../contracts/audio.js';
import { encoders } from '../opus-pool.js';
import type { Playout } from '../playout.js';
import { RtpWriter } from './rtp.js';

/**
 * Bits a second. At the complexities 0 and 1 the encoder leaves spare copies out where it is given less (38,000 are too few), and
 * bits are cheaper than the processor: complexity 2 is as near to what was said as 5 is with 32,000, in 78 % of the time.
 */
const BITRATE = 40_000;
/** Packet loss that the encoder is told to expect, in percent, so that frames carry a spare copy of the last one. */
const EXPECTED_LOSS = 5;

export interface VoiceSenderOptions {
  readonly ssrc: number;
  readonly opusType: number;
  /** 0 to 10: quality against processor time. */
  readonly complexity: number;
}

export class VoiceSender {
  readonly #encoder: Encoder;
  #writer: RtpWriter;

  constructor(
    private readonly options: VoiceSenderOptions,
    private readonly playout: Playout,
    /** The packet, and the Opus in it, which is valid until the next one. */
    private readonly send: (packet: Buffer, opus: Uint8Array) => void,
  ) {
    this.#encoder = encoders.take();
    this.#encoder.bitrate = BITRATE;
    this.#encoder.inband_fec = true;
    this.#encoder.packet_loss = EXPECTED_LOSS;
    this.#encoder.complexity = options.complexity as Encoder['complexity'];
    this.#writer = new RtpWriter(options.ssrc, options.opusType);
  }

  /** The client's connection is new and names Opus so. */
  renew(opusType: number): void {
    this.#writer = new RtpWriter(this.options.ssrc, opusType);
  }

  /** Every 20 ms; true where something was said. Time stands still while nobody can hear it. */
  beat(connected: boolean): boolean {
    this.#writer.tick();
    const frame = connected ? this.playout.next() : undefined;
    if (!frame) return false;
    const opus = this.#encoder.encode(bytesOf(frame.samples));
    this.send(this.#writer.packet(opus, frame.begins), opus);
    return true;
  }

  /** Nothing is said any more. Called once. */
  close(): void {
    encoders.give(this.#encoder);
  }
}
