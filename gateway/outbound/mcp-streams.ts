/** Streams of an MCP server's messages: the pause before one is resumed, and the one that tells changes of the tools. */
import type { Clock } from '../../contracts/clock.js';
import { LIMITS } from '../../contracts/limits.js';
import type { OutboundReply } from '../../contracts/ports/outbound.js';
import { ReplyReader } from './mcp-replies.js';

const { min, max, default: usual } = LIMITS.mcp.resumeMs;

/** Resolves after `ms`. Errors: the signal's reason if it is aborted meanwhile. */
function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const left = (): void => {
      stop();
      reject(signal.reason as Error);
    };
    const stop = clock.after(ms, () => {
      signal.removeEventListener('abort', left);
      resolve();
    });
    signal.addEventListener('abort', left, { once: true });
  });
}

/** Waits as long as the server wants before a stream is resumed. Errors: the signal's reason. */
export const pauseOf = (
  { retryMs = usual }: Pick<ReplyReader, 'retryMs'>,
  clock: Clock,
  signal: AbortSignal,
) => pause(Math.min(max, Math.max(min, retryMs)), clock, signal);

interface Watched {
  /** Opens the stream; resolves when it has ended, or has brought what the reader waits for. */
  listen(reader: ReplyReader): Promise<OutboundReply>;
  changed(): void;
  readonly clock: Clock;
  /** Aborted when nobody watches any more. */
  readonly signal: AbortSignal;
}

/** Calls `changed` each time the server says that its tools have changed, until the signal is aborted. Never rejects. */
export async function watchTools({ listen, changed, clock, signal }: Watched): Promise<void> {
  const reader = new ReplyReader();
  try {
    for (;;) {
      const reply = await listen(reader).catch(() => undefined);
      if (signal.aborted) return;
      // The server has no such stream, or refuses it: a request will tell whether the session is over.
      if (reply && (reply.status < 200 || reply.status > 299)) return;
      if (reader.toolsChanged) changed();
      reader.toolsChanged = false;
      await (reply ? pauseOf(reader, clock, signal) : pause(max, clock, signal));
    }
  } catch {
    // Nobody watches any more.
  }
}
