/**
 * Uploads recordings to the bucket during their calls: a process of the machine claims them, and uploads new audio, a few
 * recordings at a time, of one workspace after the other. If the bucket is unreachable, it retries with backoff while the files wait in the data folder;
 * files beyond its limit are given up, oldest first. The call itself never waits for any of it.
 */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fairOrder } from '../../../contracts/admission/fair-order.js';
import type { Clock } from '../../../contracts/clock.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Log } from '../../../contracts/log.js';
import { repeat } from '../../../contracts/time/repeat.js';
import { waitUpTo } from '../../../contracts/time/timeouts.js';
import { RECORDED, type RecordedRole } from '../../../media/recorder.js';
import type { Sql } from '../../../storage/postgres/sql.js';
import {
  type Claimant,
  claimDeleted,
  claimUploads,
  releaseUploads,
  settledOf,
  settleUpload,
  type RecordingUpload,
} from '../../../storage/recording-uploads.js';
import { deletedFilesRemoved } from '../../../storage/recordings.js';
import type { Bucket } from './bucket.js';
import { emptyBucket, keyOf } from './bucket-store.js';
import { endOfFile, fileOf, recordingsFolder, removePart } from './folder-store.js';
import { bucketError } from './s3.js';
import { TrackUpload } from './track-upload.js';

export interface UploadParts {
  readonly bucket: Bucket;
  readonly sql: Sql;
  readonly dataDir: string;
  readonly host: string;
  readonly processId: string;
  /** Bytes that may wait for the bucket. */
  readonly spoolBytes: number;
  readonly clock: Clock;
  readonly log: Log;
}

const { pieceMs, settleMs, uploads: AT_ONCE, absentMs } = LIMITS.recording;
const LEASE_MS = 60_000;
const RENEW_MS = 10_000;
const TIDY_MS = 10 * 60_000;
/** Backoff between attempts at one recording: doubled with each failure. */
const RETRY_MS = { first: 1000, most: 60_000 };
/** Time in which a stopping process finishes what it can; the rest waits for the next process. */
const FINISH_MS = 10_000;
/** On a renamed machine, a file belongs to the call if it was made within this time of its start. */
const SAME_START_MS = 60_000;

const idOf = ({ sessionId, startedAt }: RecordingUpload): string => `${sessionId} ${startedAt.getTime()}`;

/** Runs work on the items, a few at a time. `work` never rejects. */
async function fewAtOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const next = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

interface Attempts {
  readonly count: number;
  /** When the next attempt may be made, in monotonic milliseconds. */
  readonly notBefore: number;
}

export class RecordingUploads {
  readonly #claimant: Claimant;
  #claimed: readonly RecordingUpload[] = [];
  #working = Promise.resolve();
  /** Bytes of the waiting files, at the end of the last round. */
  waitingBytes = 0;
  readonly #tracks = new Map<string, TrackUpload>();
  readonly #failed = new Map<string, Attempts>();

  constructor(private readonly parts: UploadParts) {
    const { bucket, host, processId } = parts;
    this.#claimant = { store: bucket.url, host, processId };
  }

