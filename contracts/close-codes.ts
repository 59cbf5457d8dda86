import type { ErrorCode } from './errors.js';

/** WebSocket close codes and the reason for each (RFC 6455 section 7.4; docs/contract/limits.md "Close codes"). */
export const CLOSE = {
  normal: { code: 1000, reason: 'done' },
  /** Its client has come back by another socket. */
  replaced: { code: 1000, reason: 'the session goes on by another socket' },
  goingAway: { code: 1001, reason: 'connection limit of 3600 s reached' },
  unsupportedData: { code: 1003, reason: 'unsupported frame type' },
  invalidPayload: { code: 1007, reason: 'frame is not in the expected encoding' },
  policy: { code: 1008, reason: 'not allowed' },
  unauthenticated: { code: 1008, reason: 'not authenticated in time' },
  tooBig: { code: 1009, reason: 'frame is too large' },
  internal: { code: 1011, reason: 'internal error' },
  restart: { code: 1012, reason: 'service restart' },
  /** What waits in the process has used MEMORY_BUDGET_MB up, and this connection is of the largest holder. */
  memory: { code: 1013, reason: 'no memory left, try again later' },
  flooded: { code: 1008, reason: 'more frames than can be read' },
  slowReader: { code: 1008, reason: 'client does not read' },
} as const;

export type CloseReason = keyof typeof CLOSE;

/** With which a socket ends that has to go through no fault of its client. */
export const ENDINGS = {
  memory_exhausted: 'memory',
  connection_expired: 'goingAway',
} as const satisfies Partial<Record<ErrorCode, CloseReason>>;

/** `policy` for an error that ends no socket by itself. */
export const endingFor = (code: ErrorCode): CloseReason =>
  (ENDINGS as Partial<Record<ErrorCode, CloseReason>>)[code] ?? 'policy';
