/** Recordings as files below `DATA_DIR/recordings/<session>`, which media workers write. */
import { createReadStream } from 'node:fs';
import { open, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LastPage } from '../../../media/ogg.js';
import { RECORDED, trackFile } from '../../../media/recorder.js';
import { endIn, type RecordingStore, TAIL_BYTES, type Track } from './store.js';

export const recordingsFolder = (dataDir: string): string => join(dataDir, 'recordings');

export const fileOf = (dataDir: string, { sessionId, role, part }: Omit<Track, 'startedAt'>): string =>
  join(recordingsFolder(dataDir), sessionId, trackFile(role, part));

/** Removes both sides of one part of a session's recording, and the folder once it is empty. */
export async function removePart(dataDir: string, part: Pick<Track, 'sessionId' | 'part'>): Promise<void> {
  for (const role of RECORDED) await rm(fileOf(dataDir, { ...part, role }), { force: true });
  await rmdir(join(recordingsFolder(dataDir), part.sessionId)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'ENOENT') throw error;
  });
}

const absent = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throw error;
};

/** The end of the file; undefined if there is no such file. Throws if it cannot be read. */
export async function endOfFile(path: string): Promise<LastPage | undefined> {
  const file = await open(path).catch(absent);
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
    const { bytesRead } = await file.read(tail, 0, tail.length, size - tail.length);
    return endIn(tail.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

/** The file is opened by the first read. */
export async function* piecesOfFile(path: string, from: number, to: number): AsyncGenerator<Uint8Array> {
  if (from < to) yield* createReadStream(path, { start: from, end: to - 1 }) as AsyncIterable<Buffer>;
}

export const createFolderStore = (dataDir: string): RecordingStore => ({
  end: (track) => endOfFile(fileOf(dataDir, track)),
  async open(track) {
    const path = fileOf(dataDir, track);
    const file = await stat(path).catch(() => undefined);
    return file && { bytes: file.size, read: (from, to) => piecesOfFile(path, from, to) };
  },
});