  /** Claims the uploads for this process to work on from now on. */
  async claim(): Promise<void> {
    const { sql } = this.parts;
    this.#claimed = fairOrder(await claimUploads(sql, this.#claimant, { leaseMs: LEASE_MS, absentMs }));
    const ids = new Set(this.#claimed.map(idOf));
    for (const key of this.#tracks.keys()) if (!ids.has(key.replace(/ \w+$/, ''))) this.#tracks.delete(key);
    for (const id of this.#failed.keys()) if (!ids.has(id)) this.#failed.delete(id);
  }

  /** One round over all claimed uploads, after a running one; never rejects. */
  work(): Promise<void> {
    return (this.#working = this.#working.then(() => this.#round()));
  }

  async #round(): Promise<void> {
    await fewAtOnce(this.#claimed, (upload) => this.#advance(upload));
    await this.#keepWithinBound();
  }

  async #advance(upload: RecordingUpload): Promise<void> {
    const id = idOf(upload);
    const { count = 0, notBefore = -Infinity } = this.#failed.get(id) ?? {};
    const { clock, log } = this.parts;
    if (clock.monotonic() < notBefore || !this.#claimed.some((other) => idOf(other) === id)) return;
    try {
      if (await this.#advanceTracks(upload)) await this.#settle(upload, null);
      this.#failed.delete(id);
    } catch (error) {
      const waitMs = Math.min(RETRY_MS.first * 2 ** count, RETRY_MS.most);
      this.#failed.set(id, { count: count + 1, notBefore: clock.monotonic() + waitMs });
      for (const role of RECORDED) this.#tracks.delete(`${id} ${role}`);
      const reason = bucketError(error);
      log.warn(
        { session_id: upload.sessionId, reason, attempts: count + 1 },
        'a recording waits for its bucket',
      );
    }
  }

  /**
   * Whether both sides are completely in the bucket. A failed side waits for the other one: the next attempt must not run
   * beside the rest of this one.
   */
  async #advanceTracks(upload: RecordingUpload): Promise<boolean> {
    const sides = await Promise.allSettled(RECORDED.map((role) => this.#advanceTrack(upload, role)));
    const failed = sides.find((side) => side.status === 'rejected');
    if (failed) throw failed.reason;
    return sides.every((side) => side.status === 'fulfilled' && side.value);
  }

  /** Whether that side is completely in the bucket. */
  async #advanceTrack(upload: RecordingUpload, role: RecordedRole): Promise<boolean> {
    const file = await this.#fileOf(upload, role);
    const end = file === undefined ? undefined : await endOfFile(file);
    const settled = upload.sinceEndMs !== null && upload.sinceEndMs > settleMs;
    const over = settled || end?.ended === true;
    const name = `${idOf(upload)} ${role}`;
    const key = keyOf({ ...upload, role });
    const track = this.#tracks.get(name) ?? new TrackUpload(this.parts.bucket, key, file);
    this.#tracks.set(name, track);
    await track.advance(over);
    return over;
  }

  /** This machine's file of that call. */
  async #fileOf(upload: RecordingUpload, role: RecordedRole): Promise<string | undefined> {
    const { host, startedAt } = upload;
    const file = fileOf(this.parts.dataDir, { ...upload, role });
    if (host === this.parts.host) return file;
    const made = await stat(file).then(
      ({ birthtimeMs }) => birthtimeMs,
      () => NaN,
    );
    return Math.abs(made - startedAt.getTime()) < SAME_START_MS ? file : undefined;
  }

  async #settle(upload: RecordingUpload, failure: string | null): Promise<void> {
    const { sql, dataDir } = this.parts;
    this.#claimed = this.#claimed.filter((other) => other !== upload);
    if (!(await settleUpload(sql, this.#claimant, upload, failure))) return;
    await removePart(dataDir, upload);
  }

  async #keepWithinBound(): Promise<void> {
    const { spoolBytes, log } = this.parts;
    const sizes = await Promise.all(this.#claimed.map((upload) => this.#bytesOf(upload)));
    let waiting = sizes.reduce((sum, bytes) => sum + bytes, 0);
    this.waitingBytes = waiting;
    for (const [index, upload] of [...this.#claimed.entries()]) {
      if (waiting <= spoolBytes) return;
      waiting -= sizes[index] ?? 0;
      this.waitingBytes = waiting;
      log.error({ session_id: upload.sessionId }, 'a recording is given up: too much waits for the bucket');
      await this.#settle(upload, 'too much waited for the bucket').catch((error: unknown) =>
        log.warn({ err: error }, 'a recording could not be given up'),
      );
    }
  }

  async #bytesOf(upload: RecordingUpload): Promise<number> {
    const sizes = RECORDED.map((role) =>
      stat(fileOf(this.parts.dataDir, { ...upload, role })).then(
        ({ size }) => size,
        () => 0,
      ),
    );
    return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Removes files whose upload another machine has finished, or whose process died before removing them. */
  async removeSettled(): Promise<void> {
    const folder = recordingsFolder(this.parts.dataDir);
    const names = await readdir(folder).catch(() => []);
    for (const id of await settledOf(this.parts.sql, names))
      await rm(join(folder, id), { recursive: true, force: true });
  }

  async release(): Promise<void> {
    this.#claimed = [];
    await releaseUploads(this.parts.sql, this.#claimant);
  }
}

/** Removes objects of deleted recordings. Errors: the first one, once all have been tried. */
export async function removeDeletedObjects(sql: Sql, bucket: Bucket): Promise<void> {
  const failures: unknown[] = [];
  for (let ids; (ids = await claimDeleted(sql, bucket.url)).length > 0;)
    await fewAtOnce(ids, (id) =>
      emptyBucket(bucket, id)
        .then(() => deletedFilesRemoved(sql, bucket.url, id))
        .catch((error: unknown) => void failures.push(error)),
    );
  if (failures.length > 0) throw failures[0] as Error;
}

export interface RunningUploads {
  /** Bytes of recordings that are not completely in the bucket, as of some seconds ago. */
  waitingBytes(): number;
  /** Finishes what it can in a few seconds; other processes do the rest. */
  stop(): Promise<void>;
}

export function startUploads(parts: UploadParts): RunningUploads {
  const { clock, log } = parts;
  const uploads = new RecordingUploads(parts);
  const failed = (error: unknown): void => log.warn({ err: error }, 'recordings are not uploaded');
  const stops = [
    repeat(clock, RENEW_MS, () => uploads.claim(), failed),
    repeat(clock, pieceMs, () => uploads.work(), failed),
    repeat(clock, TIDY_MS, () => uploads.removeSettled(), failed),
  ];
  return {
    waitingBytes: () => uploads.waitingBytes,
    async stop() {
      for (const stop of stops) stop();
      const last = uploads.claim().then(() => uploads.work());
      await waitUpTo(clock, FINISH_MS, last.catch(failed));
      await uploads.release().catch(failed);
    },
  };
}
