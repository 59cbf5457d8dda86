/**
 * Removes files of recordings when they are RECORDING_DAYS old, and at once when their session or workspace is deleted:
 * by a gateway on the machine that has them, or, in the bucket, by any. Machines are identified by host name; every ten
 * minutes they also look for files in their data folder that were made under another name, since a container gets a new
 * one each time.
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../../contracts/clock.js';
import type { Log } from '../../../contracts/log.js';
import { repeat } from '../../../contracts/time/repeat.js';
import type { Sql } from '../../../storage/postgres/sql.js';
import type { Events } from '../../../storage/postgres/events.js';
import {
  deletedElsewhere,
  deletedFilesRemoved,
  deletedRecordings,
  forgetRecordingsBefore,
  hostsOfDeleted,
} from '../../../storage/recordings.js';
import type { Config } from '../../config.js';
import type { Bucket } from './bucket.js';
import { recordingsFolder } from './folder-store.js';
import { removeDeletedObjects } from './uploads.js';

export interface RetentionParts {
  readonly config: Pick<Config, 'dataDir' | 'recordingDays'>;
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  /** The name of this machine. */
  readonly host?: string;
  readonly bucket?: Bucket | undefined;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const EVERY_MS = 10 * 60 * 1000;

const removeFiles = (dataDir: string, sessionId: string): Promise<void> =>
  rm(join(recordingsFolder(dataDir), sessionId), { recursive: true, force: true });

/** Removes rows only; the files are removed after them. */
export async function removeOldRecordings({
  config,
  sql,
  clock,
}: Omit<RetentionParts, 'log'>): Promise<void> {
  const before = new Date(clock.now() - config.recordingDays * DAY_MS);
  while (await forgetRecordingsBefore(sql, before));
}

/**
 * Removes this machine's files of deleted recordings. Returns the other machines that have some. Errors: the first
 * one, once all have been tried.
 */
export async function removeDeletedRecordings(parts: {
  readonly sql: Sql;
  readonly dataDir: string;
  readonly host?: string;
}): Promise<readonly string[]> {
  const { sql, dataDir, host = hostname() } = parts;
  const failures: unknown[] = [];
  for (const id of await deletedRecordings(sql, host))
    await removeFiles(dataDir, id)
      .then(() => deletedFilesRemoved(sql, host, id))
      .catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
  return (await hostsOfDeleted(sql)).filter((other) => other !== host);
}

/** Removes files of deleted recordings that are here although their rows named another machine. Errors: as above. */
export async function removeRenamed(sql: Sql, dataDir: string, host: string): Promise<void> {
  for (let after = ''; ;) {
    const listed = await deletedElsewhere(sql, host, after);
    if (listed.length === 0) return;
    for (const { id, host: named } of listed)
      if (existsSync(join(recordingsFolder(dataDir), id))) {
        await removeFiles(dataDir, id);
        await deletedFilesRemoved(sql, named, id);
      }
    after = listed.at(-1)?.id ?? '';
  }
}

async function tend(parts: RetentionParts): Promise<void> {
  const { config, sql, host = hostname() } = parts;
  const { dataDir } = config;
  if (config.recordingDays > 0) await removeOldRecordings(parts);
  await removeDeletedRecordings({ sql, dataDir, host });
  await removeRenamed(sql, dataDir, host);
  if (parts.bucket) await removeDeletedObjects(sql, parts.bucket);
}

/** Runs work one at a time; any number of calls during a run cause one more run. */
function coalesced(work: () => Promise<unknown>): () => void {
  let running = false;
  let again = false;
  const run = async (): Promise<void> => {
    running = true;
    do {
      again = false;
      await work();
    } while (again);
    running = false;
  };
  return () => {
    again = true;
    if (!running) void run();
  };
}

/** The result ends the retention. */
export async function startRetention(
  parts: RetentionParts & { readonly events: Events },
): Promise<() => void> {
  const { log, clock, sql, events, bucket, host = hostname() } = parts;
  const { dataDir } = parts.config;
  const failed = (err: unknown): void => log.warn({ err }, 'recordings were not removed');
  const deleted = coalesced(() => removeDeletedRecordings({ sql, dataDir, host }).catch(failed));
  const gone = coalesced(async () => bucket && removeDeletedObjects(sql, bucket).catch(failed));
  const leave = await events.listen('deleted_recordings', {
    heard: (whose) => (whose === bucket?.url ? gone() : whose === host && deleted()),
    // The next round finds deletions whose announcement was lost.
    missed: () => undefined,
  });
  const stop = repeat(clock, EVERY_MS, () => tend(parts), failed);
  return () => {
    leave();
    stop();
  };
}
