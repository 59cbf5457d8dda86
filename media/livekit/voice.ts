/**
 * The agent's track as its room's server knows it. When the library has to join anew, because the server has died for one, it
 * publishes the track again; now and then it does so while it still negotiates, or fails at it and tells nobody, and then no sound of it
 * is ever sent (rtc-node 1.1.0). So a track that a user who is there does not ask for is published once more, and so is one that is asked
 * for and of which nothing leaves: even of silence some packets do. Each time it is another track to the server, which queues a
 * request for one that it still waits for (livekit-server 1.13), and never answers.
 *
 * Invariants: one publication at a time; tries are few, as some users ask for no sound at all.
 */
import type { LocalTrackPublication, Room } from '@livekit/rtc-node';
import { CALL_TIMES } from '../../contracts/call-times.js';
import { systemClock } from '../../contracts/clock.js';
import { withTimeout } from '../../contracts/timeouts.js';
import type { Rtc } from './rtc.js';
import { Speaker } from './speaker.js';

const { roomJoinMs } = CALL_TIMES;
/** Of 20 ms: between two looks at whether a track that was published again is asked for, and whether it is sent. */
const LOOK_BEATS = 100;
/** How often it is published once more. */
const MOST_TRIES = 3;
const STATS_MS = 2000;

async function publishTo(rtc: Rtc, room: Room, speaker: Speaker, signal?: AbortSignal) {
  if (!room.localParticipant) throw new Error('the room is closed');
  const options = new rtc.TrackPublishOptions({ source: rtc.TrackSource.SOURCE_MICROPHONE });
  const publishing = room.localParticipant.publishTrack(speaker.track, options);
  return withTimeout(systemClock, roomJoinMs, publishing, signal);
}

/** Packets of sound that have left, of all publications. Errors: where the room has gone. */
async function packetsSent(room: Room): Promise<bigint> {
  const { publisherStats } = await withTimeout(systemClock, STATS_MS, room.getRtcStats());
  let sent = 0n;
  for (const { stats } of publisherStats)
    if (stats.case === 'outboundRtp') sent += stats.value.sent?.packetsSent ?? 0n;
  return sent;
}

export class Voice {
  #asked = false;
  /** Those that are left; 0 while all is well. */
  #tries = 0;
  #beats = 0;
  /** What had left at the last look. */
  #sent: bigint | undefined;
  #busy = false;

  private constructor(
    readonly speaker: Speaker,
    private readonly rtc: Rtc,
    private readonly room: Room,
    private publication: LocalTrackPublication,
  ) {
    void publication.waitForSubscription().then(() => (this.#asked = true));
    room.on(rtc.RoomEvent.LocalTrackSubscribed, () => (this.#asked = true));
    room.on(rtc.RoomEvent.LocalTrackRepublished, () => this.#watch(MOST_TRIES, false));
    // After a short break the track is asked for as before, and nobody says so.
    room.on(rtc.RoomEvent.Reconnected, () => this.#watch(MOST_TRIES, this.#asked));
  }

  /** Errors: where the server does not take it in time; the signal's reason. */
  static async publish(rtc: Rtc, room: Room, signal: AbortSignal): Promise<Voice> {
    const speaker = new Speaker(rtc);
    try {
      return new Voice(speaker, rtc, room, await publishTo(rtc, room, speaker, signal));
    } catch (error) {
      await speaker.close();
      throw error;
    }
  }

  get trackSid(): string {
    return this.publication.sid ?? '';
  }

  /** Whether anybody has asked for it. */
  get asked(): boolean {
    return this.#asked;
  }

  #watch(tries: number, asked: boolean): void {
    this.#asked = asked;
    this.#tries = tries;
    this.#beats = 0;
    this.#sent = undefined;
  }

  /** Every 20 ms; `wanted`: whether somebody is there who may ask for it. */
  beat(wanted: boolean): void {
    if (!wanted || this.#tries === 0 || this.#busy) return;
    this.#beats += 1;
    if (this.#beats <= LOOK_BEATS) return;
    this.#beats = 0;
    this.#busy = true;
    void this.#look().finally(() => (this.#busy = false));
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    if (!this.#asked) return this.#republish();
    const before = this.#sent;
    const sent = await packetsSent(this.room).catch(() => undefined);
    // The room has gone, or the track was published again meanwhile.
    if (sent === undefined || before !== this.#sent) return;
    this.#sent = sent;
    if (sent === before) return this.#republish();
    if (before !== undefined) this.#tries = 0;
  }

  async #republish(): Promise<void> {
    const tries = this.#tries;
    this.#watch(tries - 1, false);
    try {
      const agent = this.room.localParticipant;
      // Where the library has joined anew once more, it does not know that one.
      await agent?.unpublishTrack(this.trackSid, false).catch(() => undefined);
      this.speaker.renew();
      this.publication = await publishTo(this.rtc, this.room, this.speaker);
    } catch {
      // The room has gone, or what was not published is tried once more.
      this.#tries = Math.max(this.#tries, tries);
    }
  }
}
