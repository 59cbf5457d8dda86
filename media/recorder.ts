/**
 * The recording of one call (docs/contract/platform.md 6.7): a separate Ogg Opus file for each side, made of the
 * packets that it sent, with silence in the gaps. It begins when the user connects for the first time.
 *
 * Invariants: both files share one timeline, counted in the call's beats, so that they can be mixed; no side is ever
 * far ahead of it, whatever a client sends; both end together.
 */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { systemClock } from '../contracts/clock.js';
import { waitUpTo } from '../contracts/time/timeouts.js';
import { OggOpusWriter, OPUS_RATE } from './ogg.js';
import { samplesIn, silence } from './ogg-packets.js';
import { RecorderFile } from './recorder-file.js';

/** The sides of a call. */
export const RECORDED = ['agent', 'user'] as const;
export type RecordedRole = (typeof RECORDED)[number];

/** File name of a side in the folder of the session's recording; `part` starts at 1. */
export const trackFile = (role: RecordedRole, part: number): string =>
  part === 1 ? `${role}.ogg` : `${role}-${part}.ogg`;

const MS = OPUS_RATE / 1000;
const BEAT = 20 * MS;
/** Most lag behind real time; beyond it skipped beats are caught up. */
const MOST_BEHIND_MS = 200;
/** Most difference between a packet's timestamp and its arrival; the user's side is written this much later. */
const MOST_SKEW = 1000 * MS;
/** A machine that stood still learns so much later what was heard meanwhile; the agent's side is written this much later. */
const MOST_LATE = 500 * MS;
/** Packets are dropped if their side is further ahead than this: they came faster than real time. */
const MOST_AHEAD = 60 * MS;
/** An Opus packet of 120 ms at the highest rate is smaller. */
const MOST_PACKET_BYTES = 8192;
/** Longest wait for the disk at the end, so that it does not hold up the call. */
const FINISH_MS = 3000;

class Track {
  readonly #ogg = new OggOpusWriter(randomInt(2 ** 32));

  constructor(private readonly file: RecorderFile) {
    file.write(this.#ogg.head());
  }

  /** Fills with silence up to that position. */
  advance(to: number): void {
    for (const { packet, samples } of silence(to - this.#ogg.position)) this.#add(packet, samples);
  }

  /** Adds a packet that sounds from `at` on. */
  put(packet: Uint8Array, at: number, mostAhead = MOST_AHEAD): void {
    const samples = samplesIn(packet);
    if (samples === 0 || packet.length > MOST_PACKET_BYTES || this.#ogg.position > at + mostAhead) return;
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
  /** Undefined: silence, which takes no encoder. */
  readonly payload: Uint8Array | undefined;
}

export class Recorder {
  readonly #agent: Track;
  readonly #user: Track;
  readonly #since: number;
  /** Position of the current beat. */
  #now = 0;
  /** The user's last packet, by its own timestamp and by position on our timeline. */
  #last: { readonly timestamp: number; readonly at: number } | undefined;
  #finished: Promise<void> | undefined;

  /** `failed` receives the reason why a side is no longer recorded; `monotonic` is in milliseconds. */
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

  /** Called every 20 ms, before the packets of that beat. */
  beat(): void {
    if (this.#finished) return;
    const least = (this.monotonic() - this.#since - MOST_BEHIND_MS) * MS;
    this.#now = Math.max(this.#now + BEAT, Math.floor(least / BEAT) * BEAT);
    this.#agent.advance(this.#now - MOST_LATE);
    this.#user.advance(this.#now - MOST_SKEW);
  }

  /** Records an Opus packet that was heard so many beats ago; it is copied. */
  agent(packet: Uint8Array, beatsAgo = 0): void {
    if (this.#finished) return;
    const ago = Math.min(beatsAgo * BEAT, MOST_LATE);
    this.#agent.put(Uint8Array.from(packet), this.#now - ago, MOST_AHEAD + MOST_LATE);
  }

  /**
   * Records a packet of the user, in order; its payload is kept until its page is written, about a second. `mostEarly`: how far its
   * timestamp may be ahead of the call, in samples.
   */
  user({ timestamp, payload }: UserPacket, mostEarly = MOST_SKEW): void {
    if (this.#finished) return;
    const at = this.#placeOf(timestamp, mostEarly);
    this.#last = { timestamp, at };
    if (payload) this.#user.put(payload, at);
  }

  /** Position by the sender's timestamp, so that network jitter is not heard; by arrival if that is far off. */
  #placeOf(timestamp: number, mostEarly: number): number {
    if (!this.#last) return this.#now;
    const at = this.#last.at + ((timestamp - this.#last.timestamp) | 0);
    const early = at - this.#now;
    return early > -MOST_SKEW && early < mostEarly ? at : this.#now;
  }

  /** By how much the user's side is ahead of the call, in samples at 48 kHz; negative if it is behind. */
  get userAhead(): number {
    return this.#last ? this.#last.at - this.#now : 0;
  }

  /** The user has a new connection, with new timestamps. */
  renew(): void {
    this.#last = undefined;
  }

  /** Ends both files; resolves when they are written, or the wait for the disk times out. Idempotent. */
  finish(): Promise<void> {
    return (this.#finished ??= this.#finish());
  }

  async #finish(): Promise<void> {
    const end = this.#now + BEAT;
    const finished = Promise.all([this.#agent.finish(end), this.#user.finish(end)]);
    await waitUpTo(systemClock, FINISH_MS, finished);
  }
}
