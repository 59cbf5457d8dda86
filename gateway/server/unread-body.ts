/**
 * How a request ends whose reply is ready before its body has arrived, as with every refusal of an upload. Many clients read a reply
 * only once they have sent everything, and report a broken connection in its place if it closes meanwhile. So the
 * body is read and dropped: a little of it before the reply, after which the connection may serve on, else the rest behind the
 * reply, whose connection ends with it. Connections that do so are bounded (LIMITS.refused).
 */
import { LIMITS } from '../../contracts/limits.js';

/** Most bytes that are dropped, and how long that may take. */
export interface Drop {
  readonly bytes: number;
  readonly ms: number;
  /** Longest pause of the client; absent: `ms`. */
  readonly idleMs?: number;
}

interface Ending {
  /** Dropped before the reply. */
  readonly before: Drop;
  /** Dropped behind it, if the body has not ended by then. */
  readonly behind: Drop;
}

const { bytes, ms, idleMs, lateMs } = LIMITS.refused;
const NOTHING: Drop = { bytes: -1, ms: 0 };
const A_LITTLE: Drop = { bytes: 64 * 1024, ms: 100 };
const USUAL: Ending = { before: { bytes: 1024 * 1024, ms: 2000 }, behind: { bytes, ms, idleMs } };

/** By status; all others are the usual ones. */
const ENDINGS: Readonly<Record<number, Ending>> = {
  /** The client is too slow already. */
  408: { before: NOTHING, behind: { bytes, ms: lateMs } },
  /** More than a little is still to come. */
  413: { ...USUAL, before: NOTHING },
  /** The sooner the client knows, the sooner it goes elsewhere. */
  503: { ...USUAL, before: A_LITTLE },
};

/** `evicted`: the request has had its time (waiting-pool.ts). */
export function endingOf(status: number, evicted: boolean): Ending {
  const ending = ENDINGS[status] ?? USUAL;
  return evicted ? { ...ending, before: NOTHING } : ending;
}
