/** Recordings of sessions as clients read them (docs/contract/platform.md 6.7 `recording`). */
export interface RecordingTrack {
  /** From 1 on. A call that another process took over is recorded in parts, with a gap between them. */
  readonly part: number;
  readonly role: 'agent' | 'user' | 'human';
  readonly status: 'requested' | 'active' | 'complete' | 'failed';
  /** Signed; valid until `expires_at`. */
  readonly url: string | null;
  readonly expires_at: string | null;
  readonly duration_ms: number | null;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly error: string | null;
  readonly error_code: string | null;
}

export interface Recording {
  readonly session_id: string;
  readonly status: 'processing' | 'complete' | 'failed';
  readonly tracks: readonly RecordingTrack[];
  readonly error: string | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
}

/** The whole audio of one track. */
export interface RecordingFile {
  readonly bytes: number;
  /** Bytes from `from` up to, but not including, `to`; the file is closed when the reader leaves. */
  read(from: number, to: number): AsyncIterable<Uint8Array>;
  /** A temporary address to redirect clients to instead. */
  readonly address?: string;
}

export interface Recordings {
  /** Its addresses begin with `baseUrl`. Undefined if the session was never recorded. */
  read(sessionId: string, baseUrl: string): Promise<Recording | undefined>;
  /** The file behind a signed address; undefined if the signature is wrong or has expired. */
  open(token: string): Promise<RecordingFile | undefined>;
}

/** Called when recording of a session's call has begun, at `at`, as that part of its recording. */
export type RecordingBegan = (sessionId: string, at: Date, part: number) => void;
