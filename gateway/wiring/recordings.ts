/**
 * Wires recordings of one gateway: in the data folder, or uploaded to a bucket from there (RECORDINGS_URL), and their
 * retention.
 */
import { hostname } from 'node:os';
import type { Clock } from '../../contracts/clock.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Log } from '../../contracts/log.js';
import type { Keeper } from '../../contracts/ports/parts.js';
import type { Secrets } from '../../contracts/ports/secrets.js';
import type { Database } from '../../storage/postgres/database.js';
import type { Config } from '../config.js';
import { createBucketStore } from '../agents/recordings/bucket-store.js';
import { startRetention } from '../agents/recordings/recording-retention.js';
import { createRecordings, type HeldRecordings } from '../agents/recordings/recordings.js';
import { checkBucket, openS3 } from '../agents/recordings/s3.js';
import type { Bucket } from '../agents/recordings/bucket.js';
import { CheckFailure, type PartCheck } from './part-check.js';
import { startUploads } from '../agents/recordings/uploads.js';
import { watchedBucket } from '../agents/recordings/watched-bucket.js';
import { bucketPart } from './parts.js';
import type { Metrics } from '../server/system/metrics.js';

export interface RecordingOptions {
  readonly config: Pick<
    Config,
    'dataDir' | 'recordingDays' | 'recordingsUrl' | 'recordingsSpoolMb' | 'recordingsRedirect'
  >;
  readonly database: Database;
  readonly secrets: Pick<Secrets, 'key'>;
  /** Unique among all live processes. */
  readonly processId: string;
  readonly keeper: Keeper;
  readonly clock: Clock;
  readonly log: Log;
}

const MB = 1_000_000;

/** The bucket of RECORDINGS_URL. Errors: if its library is not installed. */
const openBucket = async ({ recordingsUrl: url }: Pick<Config, 'recordingsUrl'>) =>
  url === undefined ? undefined : openS3(url, process.env);

/** Whether recordings can be listed, written and deleted there. */
const bucketCheck = (bucket: Bucket): PartCheck => ({
  parts: [bucketPart(bucket.url, process.env)],
  async ask() {
    const fault = await checkBucket(bucket);
    if (fault) throw new CheckFailure(fault.reason, fault.error);
    return undefined;
  },
});

/** The check of the bucket that a configuration names. Errors: as `openBucket`. */
export async function bucketChecks(config: Pick<Config, 'recordingsUrl'>): Promise<readonly PartCheck[]> {
  const bucket = await openBucket(config);
  return bucket ? [bucketCheck(bucket)] : [];
}

export interface OpenRecordings {
  readonly recordings: HeldRecordings;
  /** How the bucket is asked something cheap, if there is one. */
  readonly checks: readonly PartCheck[];
  addGauges(metrics: Metrics): void;
  stop(): Promise<void>;
}

export async function openRecordings(options: RecordingOptions): Promise<OpenRecordings> {
  const { config, database, processId, keeper, clock, log } = options;
  const { sql, events } = database;
  const { dataDir, recordingsRedirect, recordingsSpoolMb } = config;
  const host = hostname();
  const opened = await openBucket(config);
  const bucket = opened && watchedBucket(opened, bucketPart(opened.url, process.env), keeper);
  const redirectFor = recordingsRedirect === 'true' ? LIMITS.recording.urlMs / 1000 : undefined;
  const place = bucket && { url: bucket.url, store: createBucketStore(bucket, redirectFor) };
  const common = { ...options, sql, host };
  const recordings = createRecordings({ ...common, bucket: place });
  const stopRetention = await startRetention({ ...common, events, bucket });
  const spoolBytes = recordingsSpoolMb * MB;
  const uploads = bucket && startUploads({ bucket, sql, dataDir, host, processId, spoolBytes, clock, log });
  return {
    recordings,
    checks: opened ? [bucketCheck(opened)] : [],
    addGauges(metrics) {
      metrics.gauge(
        'recordings_waiting_bytes',
        'Bytes of recordings that are not completely in their bucket, if there is one',
        () => (uploads ? [{ labels: {}, value: uploads.waitingBytes() }] : []),
      );
    },
    async stop() {
      stopRetention();
      await uploads?.stop();
      opened?.close();
    },
  };
}
