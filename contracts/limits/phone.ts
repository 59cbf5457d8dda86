/** Limits of phone numbers and calls: rows of `LIMITS` (contracts/limits.ts). Bytes, milliseconds, characters. */
export const PHONE_LIMITS = {
  perWorkspace: 500,
  label: 120,
  /** Claims to one number that are read at once: a webhook's signature is tried with the secret of each. */
  claims: 20,
  /** Numbers of a provider whose secrets are tried for a handshake that names none, and how long they are kept. */
  handshakeSecrets: 200,
  handshakeSecretsMs: 5000,
  /** Length of the secret that verifies webhooks. */
  credential: { min: 1, max: 4000 },
  /** Of a number of `sip`: addresses from which its calls come, one of them, and the carrier's server. */
  sipAddresses: 32,
  sipAddress: { min: 1, max: 64 },
  sipServer: 259,
  /** The address of a provider's API. */
  apiUrl: { min: 1, max: 2000 },
  /** Time for a provider to close a stream after it was told to. */
  byeMs: 5000,
  /** One message of a provider's media stream. */
  frameBytes: 64 * 1024,
  /** Messages of a stream; sound comes 50 times a second. */
  messages: { burst: 1000, perSecond: 200 },
  /** Messages that wait while a stream is connected to its session. */
  waiting: 500,
  /** Keys that belong together: at most this many, each within this time of the one before. */
  keys: 32,
  keysMs: 2000,
  /** Keys that an agent may send in one request. */
  sentKeys: 32,
  /** Seconds for which a placed call may ring. */
  ring: { min: 5, max: 120, default: 30 },
  /** Characters of the message for an answering machine. */
  voicemail: { min: 1, max: 1000 },
  /** Time for the language model to write that message. */
  messageMs: 8000,
  idempotencyKey: { min: 1, max: 255 },
  /** How long the key of a `POST /phone-calls` is remembered. */
  idempotencyKeptMs: 24 * 60 * 60 * 1000,
  /** How long a report is awaited of who has answered, before it is told that it is not known. */
  detectionMs: 30_000,
  /** One request to a provider's API, and how much of its answer is read. */
  apiMs: 10_000,
  apiAnswerBytes: 64 * 1024,
  /** Characters kept of a provider's reason. */
  reason: 200,
  /** Seconds for which a transfer rings at the colleague's telephone. */
  transferRing: 30,
  /** Briefing of a colleague about the caller: its characters, and the time for the language model to write it. */
  briefing: 600,
  briefingMs: 8000,
  /** Longest consultation with a colleague, from pick-up until the caller is connected or back with the agent. */
  consultMs: 60_000,
  /** How long a provider's report is awaited after a call has ended, or has rung for its full time. */
  reportMs: 60_000,
} as const;
