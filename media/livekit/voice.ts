/**
 * The agent's track as its room's server knows it. When the library has to join anew, because the server has died for one, it
 * publishes the track again; now and then it does so while it still negotiates, and then no sound of it is ever sent
 * (rtc-node 1.1.0). So a track that a user who is there does not ask for is published once more.
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
/** Of 20 ms: until a track that nobody asks for is published once more, and how often that is done. */
const UNASKED_BEATS = 100;
const MOST_TRIES = 3;

async function publishTo(rtc: Rtc, room: Room, speaker: Speaker, signal?: AbortSignal) {
  if (!room.localParticipant) throw new Error('the room is closed');
  const options = new rtc.TrackPublishOptions({ source: rtc.TrackSource.SOURCE_MICROPHONE });
  const publishing = room.localParticipant.publishTrack(speaker.track, options);
  return withTimeout(systemClock, roomJoinMs, publishing, signal);
}

export class Voice {
  #asked = false;
  #tries = 0;
  #beats = 0;
  #publishing = false;

  private constructor(
    readonly speaker: Speaker,
    private readonly rtc: Rtc,
    private readonly room: Room,
    private publication: LocalTrackPublication,
  ) {
    void publication.waitForSubscription().then(() => (this.#asked = true));
    room.on(rtc.RoomEvent.LocalTrackSubscribed, () => (this.#asked = true));
    room.on(rtc.RoomEvent.LocalTrackRepublished, () => this.#again(MOST_TRIES));
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

  #again(tries: number): void {
    this.#asked = false;
    this.#tries = tries;
    this.#beats = 0;
  }

  /** Every 20 ms; `wanted`: whether somebody is there who may ask for it. */
  beat(wanted: boolean): void {
    if (this.#asked || !wanted || this.#tries === 0 || this.#publishing) return;
    this.#beats += 1;
    if (this.#beats > UNASKED_BEATS) void this.#republish();
  }

  async #republish(): Promise<void> {
    this.#publishing = true;
    this.#again(this.#tries - 1);
    try {
      await this.room.localParticipant?.unpublishTrack(this.trackSid, false);
      this.publication = await publishTo(this.rtc, this.room, this.speaker);
    } catch {
      // The room has gone, or the next try does better.
    } finally {
      this.#publishing = false;
    }
  }
}
