/** Recordings are kept for RECORDING_DAYS and then removed, files and all, by a gateway of the machine that has them. */
import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../contracts/clock.js';
import type { Log } from '../contracts/log.js';
import { repeat } from '../contracts/repeat.js';
import type { Sql } from '../storage/database.js';
import { forgetRecording, recordingsBefore } from '../storage/recordings.js';
import type { Config } from './config.js';
import { recordingsFolder } from './recordings.js';

export interface RetentionParts {
  readonly config: Pick<Config, 'dataDir' | 'recordingDays'>;
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  /** Of this machine. */
  readonly host?: string;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const EVERY_MS = 10 * 60 * 1000;

/** Files first, so that what is broken off is found again. False where they could not be removed. */
async function remove({ config, sql, log }: RetentionParts, id: string): Promise<boolean> {
  try {
    await rm(join(recordingsFolder(config.dataDir), id), { recursive: true, force: true });
    await forgetRecording(sql, id);
    return true;
  } catch (error) {
    log.warn({ err: error, sessionId: id }, 'an old recording was not removed');
    return false;
  }
}

export async function removeOldRecordings(parts: RetentionParts): Promise<void> {
  const { config, sql, clock, host = hostname() } = parts;
  const before = new Date(clock.now() - config.recordingDays * DAY_MS);
  for (let removed = true; removed;) {
    removed = false;
    for (const id of await recordingsBefore(sql, host, before))
      removed = (await remove(parts, id)) || removed;
  }
}

/** The result ends it. Nothing happens where recordings are kept for good. */
export function startRetention(parts: RetentionParts): () => void {
  if (parts.config.recordingDays === 0) return () => undefined;
  const failed = (error: unknown): void => parts.log.warn({ err: error }, 'old recordings were not removed');
  return repeat(parts.clock, EVERY_MS, () => removeOldRecordings(parts), failed);
}
