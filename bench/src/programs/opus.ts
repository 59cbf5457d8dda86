/**
 * The Opus of calls and nothing else: as many packets are decoded as callers sent, and as many frames encoded as they heard,
 * with the library, the rates and the effort of the gateway. The least that its media process can do.
 */
import { Decoder, Encoder } from '@evan/opus';
import { encodeUtterance, RATE, SILENCE } from '../calls/utterance.js';
import { FRAME_MS } from '../calls/timing.js';
import type { Outcome } from '../generator/protocol.js';
import { NOTHING, type Program, timed } from './program.js';

export interface OpusTask {
  /** Packets that callers sent, and those of them in which they said something. */
  readonly sent: number;
  readonly said: number;
  /** Frames that they heard of the agent. */
  readonly heard: number;
  /** What both say, in turn: 16-bit mono at the callers' rate. */
  readonly clips: readonly Uint8Array[];
}

/** Of the recogniser, Hz. */
const DECODED_RATE = 16_000;
/** Bits per second, and percent of packets, as media/embedded/voice-sender.ts has them. */
const [BITRATE, EXPECTED_LOSS] = [40_000, 5];
/** The default of MEDIA_OPUS_COMPLEXITY. */
const COMPLEXITY = 2;
const FRAME_BYTES = ((RATE * FRAME_MS) / 1000) * 2;
/** Before anything counts: the library is WebAssembly, which is compiled twice. */
const WARM_UP = 2000;

function agentEncoder(): Encoder {
  const encoder = new Encoder({ channels: 1, sample_rate: RATE, application: 'voip' });
  return Object.assign(encoder, {
    bitrate: BITRATE,
    inband_fec: true,
    packet_loss: EXPECTED_LOSS,
    complexity: COMPLEXITY,
  });
}

const framesOf = (pcm: Uint8Array): Uint8Array[] =>
  Array.from({ length: Math.floor(pcm.length / FRAME_BYTES) }, (_, index) =>
    pcm.subarray(index * FRAME_BYTES, (index + 1) * FRAME_BYTES),
  );

export class OpusAlone implements Program {
  async run(params: unknown): Promise<Outcome> {
    const { clips, ...task } = params as OpusTask;
    const frames = clips.flatMap(framesOf);
    const packets = clips.flatMap((pcm) => encodeUtterance(Buffer.from(pcm)).packets);
    const work = ({ sent, said, heard }: Omit<OpusTask, 'clips'>): void => {
      const [decoder, encoder] = [new Decoder({ channels: 1, sample_rate: DECODED_RATE }), agentEncoder()];
      for (let at = 0; at < sent; at += 1)
        decoder.decode(at < said ? packets[at % packets.length]! : SILENCE);
      for (let at = 0; at < heard; at += 1) encoder.encode(frames[at % frames.length]!);
    };
    work({ sent: WARM_UP, said: WARM_UP / 2, heard: WARM_UP });
    const { seconds, cpu } = await timed(() => Promise.resolve(work(task)));
    return { ...NOTHING, seconds, cpu };
  }
}
