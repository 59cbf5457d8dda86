/**
 * The tracks that a user's client has announced, and the lines of its offer that carry them. A track is announced before it
 * is offered; the `msid` of its line is the announced `cid`. Packets are known by their line.
 */
import { type AddTrackRequest, TrackInfo, TrackType } from '@livekit/protocol';
import { SOURCES, type SoundTrack, userTrack } from '../user-track.js';
import { sidOf } from './data.js';

/** Most tracks of a user at once; beyond it the oldest is dropped. */
const MOST_TRACKS = 8;
export const MIME = 'audio/opus';
/** A track that has sent nothing for so long does not send: with DTX a silent one sends every 400 ms. */
const LATELY_MS = 2000;

/** A line on which a client sends sound. */
export interface SoundLine {
  readonly mid: string;
  /** The name of its track. */
  readonly name: string;
}

interface Sound extends SoundTrack, SoundLine {
  readonly sid: string | undefined;
}

export class UserTracks {
  /** By `cid`, in the order in which they were announced. */
  readonly #announced = new Map<string, TrackInfo>();
  /** The names of tracks in the last offer, of any kind. */
  #sent: ReadonlySet<string> = new Set();
  #lines: readonly SoundLine[] = [];
  /** When a packet was last received, in milliseconds, by the name of its track. */
  readonly #received = new Map<string, number>();

  /** `now`: monotonic, in milliseconds. */
  constructor(private readonly now: () => number) {}

  get infos(): TrackInfo[] {
    return [...this.#announced.values()];
  }

  announce({ cid, type, name, source, muted, stream }: AddTrackRequest): TrackInfo {
    const known = this.#announced.get(cid);
    if (known) return known;
    const values = { type, name, source, muted, stream };
    const track = new TrackInfo({ sid: sidOf('TR'), ...values, mimeType: MIME, disableRed: true });
    const [oldest] = this.#announced.keys();
    if (oldest !== undefined && this.#announced.size >= MOST_TRACKS) this.#announced.delete(oldest);
    this.#announced.set(cid, track);
    return track;
  }

  /** Notes an offer: the names of all tracks, and the lines with sound. A track that is no longer named has been unpublished. */
  offered(names: ReadonlySet<string>, lines: readonly SoundLine[]): void {
    for (const name of this.#sent) if (!names.has(name)) this.#announced.delete(name);
    this.#sent = names;
    this.#lines = lines;
    for (const name of this.#received.keys()) if (!names.has(name)) this.#received.delete(name);
  }

  mute(sid: string, muted: boolean): void {
    for (const track of this.#announced.values()) if (track.sid === sid) track.muted = muted;
  }

  /** Notes a packet on a line; returns the name of its track if that is the user. */
  received(mid: string): string | undefined {
    const line = this.#lines.find((one) => one.mid === mid);
    if (!line) return undefined;
    this.#received.set(line.name, this.now());
    // Nearly all clients have one, for which there is nothing to decide with each packet.
    const { name } = this.#lines.length === 1 ? line : (this.#user ?? {});
    return name === line.name ? name : undefined;
  }

  /** The sid of the track that is the user; undefined if it was not announced, or there is none. */
  get microphone(): string | undefined {
    return this.#user?.sid;
  }

  get #user(): Sound | undefined {
    return userTrack(this.#sounds());
  }

  /** The tracks that are offered, in the order of their announcements. */
  #sounds(): Sound[] {
    const names = [...this.#announced.keys()];
    const place = ({ name }: SoundLine): number => names.indexOf(name);
    return this.#lines.toSorted((one, other) => place(one) - place(other)).map((line) => this.#sound(line));
  }

  /** A line whose track was never announced is of unknown source. */
  #sound({ mid, name }: SoundLine): Sound {
    const { sid, source = SOURCES.unknown, muted = false, type } = this.#announced.get(name) ?? {};
    const lately = this.now() - (this.#received.get(name) ?? -Infinity) < LATELY_MS;
    return { mid, name, sid: type === TrackType.AUDIO ? sid : undefined, source, sends: lately && !muted };
  }
}
