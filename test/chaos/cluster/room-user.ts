/**
 * A user of a room of LiveKit servers, with LiveKit's own client, which comes back to its room by itself as long as it can. It types
 * what it says, and hears what the agent says.
 */
import { AudioStream, DisconnectReason, type RemoteTrack, Room, RoomEvent } from '@livekit/rtc-node';
import { AUDIBLE, CALLER_RATE, type SessionInvite, type ShownText } from '../../fixtures/calls/caller.js';
import type { User } from '../user.js';

const WORDS = JSON.stringify({ type: 'user.message', text: 'Are you there?' });

/** With these it may not come back. */
const GOODBYES: readonly DisconnectReason[] = [
  DisconnectReason.ROOM_DELETED,
  DisconnectReason.ROOM_CLOSED,
  DisconnectReason.PARTICIPANT_REMOVED,
];

const levelOf = (samples: Int16Array): number =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length));

export class RoomUser implements User {
  ended = false;
  leave: DisconnectReason | undefined;
  readonly shown: ShownText[] = [];
  /** When sounds of the agent were heard. */
  readonly #heard: number[] = [];
  #room = new Room();

  private constructor(private readonly url: string) {}

  static async join({ media_url: url, token }: SessionInvite): Promise<RoomUser> {
    const user = new RoomUser(url);
    await user.#connect(token);
    return user;
  }

  async #connect(token: string): Promise<void> {
    const room = (this.#room = new Room());
    room.on(RoomEvent.Disconnected, (reason) => room === this.#room && this.#lose(reason));
    // A track that has gone meanwhile is not heard.
    room.on(RoomEvent.TrackSubscribed, (track) => void this.#listen(track).catch(() => undefined));
    room.registerTextStreamHandler('lk.transcription', (reader, { identity: from }) => {
      const segment = reader.info.attributes?.['lk.segment_id'] ?? '';
      // One that has ended is final.
      const show = (text: string): void => void this.shown.push({ from, segment, text, final: true });
      reader.readAll().then(show, () => undefined);
    });
    await room.connect(this.url, token, { autoSubscribe: true, dynacast: false });
  }

  #lose(reason: DisconnectReason): void {
    this.ended = true;
    if (GOODBYES.includes(reason)) this.leave = reason;
  }

  async #listen(track: RemoteTrack): Promise<void> {
    const reader = new AudioStream(track, CALLER_RATE, 1).getReader();
    for (let step = await reader.read(); !step.done; step = await reader.read())
      if (levelOf(step.value.data) > AUDIBLE) this.#heard.push(performance.now());
  }

  heardSince(from: number): number | undefined {
    return this.#heard.find((at) => at >= from);
  }

  /** The message is lost without a connection. */
  async say(): Promise<void> {
    const options = { reliable: true, topic: 'client-event' };
    await this.#room.localParticipant?.publishData(Buffer.from(WORDS), options);
  }

  async rejoin(): Promise<void> {
    const { token = '' } = this.#room;
    this.drop();
    await this.#connect(token);
  }

  hangUp(): void {
    this.drop();
  }

  /** LiveKit's client always says goodbye if it can. */
  drop(): void {
    const room = this.#room;
    this.#room = new Room();
    room.disconnect().catch(() => undefined);
  }
}
