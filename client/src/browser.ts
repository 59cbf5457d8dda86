/**
 * The browser's part of a session: LiveKit's room with the microphone published and the agent's voice played. It is
 * loaded on demand, so that Node never loads it.
 */
import { type RemoteTrack, Room as LivekitRoom, RoomEvent, Track } from 'livekit-client';
import { switchDevice } from './devices.js';
import { asSessionError } from './errors.js';
import { Meter } from './meter.js';
import { Microphone } from './microphone.js';
import type { Endpoint, Sound, SoundOptions, SoundWatcher } from './room.js';

/** A mouse may start sound as it is pressed, a finger only as it is lifted. */
const WAKING = ['pointerdown', 'pointerup', 'keydown'] as const;

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
    private readonly watcher: SoundWatcher,
  ) {
    const { microphone } = options;
    const deviceId = typeof microphone === 'object' ? microphone.deviceId : undefined;
    this.#microphone = new Microphone(room, deviceId, (error) => watcher.lost(error));
    room.on(RoomEvent.TrackSubscribed, (track) => this.#play(track));
    room.on(RoomEvent.TrackUnsubscribed, (track) => this.#stop(track));
    room.on(RoomEvent.AudioPlaybackStatusChanged, () => this.#awaitGestures());
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
        if (!this.#closed) this.watcher.error(asSessionError('device_change_failed', error));
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

  /** Browsers play no sound before the user has touched the page. Not every gesture counts: each one tries until one does. */
  #awaitGestures(): void {
    const isSilent = !this.#closed && !this.room.canPlaybackAudio;
    for (const gesture of WAKING)
      if (isSilent) document.addEventListener(gesture, this.#startSound);
      else document.removeEventListener(gesture, this.#startSound);
  }

  readonly #startSound = (): void =>
    void this.room.startAudio().then(
      () => this.#wake(),
      () => undefined,
    );

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
    this.#awaitGestures();
    this.#microphone.close();
    this.#voice?.detach();
    this.#voice = undefined;
    this.#context.close().catch(() => undefined);
  }
}

export function openBrowser(options: SoundOptions, watcher: SoundWatcher): Endpoint {
  const room = new LivekitRoom();
  return { room, sound: new BrowserSound(room, options, watcher) };
}
