/**
 * A browser's side of a session: LiveKit's room with the microphone published and the agent's voice played. It is
 * loaded when it is wanted, so that Node never loads it.
 */
import {
  createLocalAudioTrack,
  type LocalAudioTrack,
  type LocalTrack,
  type RemoteTrack,
  Room as LivekitRoom,
  RoomEvent,
  Track,
} from 'livekit-client';
import { SessionError } from './errors.js';
import { Meter } from './meter.js';
import type { Endpoint, Sound } from './room.js';
import type { SoundOptions } from './session.js';

const WAKING = ['pointerdown', 'keydown'] as const;

class BrowserSound implements Sound {
  readonly #context = new AudioContext();
  readonly #input = new Meter(this.#context);
  readonly #output = new Meter(this.#context);
  #microphone: LocalAudioTrack | undefined;
  #voice: RemoteTrack | undefined;
  #closed = false;

  constructor(
    private readonly room: LivekitRoom,
    private readonly options: SoundOptions,
  ) {
    room.on(RoomEvent.TrackSubscribed, (track) => this.#play(track));
    room.on(RoomEvent.TrackUnsubscribed, (track) => this.#stop(track));
    room.on(RoomEvent.AudioPlaybackStatusChanged, () => this.#awaitGesture());
  }

  async open(): Promise<void> {
    const { microphone = true } = this.options;
    if (microphone !== false) this.#microphone = await this.#acquire(microphone);
    this.#wake();
  }

  async #acquire(wanted: true | { readonly deviceId: string }): Promise<LocalAudioTrack> {
    try {
      const deviceId = wanted === true ? undefined : { exact: wanted.deviceId };
      const processed = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };
      const track = await createLocalAudioTrack({ ...processed, ...(deviceId && { deviceId }) });
      if (this.#closed) track.stop();
      return track;
    } catch (cause) {
      throw new SessionError('mic_permission_denied', { cause });
    }
  }

  async start(): Promise<void> {
    const { speaker } = this.options;
    if (this.#microphone) await this.#publish(this.#microphone);
    if (speaker) await this.useSpeaker(speaker.deviceId);
  }

  async #publish(track: LocalAudioTrack): Promise<void> {
    // LiveKit's types do not hold under exactOptionalPropertyTypes.
    await this.room.localParticipant.publishTrack(track as LocalTrack, { source: Track.Source.Microphone });
  }

  async setMuted(muted: boolean): Promise<void> {
    if (this.#microphone) return void (await (muted ? this.#microphone.mute() : this.#microphone.unmute()));
    if (muted) return;
    this.#microphone = await this.#acquire(true);
    await this.#publish(this.#microphone);
  }

  #play(track: RemoteTrack): void {
    if (track.kind !== Track.Kind.Audio) return;
    this.#voice = track;
    track.attach();
    this.#wake();
  }

  #stop(track: RemoteTrack): void {
    track.detach();
    if (this.#voice === track) this.#voice = undefined;
  }

  /** A page that nobody has touched may not make a sound: the next touch starts it. */
  #awaitGesture(): void {
    if (this.room.canPlaybackAudio) return;
    const wake = (): void => {
      for (const gesture of WAKING) document.removeEventListener(gesture, wake);
      if (!this.#closed)
        void this.room.startAudio().then(
          () => this.#wake(),
          () => undefined,
        );
    };
    for (const gesture of WAKING) document.addEventListener(gesture, wake);
  }

  #wake(): void {
    if (!this.#closed) this.#context.resume().catch(() => undefined);
  }

  get inputVolume(): number {
    const { mediaStreamTrack, isMuted = true } = this.#microphone ?? {};
    return isMuted ? 0 : this.#input.level(mediaStreamTrack);
  }

  get outputVolume(): number {
    return this.#output.level(this.#voice?.mediaStreamTrack);
  }

  useMicrophone(deviceId: string): Promise<void> {
    return this.#switch('audioinput', deviceId);
  }

  useSpeaker(deviceId: string): Promise<void> {
    return this.#switch('audiooutput', deviceId);
  }

  async #switch(kind: 'audioinput' | 'audiooutput', deviceId: string): Promise<void> {
    // A muted microphone would find out only when it is wanted.
    const devices = await navigator.mediaDevices.enumerateDevices();
    const isThere = devices.some((device) => device.kind === kind && device.deviceId === deviceId);
    if (!isThere && deviceId !== 'default') throw new SessionError('device_change_failed');
    const switched = await this.room.switchActiveDevice(kind, deviceId);
    if (!switched) throw new SessionError('device_change_failed');
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#microphone?.stop();
    this.#voice?.detach();
    this.#microphone = this.#voice = undefined;
    this.#context.close().catch(() => undefined);
  }
}

export function openBrowser(options: SoundOptions): Endpoint {
  const room = new LivekitRoom();
  return { room, sound: new BrowserSound(room, options) };
}
