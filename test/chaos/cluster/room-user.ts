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

  private constructor(private readonly url: string) {}

  static async join({ media_url: url, token }: SessionInvite): Promise<RoomUser> {
    const user = new RoomUser(url);
    await user.#connect(token);
    return user;
  }

  async #connect(token: string): Promise<void> {
    const room = (this.#room = new Room());
    room.on(RoomEvent.Disconnected, (reason) => room === this.#room && this.#lose(reason));
    room.on(RoomEvent.TrackSubscribed, (track) => void this.#listen(track));
    room.registerTextStreamHandler('lk.transcription', (reader, { identity: from }) => {
      const { attributes = {} } = reader.info;
      const final = attributes['lk.transcription_final'] === 'true';
      const segment = attributes['lk.segment_id'] ?? '';
      reader.readAll().then(
        (text) => void this.shown.push({ from, segment, text, final }),
        () => undefined,
      );
    });
    await room.connect(this.url, token, { autoSubscribe: true, dynacast: false });
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
    const { token = '' } = this.#room;
    this.drop();
    this.#source = new AudioSource(CALLER_RATE, 1);
    await this.#connect(token);
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
