/**
 * Recordings of calls: files below `DATA_DIR/recordings/<session>`, which media workers write and all gateways of the
 * machine read (docs/contract/platform.md 6.7 `recording`; docs/contract/decisions.md 23).
 *
 * A track's state is read off its file: it was ended, it still grows, or whoever wrote it was stopped; then what it
 * holds can be heard, and it has failed. Files of another machine cannot be reached: the track says whose they are. An
 * address is `<session>.<role>.<expiry>.<signature>`, and leads to a file that does not change any more.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../contracts/clock.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Log } from '../../contracts/log.js';
import type {
  Recording,
  RecordingBegan,
  RecordingFile,
  Recordings,
  RecordingTrack,
} from '../../contracts/ports/recordings.js';
import type { Secrets } from '../../contracts/ports/secrets.js';
import { type LastPage, lastPage, OPUS_RATE, TAIL_BYTES } from '../../media/ogg.js';
import { RECORDED, type RecordedRole } from '../../media/recorder.js';
import type { Sql } from '../../storage/sql.js';
import { readRecording, recordingBegan, type RecordingRow } from '../../storage/recordings.js';
import type { Config } from '../config.js';

export interface RecordingParts {
  readonly config: Pick<Config, 'dataDir'>;
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
const TOKEN = /^([\w-]{1,128})\.(agent|user)\.(\d{1,12})\.([\w-]{43})$/;
const PATH = '/v1/agent/recordings';

export const recordingsFolder = (dataDir: string): string => join(dataDir, 'recordings');

/** Undefined where there is no such file. Errors: where it cannot be read. */
async function endOf(path: string): Promise<LastPage | undefined> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
    const { bytesRead } = await file.read(tail, 0, tail.length, size - tail.length);
    return lastPage(tail.subarray(0, bytesRead)) ?? { samples: 0, ended: false };
  } finally {
    await file.close();
  }
}

/** Opened by the first read. */
async function* pieces(path: string, from: number, to: number): AsyncGenerator<Uint8Array> {
  if (from < to) yield* createReadStream(path, { start: from, end: to - 1 }) as AsyncIterable<Buffer>;
}

const ABSENT = {
  url: null,
  expires_at: null,
  duration_ms: null,
  ended_at: null,
  error: null,
  error_code: null,
} as const;

/** Why there is less than was asked for. */
const FAILURES = {
  interrupted: () => 'The recording ends before the call did',
  missing: () => 'The recording was not kept',
  elsewhere: (host: string) => `The recording lies on the machine "${host}": ask a gateway there`,
} as const;

const failure = (code: keyof typeof FAILURES, host: string) => ({
  status: 'failed' as const,
  error: FAILURES[code](host),
  error_code: code,
});

const length = (start: Date, { samples }: LastPage) => {
  const ms = Math.round((samples * 1000) / OPUS_RATE);
  return { duration_ms: ms, ended_at: new Date(start.getTime() + ms).toISOString() };
};

function wholeOf(session_id: string, tracks: readonly RecordingTrack[]): Recording {
  const open = tracks.some(({ status }) => status === 'active');
  const failed = tracks.find(({ status }) => status === 'failed');
  return {
    session_id,
    status: open ? 'processing' : failed ? 'failed' : 'complete',
    tracks,
    error: failed?.error ?? null,
    error_code: failed?.error_code ?? null,
    error_message: failed?.error ?? null,
  };
}

class Addresses {
  constructor(
    private readonly key: Uint8Array,
    private readonly clock: Clock,
  ) {}

  #signature(text: string): Buffer {
    return createHmac('sha256', this.key).update(text).digest();
  }

  sign(sessionId: string, role: RecordedRole, baseUrl: string) {
    const seconds = Math.floor((this.clock.now() + urlMs) / 1000);
    const text = `${sessionId}.${role}.${seconds}`;
    const url = `${baseUrl}${PATH}/${text}.${this.#signature(text).toString('base64url')}`;
    return { url, expires_at: new Date(seconds * 1000).toISOString() };
  }

  /** Undefined where it was not signed here or is over. */
  read(token: string): { readonly sessionId: string; readonly role: RecordedRole } | undefined {
    const [, sessionId = '', role = '', seconds = '', signature = ''] = TOKEN.exec(token) ?? [];
    if (sessionId === '' || Number(seconds) * 1000 <= this.clock.now()) return undefined;
    const stated = Buffer.from(signature, 'base64url');
    const real = this.#signature(`${sessionId}.${role}.${seconds}`);
    return timingSafeEqual(stated, real) ? { sessionId, role: role as RecordedRole } : undefined;
  }
}

export function createRecordings(parts: RecordingParts): HeldRecordings {
  const { config, sql, secrets, clock, log, host = hostname() } = parts;
  const addresses = new Addresses(secrets.key('recording urls'), clock);
  const fileOf = (sessionId: string, role: RecordedRole): string =>
    join(recordingsFolder(config.dataDir), sessionId, RECORDED[role]);

  async function trackOf(id: string, role: RecordedRole, row: RecordingRow, baseUrl: string) {
    const track = { role, ...ABSENT, started_at: row.startedAt.toISOString() };
    const end = await endOf(fileOf(id, role));
    const settled = row.sinceEndMs !== null && row.sinceEndMs > settleMs;
    if (!end?.ended && !settled) return { ...track, status: 'active' as const };
    if (!end) return { ...track, ...failure(row.host === host ? 'missing' : 'elsewhere', row.host) };
    const known = { ...track, ...length(row.startedAt, end), ...addresses.sign(id, role, baseUrl) };
    return end.ended
      ? { ...known, status: 'complete' as const }
      : { ...known, ...failure('interrupted', row.host) };
  }

  return {
    began(sessionId, at) {
      recordingBegan(sql, sessionId, host, at).catch((error: unknown) =>
        log.error({ err: error }, 'a recording is not listed'),
      );
    },
    async read(sessionId, baseUrl) {
      const row = await readRecording(sql, sessionId);
      if (!row) return undefined;
      const tracks = (['agent', 'user'] as const).map((role) => trackOf(sessionId, role, row, baseUrl));
      return wholeOf(sessionId, await Promise.all(tracks));
    },
    async open(token): Promise<RecordingFile | undefined> {
      const { sessionId, role } = addresses.read(token) ?? {};
      if (sessionId === undefined || role === undefined) return undefined;
      // A deleted recording is not played any more, wherever its files still are.
      if (!(await readRecording(sql, sessionId))) return undefined;
      const path = fileOf(sessionId, role);
      const size = await stat(path).then(
        (file) => file.size,
        () => undefined,
      );
      return size === undefined ? undefined : { bytes: size, read: (from, to) => pieces(path, from, to) };
    },
  };
}
