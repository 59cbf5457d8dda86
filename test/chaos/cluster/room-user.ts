/** A user of a room of LiveKit servers, with LiveKit's own client, which comes back to its room by itself as long as it can. */
import {
  AudioFrame,
  AudioSource,
  AudioStream,
  DisconnectReason,
  LocalAudioTrack,
  type RemoteTrack,
  Room,
  RoomEvent,
  TrackPublishOptions,
  TrackSource,
} from '@livekit/rtc-node';
import { AUDIBLE, CALLER_RATE, type SessionInvite, type ShownText } from '../../fixtures/calls/caller.js';
import type { User } from '../user.js';

const FRAME = CALLER_RATE / 50;

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
  #source = new AudioSource(CALLER_RATE, 1);

  private constructor(
    private readonly url: string,
    /** The latest that its rooms were given. */
    private token: string,
  ) {}

  static async join({ media_url: url, token }: SessionInvite): Promise<RoomUser> {
    const user = new RoomUser(url, token);
    await user.#connect();
    return user;
  }

  async #connect(): Promise<void> {
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
    await room.connect(this.url, this.token, { autoSubscribe: true, dynacast: false });
    await this.#publish(room).catch((error: unknown) => {
      this.drop();
      throw error;
    });
  }

  async #publish(room: Room): Promise<void> {
    const track = LocalAudioTrack.createAudioTrack('microphone', this.#source);
    const options = new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE });
    await room.localParticipant?.publishTrack(track, options);
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

  async say(samples: Int16Array): Promise<void> {
    for (let at = 0; at < samples.length; at += FRAME) {
      const frame = new Int16Array(FRAME);
      frame.set(samples.subarray(at, at + FRAME));
      await this.#source.captureFrame(new AudioFrame(frame, CALLER_RATE, 1, FRAME));
    }
    await this.#source.waitForPlayout();
  }

  async rejoin(): Promise<void> {
    this.token = this.#room.token ?? this.token;
    this.drop();
    this.#source = new AudioSource(CALLER_RATE, 1);
    await this.#connect();
  }

  hangUp(): void {
    this.drop();
  }

  /** LiveKit's client always says goodbye if it can. */
  drop(): void {
    const [room, source] = [this.#room, this.#source];
    this.#room = new Room();
    const close = (): Promise<void> => source.close();
    room
      .disconnect()
      .then(close, close)
      .catch(() => undefined);
  }
}
