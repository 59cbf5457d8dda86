/**
 * Recordings of calls: files below `DATA_DIR/recordings/<session>`, written by media workers and read by all gateways of
 * the machine, or objects in a bucket, once they are complete (docs/contract/platform.md 6.7 `recording`;
 * docs/contract/decisions.md 23).
 *
 * A track's state follows from its file: it was ended, it still grows, or its writer was stopped; then the track has
 * failed, but what was written can be played. Files of another machine cannot be reached: the track names that machine. An
 * address is `<session>.<role>.<expiry>.<signature>`, with `<role>-<part>` for parts after the first, and leads to a file
 * that does not change any more.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock } from '../../../contracts/clock.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Log } from '../../../contracts/log.js';
import type {
  Recording,
  RecordingBegan,
  RecordingFile,
  Recordings,
  RecordingTrack,
} from '../../../contracts/ports/sessions/recordings.js';
import type { Secrets } from '../../../contracts/ports/secrets.js';
import { type LastPage, OPUS_RATE } from '../../../media/ogg.js';
import { RECORDED, type RecordedRole } from '../../../media/recorder.js';
import type { Sql } from '../../../storage/postgres/sql.js';
import { readRecording, recordingBegan, type RecordingRow } from '../../../storage/recordings.js';
import type { Config } from '../../config.js';
import { createFolderStore } from './folder-store.js';
import type { RecordingStore, Track } from './store.js';

export interface BucketPlace {
  /** `s3://bucket/prefix`. */
  readonly url: string;
  readonly store: RecordingStore;
}

export interface RecordingParts {
  readonly config: Pick<Config, 'dataDir'>;
  readonly bucket?: BucketPlace | undefined;
  readonly sql: Sql;
  readonly secrets: Pick<Secrets, 'key'>;
  readonly clock: Clock;
  readonly log: Log;
  /** The name of this machine. */
  readonly host?: string;
}

export interface HeldRecordings extends Recordings {
  /** Never throws. */
  readonly began: RecordingBegan;
}

const { urlMs, settleMs } = LIMITS.recording;
const TOKEN = /^([\w-]{1,128})\.((agent|user)(?:-([1-9]\d{0,3}))?)\.(\d{1,12})\.([\w-]{43})$/;
const PATH = '/v1/agent/recordings';

const ABSENT = {
  url: null,
  expires_at: null,
  duration_ms: null,
  ended_at: null,
  error: null,
  error_code: null,
} as const;

/** Messages for missing or incomplete recordings. */
const FAILURES = {
  interrupted: () => 'The recording ends before the call did',
  missing: () => 'The recording was not kept',
  elsewhere: ({ host }: RecordingRow) => `The recording lies on the machine "${host}": ask a gateway there`,
  other_bucket: () => 'The recording lies in a bucket that this gateway does not use',
  not_uploaded: ({ failure }: RecordingRow) => `The recording was not uploaded: ${failure}`,
} as const;

const failure = (code: keyof typeof FAILURES, row: RecordingRow) => ({
  status: 'failed' as const,
  error: FAILURES[code](row),
  error_code: code,
});

const length = (start: Date, { samples }: LastPage) => {
  const ms = Math.round((samples * 1000) / OPUS_RATE);
  return { duration_ms: ms, ended_at: new Date(start.getTime() + ms).toISOString() };
};

/** The recording with all tracks. An interrupted part before the last does not make it fail: the recording continues after it. */
function wholeOf(session_id: string, tracks: readonly RecordingTrack[]): Recording {
  const open = tracks.some(({ status }) => status === 'active');
  const last = tracks.at(-1)?.part ?? 1;
  const failed = tracks.find(
    ({ status, part, error_code }) => status === 'failed' && (part === last || error_code !== 'interrupted'),
  );
  return {
    session_id,
    status: open ? 'processing' : failed ? 'failed' : 'complete',
    tracks,
    error: failed?.error ?? null,
    error_code: failed?.error_code ?? null,
    error_message: failed?.error ?? null,
  };
}

type Place = Omit<Track, 'startedAt'>;

class Addresses {
  constructor(
    private readonly key: Uint8Array,
    private readonly clock: Clock,
  ) {}

