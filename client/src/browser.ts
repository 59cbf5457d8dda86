/**
 * The browser's part of a session: LiveKit's room with the microphone published and the agent's voice played. It is
 * loaded on demand, so that Node never loads it.
 */
import { type RemoteTrack, Room as LivekitRoom, RoomEvent, Track } from 'livekit-client';
import { switchDevice } from './devices.js';
import { asSessionError, type SessionError } from './errors.js';
import { Meter } from './meter.js';
import { Microphone } from './microphone.js';
import type { Endpoint, Sound, SoundOptions } from './room.js';

const WAKING = ['pointerdown', 'keydown'] as const;

class BrowserSound implements Sound {
  readonly #context = new AudioContext();
  readonly #input = new Meter(this.#context);
  readonly #output = new Meter(this.#context);
  readonly #microphone: Microphone;
  #voice: RemoteTrack | undefined;
  #closed = false;

  constructor(
    private readonly room: LivekitRoom,
    private readonly options: SoundOptions,
    private readonly tell: (error: SessionError) => void,
  ) {
    const { microphone } = options;
    this.#microphone = new Microphone(room, typeof microphone === 'object' ? microphone.deviceId : undefined);
    room.on(RoomEvent.TrackSubscribed, (track) => this.#play(track));
    room.on(RoomEvent.TrackUnsubscribed, (track) => this.#stop(track));
    room.on(RoomEvent.AudioPlaybackStatusChanged, () => this.#awaitGesture());
  }

  async open(): Promise<void> {
    if (this.options.microphone !== false) await this.#microphone.open();
    this.#wake();
  }

  async start(): Promise<void> {
    const { speaker } = this.options;
    await this.#microphone.publish();
    // The call continues with the default loudspeaker.
    if (speaker)
      await this.useSpeaker(speaker.deviceId).catch((error: unknown) => {
        if (!this.#closed) this.tell(asSessionError('device_change_failed', error));
      });
  }

  setMuted(muted: boolean): Promise<void> {
    return this.#microphone.setMuted(muted);
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

  /** Browsers play no sound before the user has touched the page: the next click or key starts it. */
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
    return this.#input.level(this.#microphone.heard);
  }

  get outputVolume(): number {
    return this.#output.level(this.#voice?.mediaStreamTrack);
  }

  useMicrophone(deviceId: string): Promise<void> {
    return this.#microphone.use(deviceId);
  }

  useSpeaker(deviceId: string): Promise<void> {
    return switchDevice(this.room, 'audiooutput', deviceId);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#microphone.close();
    this.#voice?.detach();
    this.#voice = undefined;
    this.#context.close().catch(() => undefined);
  }
}

/** `tell` is called with errors that do not end the session. */
export function openBrowser(options: SoundOptions, tell: (error: SessionError) => void): Endpoint {
  const room = new LivekitRoom();
  return { room, sound: new BrowserSound(room, options, tell) };
}
