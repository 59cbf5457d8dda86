/**
 * The places of each role's jobs, by the policy of contracts/admission/fair-places.ts: at once in one process of the role,
 * of these kept for live work, and waiting, of either kind. docs/operate/fair-admission.md is its table.
 */
import { MiB, SECOND } from './units.js';

/** A job of speech waits on its reader or its audio most of the time, and holds no engine meanwhile. */
const SPEAKING = { slots: 128, keptForLive: 32, queue: 64 } as const;

export const JOB_PLACES = {
  tts: SPEAKING,
  espeak: SPEAKING,
  'sherpa-tts': SPEAKING,
  'sherpa-stt': SPEAKING,
  /** A job holds up to two spans of speech: about 2 MB. */
  stt: { slots: 48, keptForLive: 32, queue: 64 },
  /** A job spends its life waiting for speech and holds 0.4 MB. */
  encode: { slots: 256, keptForLive: 64, queue: 64 },
  /** Each stream has a model of its own: about 5 MB. */
  denoise: { slots: 8, keptForLive: 4, queue: 64 },
  /** One at a time and a short queue, because late answers are useless; all of it is live. */
  turns: { slots: 1, keptForLive: 0, queue: 8 },
  /**
   * More than a core carries of calls in which somebody speaks. Those kept for live work are the calls' places, which admission knows
   * (gateway/wiring/transport/embedded.ts): so nothing waits here, and workspaces share them there. The callers of tests by voice are
   * batch work.
   */
  media: { slots: 2048, keptForLive: 1920, queue: 0, share: 1 },
} as const;

/**
 * A media worker that has carried nothing for so long is replaced if it holds so much more memory than at its start
 * (processes/child/idle-retirement.ts).
 */
export const SWOLLEN_MEDIA = { idleMs: 30 * SECOND, bytes: 16 * MiB } as const;
