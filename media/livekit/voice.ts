/**
 * The publication of the agent's track on its room's server. When the library rejoins, for example because the server has died, it
 * publishes the track again; sometimes it does so while still negotiating, or fails without reporting it, and then never sends any
 * audio (rtc-node 1.1.0). So a track is republished if the present user does not subscribe to it, or if it is subscribed to but no
 * packets are sent: even silence sends some. Each time the server gets a new track, as it queues a request for one that it still
 * waits for (livekit-server 1.13), and never answers. If none of that helps, the connection counts as lost.
 *
 * Invariants: one publication at a time; few tries, as some users subscribe to no audio at all; no wait for the library is
 * unbounded.
 */
import type { LocalTrackPublication, Room } from '@livekit/rtc-node';
import { CALL_TIMES } from '../../contracts/limits/call-times.js';
import { systemClock } from '../../contracts/clock.js';
import { withTimeout } from '../../contracts/time/timeouts.js';
import type { Rtc } from './rtc.js';
import { Speaker } from './speaker.js';

const { roomJoinMs } = CALL_TIMES;
/** Beats of 20 ms between two checks that the track is subscribed to and sent: while in doubt, and normally. */
const LOOK_BEATS = { doubt: 100, rule: 500 };
/** Beats of 20 ms in doubt, with a user present, after which a track that was once subscribed to is lost. */
const LOST_BEATS = 500;
/** Most republications in a row. */
const MOST_TRIES = 3;
/** Longest wait for the library, except for a publication. */
const ANSWER_MS = 2000;

async function publishTo(rtc: Rtc, room: Room, speaker: Speaker, signal?: AbortSignal) {
  if (!room.localParticipant) throw new Error('the room is closed');
  const options = new rtc.TrackPublishOptions({ source: rtc.TrackSource.SOURCE_MICROPHONE });
  const publishing = room.localParticipant.publishTrack(speaker.track, options);
  return withTimeout(systemClock, roomJoinMs, publishing, signal);
}

/** Audio packets sent, of all publications. Errors: if the room has gone. */
async function packetsSent(room: Room): Promise<bigint> {
  const { publisherStats } = await withTimeout(systemClock, ANSWER_MS, room.getRtcStats());
  let sent = 0n;
  for (const { stats } of publisherStats)
    if (stats.case === 'outboundRtp') sent += stats.value.sent?.packetsSent ?? 0n;
  return sent;
}

export class RoomVoice {
  #asked = false;
  /** Whether anybody has ever subscribed to it. */
  #everAsked = false;
  /** It was republished or reconnected, and has not been seen sending since. */
  #doubted = false;
  /** Beats in doubt with a user present. */
  #unheard = 0;
  #tries = MOST_TRIES;
  #beats = 0;
  /** Packets sent by the last check. */
  #sent: bigint | undefined;
  #busy = false;

  private constructor(
    readonly speaker: Speaker,
    private readonly rtc: Rtc,
    private readonly room: Room,
    private publication: LocalTrackPublication,
  ) {
    void publication.waitForSubscription().then(this.#subscribed);
    room.on(rtc.RoomEvent.LocalTrackSubscribed, this.#subscribed);
    room.on(rtc.RoomEvent.LocalTrackRepublished, () => this.#doubt(MOST_TRIES, false));
    // After a short break the subscription continues without an event.
    room.on(rtc.RoomEvent.Reconnected, () => this.#doubt(MOST_TRIES, this.#asked));
  }

  /** Errors: if the server does not accept the track in time; the signal's reason. */
  static async publish(rtc: Rtc, room: Room, signal: AbortSignal): Promise<RoomVoice> {
    const speaker = new Speaker(rtc);
    try {
      return new RoomVoice(speaker, rtc, room, await publishTo(rtc, room, speaker, signal));
    } catch (error) {
      await speaker.close();
      throw error;
    }
  }

  get trackSid(): string {
    return this.publication.sid ?? '';
  }

  /** Whether anybody has subscribed to it. */
  get asked(): boolean {
    return this.#asked;
  }

  /** Whether a present user still hears nothing of it after the tries: only a new connection to the room can help. */
  get lost(): boolean {
    return this.#everAsked && this.#unheard > LOST_BEATS;
  }

  readonly #subscribed = (): void => {
    this.#asked = true;
    this.#everAsked = true;
  };

  #doubt(tries: number, asked: boolean): void {
    this.#doubted = true;
    this.#asked = asked;
    this.#tries = tries;
    this.#beats = 0;
    this.#sent = undefined;
  }

  /** Called every 20 ms; `wanted`: whether a user is there who may subscribe to it. */
  beat(wanted: boolean): void {
    if (!wanted) return;
    if (this.#doubted) this.#unheard += 1;
    if (this.#busy || (this.#beats += 1) <= LOOK_BEATS[this.#doubted ? 'doubt' : 'rule']) return;
    this.#beats = 0;
    this.#busy = true;
    void this.#look().finally(() => (this.#busy = false));
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    // The first publication waits for a subscriber.
    if (!this.#asked) return this.#doubted ? this.#republish() : undefined;
    const before = this.#sent;
    const sent = await packetsSent(this.room).catch(() => undefined);
    // The room has gone, or the track was republished in the meantime.
    if (sent === undefined || before !== this.#sent) return;
    this.#sent = sent;
    if (sent === before) return this.#republish();
    if (before !== undefined) this.#trust();
  }

  #trust(): void {
    this.#doubted = false;
    this.#unheard = 0;
    this.#tries = MOST_TRIES;
  }

  async #republish(): Promise<void> {
    const tries = this.#tries;
    if (tries === 0) return;
    this.#doubt(tries - 1, false);
    try {
      const agent = this.room.localParticipant;
      // If the library has rejoined again, it does not know that track.
      const gone = agent?.unpublishTrack(this.trackSid, false) ?? Promise.resolve();
      await withTimeout(systemClock, ANSWER_MS, gone).catch(() => undefined);
      this.speaker.renew();
      this.publication = await publishTo(this.rtc, this.room, this.speaker);
    } catch {
      // The room has gone, or the failed publication is tried again.
      this.#tries = Math.max(this.#tries, tries);
    }
  }
}
