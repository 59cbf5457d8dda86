/**
 * The health of storage: room in the data folder, and a database that takes writes. A gateway whose
 * disk is full still answers, so only this check tells load balancers and operators.
 */
import { statfs } from 'node:fs/promises';
import type { Clock } from '../../contracts/clock.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Log } from '../../contracts/log.js';
import { repeat } from '../../contracts/time/repeat.js';
import type { Database } from '../../storage/postgres/database.js';
import type { Health } from '../server/system/health.js';

const CHECK = 'storage';
const LOOK_MS = 2000;

export interface StorageHealthParts {
  readonly health: Health;
  readonly database: Pick<Database, 'writes'>;
  readonly dataDir: string;
  /** Free bytes in a folder; replaced in tests. */
  readonly freeBytes?: (folder: string) => Promise<number>;
  readonly clock: Clock;
  readonly log: Log;
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

export interface StorageHealth {
  /** A write failed for lack of space: not ready until one succeeds. */
  full(): void;
  /** Checks at once instead of after two seconds. */
  look(): Promise<void>;
  stop(): void;
}

export function watchStorage(parts: StorageHealthParts): StorageHealth {
  const { health, database, dataDir, freeBytes = freeBytesOf, clock, log } = parts;
  let failed = false;
  let passed = true;
  const report = (passes: boolean, free?: number): void => {
    if (passed && !passes) log.error({ dataDir, free }, 'no room left on the disk: not ready until there is');
    passed = passes;
    health.set(CHECK, passes);
  };
  const look = async (): Promise<void> => {
    // A folder that cannot be read is reported by another check.
    const free = await freeBytes(dataDir).catch(() => Number.POSITIVE_INFINITY);
    if (failed && (await database.writes())) failed = false;
    report(!failed && free >= LIMITS.storage.freeBytes, free);
  };
  return {
    full() {
      failed = true;
      report(false);
    },
    look,
    // No look rejects.
    stop: repeat(clock, LOOK_MS, look, () => undefined),
  };
}
