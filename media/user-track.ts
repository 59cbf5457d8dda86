/**
 * Which of a client's audio tracks is the user, in both modes of transport: by the source that the client announced, not by
 * who sends packets. A microphone that is muted, or silent with DTX, sends next to nothing while a shared tab plays on.
 */

/** Sources of tracks, by LiveKit's numbers: its protocol and its library count alike. */
export const SOURCES = { unknown: 0, microphone: 2, screenShareAudio: 4 } as const;

/** A published audio track. */
export interface SoundTrack {
  /** A number of `SOURCES`; any other counts as unknown. */
  readonly source: number;
  /** Whether sound may be expected of it now: it is not muted and, where packets are seen, has sent some lately. */
  readonly sends: boolean;
}

/** The higher, the likelier it is the user's voice. */
const RANKS: Readonly<Record<number, number>> = {
  [SOURCES.microphone]: 2,
  [SOURCES.unknown]: 1,
  [SOURCES.screenShareAudio]: 0,
};

const rankOf = ({ source }: SoundTrack): number => RANKS[source] ?? RANKS[SOURCES.unknown] ?? 0;

/**
 * The track that is the user, undefined without any: a microphone if there is one, muted or not; then a track of
 * unknown source; then the sound of a shared screen. Of several equals the newest that sends, or else the newest.
 * `tracks`: in the order in which they were announced.
 */
export function userTrack<Track extends SoundTrack>(tracks: readonly Track[]): Track | undefined {
  const best = Math.max(...tracks.map(rankOf));
  const equals = tracks.filter((track) => rankOf(track) === best);
  return equals.findLast(({ sends }) => sends) ?? equals.at(-1);
}
