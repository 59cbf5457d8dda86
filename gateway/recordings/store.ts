/**
 * Where finished audio of recordings lies: in a folder of this machine (folder-store.ts), or in a bucket
 * (bucket-store.ts).
 */
import type { RecordingFile } from '../../contracts/ports/recordings.js';
import { type LastPage, lastPage, TAIL_BYTES } from '../../media/ogg.js';
import type { RecordedRole } from '../../media/recorder.js';

/** One side of one part of a session's recording. */
export interface Track {
  readonly sessionId: string;
  readonly role: RecordedRole;
  /** From 1 on. */
  readonly part: number;
  readonly startedAt: Date;
}

export interface RecordingStore {
  /** How far its audio goes. Undefined where there is no such file. Errors: where it cannot be read. */
  end(track: Track): Promise<LastPage | undefined>;
  /** Undefined where there is no such file. */
  open(track: Track): Promise<RecordingFile | undefined>;
}

/** A file's end as its last whole page says; one that has none yet is empty. */
export const endIn = (tail: Buffer): LastPage => lastPage(tail) ?? { samples: 0, ended: false };

export { TAIL_BYTES };
