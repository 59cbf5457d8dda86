/** Limits of phone numbers and calls: rows of `LIMITS` (limits.ts). Bytes, milliseconds, characters. */
export const PHONE_LIMITS = {
  perWorkspace: 500,
  /** Workspaces that may have one number: the signatures of a webhook are tried one after the other. */
  sharers: 20,
  /** What a webhook is verified with. */
  credential: { min: 1, max: 4000 },
  /** The address of a provider's API. */
  apiUrl: { min: 1, max: 2000 },
  webhookBytes: 64 * 1024,
  /** A provider that is told that a stream is over may take so long to close it. */
  byeMs: 5000,
  /** One message of a provider's media stream. */
  frameBytes: 64 * 1024,
  /** Messages of a stream; sound comes 50 times a second. */
  messages: { burst: 1000, perSecond: 200 },
  /** Messages that wait while a stream is connected to its session. */
  waiting: 500,
  /** Keys that belong together: how many, and how long the next one is waited for. */
  keys: 32,
  keysMs: 2000,
  /** Keys that an agent sends at once. */
  sentKeys: 32,
  /** Seconds that a placed call rings. */
  ring: { min: 5, max: 120, default: 30 },
  /** What is said to an answering machine, in characters. */
  voicemail: { min: 1, max: 1000 },
  idempotencyKey: { min: 1, max: 255 },
  /** One request to a provider's API, and how much of its answer is read. */
  apiMs: 10_000,
  apiAnswerBytes: 64 * 1024,
  /** How much of a provider's reason is kept. */
  reason: 200,
  /** Seconds for which a colleague's telephone rings to whom a caller is transferred. */
  transferRing: 30,
  /** What a colleague is told of the caller, in characters, and how long the language model may write it. */
  briefing: 600,
  briefingMs: 8000,
  /** From then on that a colleague has picked up, until the caller is connected or back. */
  consultMs: 60_000,
  /** What a provider has not told by then of a call that is over, or has rung for its time, is not waited for. */
  reportMs: 60_000,
} as const;
