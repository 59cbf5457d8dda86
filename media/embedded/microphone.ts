/**
 * The user's microphone: Opus packets in network order, to an unbroken stream at 16 kHz. Packets are put in
 * order, a lost frame becomes a faded repeat of the last one and then silence, and a microphone that sends nothing
 * (muted, lost, or silent with DTX) is silence too.
 *
 * Invariants: one stream is heard at a time, another one only once it has gone quiet or after `restart` (which track is
 * the user is decided by ../user-track.ts); audio is never more than three
 * seconds ahead of real time, whatever a client sends; what is late is not ahead.
 */
import { RECOGNITION_RATE, samplesOf } from '../../contracts/audio.js';
import { LATE_AUDIO_MS } from '../late-audio.js';
import { PacketSilence } from '../quiet.js';
import { ahead, type RtpPacket } from './rtp.js';

export interface OpusDecoder {
  /** One packet to 16-bit samples at 16 kHz. Errors: if the packet is broken. */
  decode(payload: Uint8Array): Uint8Array;
}

/** Samples of 20 ms at 16 kHz. */
const FRAME = 320;
/** Most later packets that are held while one is missing. */
const MOST_HELD = 3;
/** Sequence numbers this far apart mean that the stream has restarted. */
const MOST_AHEAD = 100;
/** Most lost frames in a row that are concealed. */
const MOST_CONCEALED = 5;
const FADE = 0.5;
/** Most samples of one packet: Opus packets last 120 ms at most. */
const MOST_SAMPLES = 6 * FRAME;
/** Most samples ahead of real time; beyond it packets are dropped unread. */
const MOST_EARLY = 3 * RECOGNITION_RATE;
/** Samples by which it may be behind real time, and then catch up at once. */
const MOST_LATE = (LATE_AUDIO_MS / 1000) * RECOGNITION_RATE;

const SILENCE = new Int16Array(FRAME);

export interface MicrophoneOptions {
  /** Beats without a packet before silence, also where a voice has broken off; see `PacketSilence`. */
  readonly patience?: number;
  readonly patienceInVoice?: number;
  /** Whoever sends it sees to it that it does not come faster than it may be heard. */
  readonly isPaced?: boolean;
}

export class Microphone {
  #stream: number | undefined;
  #early = 0;
  #last: { sequence: number; timestamp: number } | undefined;
  readonly #held = new Map<number, RtpPacket>();
  #frame: Int16Array = SILENCE;
  readonly #quiet: PacketSilence;
  /** Packets received, and packets lost. */
  readonly counts = { received: 0, lost: 0 };

  constructor(
    private readonly decoder: OpusDecoder,
    private readonly heard: (samples: Int16Array) => void,
    /** Receives each packet once, in order. */
    private readonly taken: (packet: RtpPacket) => void = () => undefined,
    private readonly how: MicrophoneOptions = {},
  ) {
    this.#quiet = new PacketSilence(how.patience, how.patienceInVoice);
  }

  receive(packet: RtpPacket): void {
    if ((this.#early > MOST_EARLY && !this.how.isPaced) || !this.#follows(packet)) return;
    this.#quiet.broken();
    const distance = this.#last ? ahead(packet.sequence, this.#last.sequence) : 1;
    if (distance <= 0 && distance > -MOST_AHEAD) return;
    if (Math.abs(distance) >= MOST_AHEAD) this.#last = undefined;
    if (distance === 1) this.#take(packet);
    else this.#held.set(packet.sequence, packet);
    if (this.#held.size > 0) this.#play();
  }

  #follows({ ssrc }: RtpPacket): boolean {
    if (ssrc === this.#stream) return true;
    if (this.#stream !== undefined && !this.#quiet.lasts) return false;
    this.restart();
    this.#stream = ssrc;
    return true;
  }

  /** The next packet begins a new stream, which is heard at once. */
  restart(): void {
    this.#stream = undefined;
    this.#last = undefined;
    this.#held.clear();
  }

  /** Called every 20 ms; `passed`: more than 1 if beats were skipped; `isVoiced`: what came last was voice. */
  beat(passed = 1, isVoiced = false): void {
    this.#early = Math.max(-MOST_LATE, this.#early - passed * FRAME);
    const frames = this.#quiet.beat(isVoiced);
    if (frames > 0 && this.#held.size > 0) return this.#skip();
    for (let frame = 0; frame < frames; frame += 1) this.heard(SILENCE);
  }

  #play(): void {
    for (;;) {
      const next = this.#next();
      if (next) this.#take(next);
      else if (this.#held.size > MOST_HELD) this.#skip();
      else return;
    }
  }

  #next(): RtpPacket | undefined {
    if (this.#last) return this.#held.get((this.#last.sequence + 1) & 0xffff);
    const [first] = this.#held.values();
    return first;
  }

  /** Continues with the first packet held; those before it count as lost. */
  #skip(): void {
    const last = this.#last;
    if (!last) return;
    const [first] = [...this.#held.values()].sort(
      (one, other) => ahead(one.sequence, last.sequence) - ahead(other.sequence, last.sequence),
    );
    if (!first) return;
    const lost = ahead(first.sequence, last.sequence) - 1;
    this.counts.lost += lost;
    for (let frame = 0; frame < Math.min(lost, MOST_CONCEALED); frame += 1) this.#conceal();
    this.#take(first);
  }

  #conceal(): void {
    this.#deliver(this.#frame.map((sample) => sample * FADE));
  }

  #take(packet: RtpPacket): void {
    this.#held.delete(packet.sequence);
    this.#last = packet;
    this.counts.received += 1;
    this.taken(packet);
    const samples = this.#decode(packet.payload);
    if (samples.length === 0 || samples.length > MOST_SAMPLES) return;
    this.#deliver(samples);
  }

  #deliver(samples: Int16Array): void {
    this.#frame = samples;
    this.#early += samples.length;
    this.heard(samples);
  }

  #decode(payload: Uint8Array): Int16Array {
    try {
      return samplesOf(this.decoder.decode(payload));
    } catch {
      return SILENCE;
    }
  }
}
