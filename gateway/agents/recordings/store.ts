/**
 * The store of finished recordings: a folder of this machine (folder-store.ts), or a bucket (bucket-store.ts).
 */
import type { RecordingFile } from '../../../contracts/ports/sessions/recordings.js';
import { type LastPage, lastPage, TAIL_BYTES } from '../../../media/ogg.js';
import type { RecordedRole } from '../../../media/recorder.js';

/** One side of one part of a session's recording. */
export interface Track {
  readonly sessionId: string;
  readonly role: RecordedRole;
  /** From 1 on. */
  readonly part: number;
  readonly startedAt: Date;
}

export interface RecordingStore {
  /** The end of the track's audio. Undefined if there is no such file. Throws if it cannot be read. */
  end(track: Track): Promise<LastPage | undefined>;
  /** Undefined if there is no such file. */
  open(track: Track): Promise<RecordingFile | undefined>;
}

/** A file's end according to its last whole page; a file without one counts as empty. */
export const endIn = (tail: Buffer): LastPage => lastPage(tail) ?? { samples: 0, ended: false };

export { TAIL_BYTES };
