/**
 * The agent's track as its room's server knows it. When the library has to join anew, because the server has died for one, it
 * publishes the track again; now and then it does so while it still negotiates, or fails at it and tells nobody, and then no sound of it
 * is ever sent (rtc-node 1.1.0). So a track that a user who is there does not ask for is published once more, and so is one that is asked
 * for and of which nothing leaves: even of silence some packets do. Each time it is another track to the server, which queues a
 * request for one that it still waits for (livekit-server 1.13), and never answers. Where none of that helps the connection is lost.
 *
 * Invariants: one publication at a time; tries are few, as some users ask for no sound at all; no answer of the library is waited for
 * without a bound.
 */
import type { LocalTrackPublication, Room } from '@livekit/rtc-node';
import { CALL_TIMES } from '../../contracts/call-times.js';
import { systemClock } from '../../contracts/clock.js';
import { withTimeout } from '../../contracts/timeouts.js';
import type { Rtc } from './rtc.js';
import { Speaker } from './speaker.js';

const { roomJoinMs } = CALL_TIMES;
/** Of 20 ms, between two looks at whether the track is asked for and sent: where that is in doubt, and as a rule. */
const LOOK_BEATS = { doubt: 100, rule: 500 };
/** Of 20 ms, in which a user who once asked for the track is there and gets nothing of it. */
const LOST_BEATS = 500;
/** How often it is published once more. */
const MOST_TRIES = 3;
/** The library's answer to anything but a publication. */
const ANSWER_MS = 2000;

async function publishTo(rtc: Rtc, room: Room, speaker: Speaker, signal?: AbortSignal) {
  if (!room.localParticipant) throw new Error('the room is closed');
  const options = new rtc.TrackPublishOptions({ source: rtc.TrackSource.SOURCE_MICROPHONE });
  const publishing = room.localParticipant.publishTrack(speaker.track, options);
  return withTimeout(systemClock, roomJoinMs, publishing, signal);
}

/** Packets of sound that have left, of all publications. Errors: where the room has gone. */
async function packetsSent(room: Room): Promise<bigint> {
  const { publisherStats } = await withTimeout(systemClock, ANSWER_MS, room.getRtcStats());
  let sent = 0n;
  for (const { stats } of publisherStats)
    if (stats.case === 'outboundRtp') sent += stats.value.sent?.packetsSent ?? 0n;
  return sent;
}

export class Voice {
  #asked = false;
  /** Whether anybody has ever asked for it. */
  #everAsked = false;
  /** Nobody has seen yet that it is sent, since it was published again. */
  #doubted = false;
  /** Beats of the doubt in which somebody was there. */
  #unheard = 0;
  #tries = MOST_TRIES;
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
    void publication.waitForSubscription().then(this.#subscribed);
    room.on(rtc.RoomEvent.LocalTrackSubscribed, this.#subscribed);
    room.on(rtc.RoomEvent.LocalTrackRepublished, () => this.#doubt(MOST_TRIES, false));
    // After a short break the track is asked for as before, and nobody says so.
    room.on(rtc.RoomEvent.Reconnected, () => this.#doubt(MOST_TRIES, this.#asked));
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

  /** Whether a user who is there hears nothing of it, whatever was tried: only another connection to the room can help. */
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

  /** Every 20 ms; `wanted`: whether somebody is there who may ask for it. */
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
    // The first one waits for whoever comes.
    if (!this.#asked) return this.#doubted ? this.#republish() : undefined;
    const before = this.#sent;
    const sent = await packetsSent(this.room).catch(() => undefined);
    // The room has gone, or the track was published again meanwhile.
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
      // Where the library has joined anew once more, it does not know that one.
      const gone = agent?.unpublishTrack(this.trackSid, false) ?? Promise.resolve();
      await withTimeout(systemClock, ANSWER_MS, gone).catch(() => undefined);
      this.speaker.renew();
      this.publication = await publishTo(this.rtc, this.room, this.speaker);
    } catch {
      // The room has gone, or what was not published is tried once more.
      this.#tries = Math.max(this.#tries, tries);
    }
  }
}