  #signature(text: string): Buffer {
    return createHmac('sha256', this.key).update(text).digest();
  }

  sign({ sessionId, role, part }: Place, baseUrl: string) {
    const seconds = Math.floor((this.clock.now() + urlMs) / 1000);
    const text = `${sessionId}.${part === 1 ? role : `${role}-${part}`}.${seconds}`;
    const url = `${baseUrl}${PATH}/${text}.${this.#signature(text).toString('base64url')}`;
    return { url, expires_at: new Date(seconds * 1000).toISOString() };
  }

  /** The place that a token names; undefined if its signature is wrong or it has expired. */
  read(token: string): Place | undefined {
    const [, sessionId = '', track = '', role = '', part = '1', seconds = '', signature = ''] =
      TOKEN.exec(token) ?? [];
    if (sessionId === '' || Number(seconds) * 1000 <= this.clock.now()) return undefined;
    const stated = Buffer.from(signature, 'base64url');
    const real = this.#signature(`${sessionId}.${track}.${seconds}`);
    if (!timingSafeEqual(stated, real)) return undefined;
    return { sessionId, role: role as RecordedRole, part: Number(part) };
  }
}

/** The end of a track, as far as it can be known. */
type Found =
  | { readonly state: 'growing' }
  | { readonly state: 'lost'; readonly code: keyof typeof FAILURES }
  | { readonly state: 'there'; readonly end: LastPage };

const GROWING: Found = { state: 'growing' };
const lost = (code: keyof typeof FAILURES): Found => ({ state: 'lost', code });

/** Finds the state of tracks and the stores that have them. */
class Tracks {
  readonly #folder: RecordingStore;

  constructor(
    dataDir: string,
    private readonly host: string,
    private readonly bucket: BucketPlace | undefined,
    private readonly addresses: Addresses,
  ) {
    this.#folder = createFolderStore(dataDir);
  }

  /** Undefined if it is in another bucket. */
  storeOf({ store }: RecordingRow): RecordingStore | undefined {
    if (store === null) return this.#folder;
    return store === this.bucket?.url ? this.bucket.store : undefined;
  }

  async #inFolder(track: Track, row: RecordingRow): Promise<Found> {
    const end = await this.#folder.end(track);
    const settled = row.sinceEndMs !== null && row.sinceEndMs > settleMs;
    if (!end?.ended && !settled) return GROWING;
    return end ? { state: 'there', end } : lost(row.host === this.host ? 'missing' : 'elsewhere');
  }

  async #inBucket(track: Track, row: RecordingRow): Promise<Found> {
    if (row.failure !== null) return lost('not_uploaded');
    if (!row.kept) return GROWING;
    const store = this.storeOf(row);
    if (!store) return lost('other_bucket');
    const end = await store.end(track);
    return end ? { state: 'there', end } : lost('missing');
  }

  async read(sessionId: string, role: RecordedRole, row: RecordingRow, baseUrl: string) {
    const { part, startedAt } = row;
    const known = { part, role, ...ABSENT, started_at: startedAt.toISOString() };
    const place = { sessionId, role, part, startedAt };
    const found = await (row.store === null ? this.#inFolder(place, row) : this.#inBucket(place, row));
    if (found.state === 'growing') return { ...known, status: 'active' as const };
    if (found.state === 'lost') return { ...known, ...failure(found.code, row) };
    const address = this.addresses.sign(place, baseUrl);
    const there = { ...known, ...length(startedAt, found.end), ...address };
    return found.end.ended
      ? { ...there, status: 'complete' as const }
      : { ...there, ...failure('interrupted', row) };
  }
}

export function createRecordings(parts: RecordingParts): HeldRecordings {
  const { config, bucket, sql, secrets, clock, log, host = hostname() } = parts;
  const addresses = new Addresses(secrets.key('recording urls'), clock);
  const all = new Tracks(config.dataDir, host, bucket, addresses);
  return {
    began(sessionId, at, part) {
      const store = bucket?.url ?? null;
      recordingBegan(sql, sessionId, { part, host, store, at }).catch((error: unknown) =>
        log.error({ err: error }, 'a recording is not listed'),
      );
    },
    async read(sessionId, baseUrl) {
      const rows = await readRecording(sql, sessionId);
      if (rows.length === 0) return undefined;
      const tracks = rows.flatMap((row) => RECORDED.map((role) => all.read(sessionId, role, row, baseUrl)));
      return wholeOf(sessionId, await Promise.all(tracks));
    },
    async open(token): Promise<RecordingFile | undefined> {
      const place = addresses.read(token);
      if (!place) return undefined;
      // A deleted recording is not played any more, even if its files still exist.
      const row = (await readRecording(sql, place.sessionId)).find(({ part }) => part === place.part);
      return row && all.storeOf(row)?.open({ ...place, startedAt: row.startedAt });
    },
  };
}
