/**
 * A browser's microphone: asked for once and published once, however many calls want it at the same time. Changes run
 * one after the other, so that the last one holds. After `close()` it is off and is not asked for again.
 */
import {
  createLocalAudioTrack,
  type LocalAudioTrack,
  type LocalTrack,
  type Room as LivekitRoom,
  Track,
  TrackEvent,
} from 'livekit-client';
import { checkDevice, DEFAULT_DEVICE, switchDevice } from './devices.js';
import { asSessionError, SessionError } from './errors.js';

const PROCESSED = { echoCancellation: true, noiseSuppression: true, autoGainControl: true } as const;

/** Names of the errors with which browsers report that the wanted device does not exist. */
const GONE: readonly unknown[] = ['NotFoundError', 'OverconstrainedError'];

async function acquire(deviceId: string | undefined): Promise<LocalAudioTrack> {
  const wanted = deviceId !== undefined && deviceId !== DEFAULT_DEVICE;
  // Browsers leave it out on pages without TLS, except those of this machine.
  if (!window.isSecureContext)
    throw new SessionError('mic_permission_denied', {
      message: 'The microphone can be used over HTTPS only',
    });
  try {
    return await createLocalAudioTrack({ ...PROCESSED, ...(wanted && { deviceId: { exact: deviceId } }) });
  } catch (cause) {
    const isMissing = wanted && GONE.includes((cause as Error | undefined)?.name);
    throw asSessionError(isMissing ? 'device_change_failed' : 'mic_permission_denied', cause);
  }
}

const isOver = (): SessionError =>
  new SessionError('device_change_failed', { message: 'The session is over' });

const isGone = (): SessionError =>
  new SessionError('device_change_failed', {
    message: 'The microphone is gone, or no longer allowed: the user is muted',
  });

export class Microphone {
  #track: LocalAudioTrack | undefined;
  #changes: Promise<unknown> = Promise.resolve();
  #closed = false;
  /** Whether the application has muted the user. */
  #muted = false;
  /** Rejects on `close()`, so that nobody keeps waiting for the user's permission. */
  readonly #over: Promise<never>;
  #end: (error: SessionError) => void = () => undefined;

  constructor(
    private readonly room: LivekitRoom,
    /** Id of the device to ask for; the browser's default if undefined. */
    private deviceId: string | undefined,
    /** Called when the browser mutes: the permission was taken back, or the device is gone. */
    private readonly lost: (error: SessionError) => void,
  ) {
    this.#over = new Promise<never>((_, reject) => (this.#end = reject));
    this.#over.catch(() => undefined);
  }

  /** The track of the user's voice; undefined while muted. */
  get heard(): MediaStreamTrack | undefined {
    return this.#track?.isMuted ? undefined : this.#track?.mediaStreamTrack;
  }

  /** Asks for the microphone. Errors: `mic_permission_denied`; `device_change_failed` if the wanted device is gone. */
  open(): Promise<void> {
    return this.#inTurn(() => this.#acquire());
  }

  /** Publishes the microphone in the room, if it is open. */
  publish(): Promise<void> {
    return this.#inTurn(() => this.#publish());
  }

  /** Mutes or unmutes. Unmuting opens and publishes a microphone that is not open. Errors: those of `open`. */
  setMuted(muted: boolean): Promise<void> {
    return this.#inTurn(async () => {
      this.#muted = muted;
      if (this.#track) await (muted ? this.#track.mute() : this.#track.unmute());
      else if (!muted) await this.#join();
    });
  }

  /** Switches to a device; before the microphone is open, chooses the one to open. Errors: `device_change_failed`. */
  use(deviceId: string): Promise<void> {
    return this.#inTurn(async () => {
      // Both check that the device exists: a muted microphone would fail only when it is unmuted.
      if (this.#track) await switchDevice(this.room, 'audioinput', deviceId);
      else await checkDevice('audioinput', deviceId);
      this.deviceId = deviceId;
    });
  }

  #inTurn(change: () => Promise<void>): Promise<void> {
    const turn = this.#changes.then(() => {
      this.#assertOpen();
      return change();
    });
    this.#changes = turn.catch(() => undefined);
    return Promise.race([turn, this.#over]);
  }

  #assertOpen(): void {
    if (this.#closed) throw isOver();
  }

  async #acquire(): Promise<void> {
    this.#track = await acquire(this.deviceId);
    this.#track.on(TrackEvent.Muted, () => {
      if (!this.#muted && !this.#closed) this.lost(isGone());
    });
    // The session may have been closed before the user answered.
    if (this.#closed) this.#drop();
    this.#assertOpen();
  }

  async #publish(): Promise<void> {
    if (!this.#track) return;
    // LiveKit's types do not hold under exactOptionalPropertyTypes.
    const track = this.#track as LocalTrack;
    await this.room.localParticipant.publishTrack(track, { source: Track.Source.Microphone });
  }

  async #join(): Promise<void> {
    await this.#acquire();
    try {
      await this.#publish();
    } catch (error) {
      this.#drop();
      throw error;
    }
  }

  #drop(): void {
    this.#track?.stop();
    this.#track = undefined;
  }

  /** Idempotent. */
  close(): void {
    this.#closed = true;
    this.#end(isOver());
    this.#drop();
  }
}
