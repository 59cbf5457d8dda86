/**
 * The recording of one call (docs/contract/platform.md 6.7): each side in an Ogg Opus file of its own, made of the
 * packets that it sent, with silence where there was none. It begins when the user is connected for the first time.
 *
 * Invariants: both files have one timeline, counted in the call's beats, so that they can be laid over each other; no
 * side is ever much ahead of it, whatever a client sends; both end together.
 */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { systemClock } from '../contracts/clock.js';
import { waitUpTo } from '../contracts/timeouts.js';
import { OggOpusWriter, OPUS_RATE } from './ogg.js';
import { samplesIn, silence } from './ogg-packets.js';
import { RecorderFile } from './recorder-file.js';

/** The sides of a call. */
export const RECORDED = ['agent', 'user'] as const;
export type RecordedRole = (typeof RECORDED)[number];

/** Its side's file in the folder of the session's recording; `part` from 1 on. */
export const trackFile = (role: RecordedRole, part: number): string =>
  part === 1 ? `${role}.ogg` : `${role}-${part}.ogg`;

const MS = OPUS_RATE / 1000;
const BEAT = 20 * MS;
/** Where beats were left out, time goes on without them. */
const MOST_BEHIND_MS = 200;
/** How far a packet's own time may be from that of its arrival; the user's side is written so much later. */
const MOST_SKEW = 1000 * MS;
/** Packets further ahead than this are dropped: they came faster than real time. */
const MOST_AHEAD = 60 * MS;
/** An Opus packet of 120 ms at the highest rate is smaller. */
const MOST_PACKET_BYTES = 8192;
/** A disk that does not answer does not hold the call. */
const FINISH_MS = 3000;

class Track {
  readonly #ogg = new OggOpusWriter(randomInt(2 ** 32));

  constructor(private readonly file: RecorderFile) {
    file.write(this.#ogg.head());
  }

  /** Silence up to that moment. */
  advance(to: number): void {
    for (const { packet, samples } of silence(to - this.#ogg.position)) this.#add(packet, samples);
  }

  /** A packet that sounds from `at` on. */
  put(packet: Uint8Array, at: number): void {
    const samples = samplesIn(packet);
    if (samples === 0 || packet.length > MOST_PACKET_BYTES || this.#ogg.position > at + MOST_AHEAD) return;
    this.advance(at);
    this.#add(packet, samples);
  }

  #add(packet: Uint8Array, samples: number): void {
    const page = this.#ogg.add(packet, samples);
    if (page) this.file.write(page);
  }

  finish(at: number): Promise<void> {
    this.advance(at);
    this.file.write(this.#ogg.end());
    return this.file.close();
  }
}

/** The parts of an RTP packet that a recording needs. */
export interface UserPacket {
  /** At 48 kHz; wraps around at 2^32. */
  readonly timestamp: number;
  readonly payload: Uint8Array;
}

export class Recorder {
  readonly #agent: Track;
  readonly #user: Track;
  readonly #since: number;
  /** The beat that goes on. */
  #now = 0;
  /** When the user's last packet sounded, by its own count and by ours. */
  #last: { readonly timestamp: number; readonly at: number } | undefined;
  #finished: Promise<void> | undefined;

  /** `failed` hears why a side is not kept any further; `monotonic` is in milliseconds. */
  constructor(
    folder: string,
    part: number,
    failed: (role: RecordedRole, reason: string) => void,
    private readonly monotonic: () => number = () => performance.now(),
  ) {
    const track = (role: RecordedRole): Track =>
      new Track(new RecorderFile(join(folder, trackFile(role, part)), (reason) => failed(role, reason)));
    this.#agent = track('agent');
    this.#user = track('user');
    this.#since = monotonic();
  }

  /** Every 20 ms, before what is said in them. */
  beat(): void {
    if (this.#finished) return;
    const least = (this.monotonic() - this.#since - MOST_BEHIND_MS) * MS;
    this.#now = Math.max(this.#now + BEAT, Math.floor(least / BEAT) * BEAT);
    this.#agent.advance(this.#now);
    this.#user.advance(this.#now - MOST_SKEW);
  }

  /** An Opus packet that has just left; it is copied. */
  agent(packet: Uint8Array): void {
    if (!this.#finished) this.#agent.put(Uint8Array.from(packet), this.#now);
  }

  /** A packet of the user, in order; it is kept for a second. */
  user({ timestamp, payload }: UserPacket): void {
    if (this.#finished) return;
    const at = this.#placeOf(timestamp);
    this.#last = { timestamp, at };
    this.#user.put(payload, at);
  }

  /** By the sender's count, so that the network's moods are not heard; where that is far off, by its arrival. */
  #placeOf(timestamp: number): number {
    if (!this.#last) return this.#now;
    const at = this.#last.at + ((timestamp - this.#last.timestamp) | 0);
    return Math.abs(at - this.#now) < MOST_SKEW ? at : this.#now;
  }

  /** The user's connection is new, and so is its count. */
  renew(): void {
    this.#last = undefined;
  }

  /** Ends both files; resolves when they are whole, or the disk has been given up. Idempotent. */
  finish(): Promise<void> {
    return (this.#finished ??= this.#finish());
  }

  async #finish(): Promise<void> {
    const end = this.#now + BEAT;
    const finished = Promise.all([this.#agent.finish(end), this.#user.finish(end)]);
    await waitUpTo(systemClock, FINISH_MS, finished);
  }
}
