/** Sends the agent's voice: playout to Opus to RTP, one frame per beat. Encodes only while the agent speaks. */
import type { Encoder } from '@evan/opus';
import { bytesOf } from '../../contracts/audio.js';
import { encoders } from '../opus-pool.js';
import type { Playout } from '../playout.js';
import { RtpWriter } from './rtp.js';

/**
 * Bits per second. At complexities 0 and 1 the encoder omits the spare copies (FEC) below this (38,000 are too few), and
 * bits cost less than processor time: complexity 2 is as faithful here as 5 is at 32,000, in 78 % of the time.
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
    /** The packet, the Opus in it, which is valid until the next one, and the utterance that it is of. */
    private readonly send: (packet: Buffer, opus: Uint8Array, utterance: number | undefined) => void,
  ) {
    this.#encoder = encoders.take();
    this.#encoder.bitrate = BITRATE;
    this.#encoder.inband_fec = true;
    this.#encoder.packet_loss = EXPECTED_LOSS;
    this.#encoder.complexity = options.complexity as Encoder['complexity'];
    this.#writer = new RtpWriter(options.ssrc, options.opusType);
  }

  /** The client has a new connection, with this payload type for Opus. */
  renew(opusType: number): void {
    this.#writer = new RtpWriter(this.options.ssrc, opusType);
  }

  /** Called every 20 ms; true if a frame was sent. Playout stops while the user is not connected. */
  beat(connected: boolean): boolean {
    this.#writer.tick();
    const frame = connected ? this.playout.next() : undefined;
    if (!frame) return false;
    const opus = this.#encoder.encode(bytesOf(frame.samples));
    this.send(this.#writer.packet(opus, frame.begins), opus, frame.utterance);
    return true;
  }

  /** Returns the encoder to its pool. Called once. */
  close(): void {
    encoders.give(this.#encoder);
  }
}
