/**
 * The user's microphone: turns the followed track into an unbroken stream at 16 kHz. A track that sends nothing,
 * or no track at all, is silence.
 */
import type { ReadableStreamDefaultReader } from 'node:stream/web';
import type { AudioFrame, RemoteTrack } from '@livekit/rtc-node';
import { RECOGNITION_RATE } from '../../contracts/audio.js';
import { FRAME_MS } from '../playout.js';
import { PacketSilence } from '../quiet.js';
import type { Rtc } from './rtc.js';

type Reader = ReadableStreamDefaultReader<AudioFrame>;

const OPTIONS = { sampleRate: RECOGNITION_RATE, numChannels: 1, frameSizeMs: FRAME_MS };
const SILENCE = new Int16Array((RECOGNITION_RATE * FRAME_MS) / 1000);

export interface ListenerEvents {
  /** 16 kHz, without gaps. */
  heard(samples: Int16Array): void;
  /** Samples that the user really sent: `heard` without inserted silence. */
  sent(samples: Int16Array): void;
  /** Nothing has been sent for a while. */
  paused(): void;
}

export class RoomListener {
  readonly #quiet = new PacketSilence();
  #track: RemoteTrack | undefined;
  #reader: Reader | undefined;

  constructor(
    private readonly rtc: Rtc,
    private readonly events: ListenerEvents,
  ) {}

  /** Follows that track from now on; undefined for none. */
  follow(track: RemoteTrack | undefined): void {
    if (track === this.#track) return;
    this.#track = track;
    void this.#reader?.cancel().catch(() => undefined);
    this.#reader = track && (new this.rtc.AudioStream(track, OPTIONS).getReader() as Reader);
    if (this.#reader) void this.#listen(this.#reader);
  }

  async #listen(reader: Reader): Promise<void> {
    try {
      for (let step = await reader.read(); !step.done; step = await reader.read()) {
        if (reader !== this.#reader) return;
        this.#take(step.value.data);
      }
    } catch {
      // The track has gone.
    }
  }

  #take(samples: Int16Array): void {
    this.#quiet.broken();
    this.events.sent(samples);
    this.events.heard(samples);
  }

  /** Every 20 ms. */
  beat(): void {
    const frames = this.#quiet.beat();
    if (frames > 0) this.events.paused();
    for (let frame = 0; frame < frames; frame += 1) this.events.heard(SILENCE);
  }
}
