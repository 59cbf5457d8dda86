/**
 * Signalling between the gateway processes of one machine (docs/contract/decisions.md 24): a client that returns to
 * another process than the owner of its conversation is relayed there over the owner's Unix socket, frames unread in both
 * directions. One job per connection; it ends when either side leaves.
 */
import { connect } from 'node:net';
import { CALL_TIMES } from '../../../contracts/limits/call-times.js';
import type { Log } from '../../../contracts/log.js';
import type { SignalConnect, SignalEnd, SignalLink } from '../../../contracts/ports/calls/calls.js';
import { pieceOf, UNBOUNDED_SHARE } from '../../../contracts/ports/accounts/memory.js';
import type { JobHandlers } from '../../../contracts/ports/jobs.js';
import { AsyncQueue } from '../../../media/async-queue.js';
import { createPool, type Pool } from '../../../processes/caller/pool.js';
import type { EmbeddedCalls } from './embedded.js';

const JOB = 'signal';

type Frame = Uint8Array | string;

/** Relay to calls of other processes of this machine. */
export interface SignalRelay {
  /** Whether the process at `address` is there. One that was killed may have the lease of its calls for some seconds more. */
  lives(address: string): Promise<boolean>;
  /** Relays one connection of the session's client to the process at `address`. */
  connect(address: string, sessionId: string, how: SignalConnect, link: SignalLink): SignalEnd;
}

interface SignalArgs {
  readonly sessionId: string;
  readonly version: 1 | 0;
  readonly query: string;
  readonly from: string;
}

/** Most connections that a process takes from others. */
export const RELAYED = 1024;
/** Most bytes of frames that wait to be relayed, in each direction of a connection. */
const MOST_BYTES = 2 * 1024 * 1024;

const memoryOf = (frame: Frame): number => pieceOf(frame.length);

type Connecting = Pick<EmbeddedCalls, 'connect'>;

/** The owner's side: treats the connection as if it had been made here. It ends at once if none of these has the conversation. */
export const relayedSignals = (...calls: readonly Connecting[]): JobHandlers => ({
  async *[JOB]({ sessionId, version, query, from }: SignalArgs, input, { signal }): AsyncGenerator<Frame> {
    const out = new AsyncQueue<Frame>(memoryOf);
    const link = {
      // The process of the client charges what comes from it, and what goes to it.
      memory: UNBOUNDED_SHARE,
      send(frame: Frame) {
        if (out.bytes + memoryOf(frame) > MOST_BYTES) out.end();
        else out.push(frame);
      },
      close: () => out.end(),
    };
    const how = { version, query: new URLSearchParams(query), from };
    const end = firstOf(calls, (each) => each.connect(sessionId, how, link));
    if (!end) return;
    const close = (): void => out.end();
    signal.addEventListener('abort', close, { once: true });
    void carry(input as AsyncIterable<Frame>, end).finally(close);
    try {
      yield* out;
    } finally {
      signal.removeEventListener('abort', close);
      end.closed();
    }
  },
});

function firstOf(
  calls: readonly Connecting[],
  connect: (calls: Connecting) => SignalEnd | undefined,
): SignalEnd | undefined {
  for (const each of calls) {
    const end = connect(each);
    if (end) return end;
  }
  return undefined;
}

/** Never rejects: a broken connection counts as a peer that has left. */
async function carry(frames: AsyncIterable<Frame>, end: SignalEnd): Promise<void> {
  try {
    for await (const frame of frames) end.receive(frame);
  } catch {
    // The connection to the other process has ended.
  }
}

/** One pool per process, kept as long as anybody uses it. */
class Peers {
  readonly #peers = new Map<string, { readonly pool: Pool; users: number }>();

  constructor(private readonly log: Log) {}

  take(address: string): Pool {
    const peer = this.#peers.get(address) ?? {
      pool: createPool({ sockets: [address], log: this.log, waitMs: CALL_TIMES.relayMs }),
      users: 0,
    };
    peer.users += 1;
    this.#peers.set(address, peer);
    return peer.pool;
  }

  release(address: string): void {
    const peer = this.#peers.get(address);
    if (!peer || --peer.users > 0) return;
    this.#peers.delete(address);
    peer.pool.close();
  }
}

/** Whether somebody listens on a Unix socket, which the system knows at once. */
const accepts = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(address);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

export function createSignalRelay(log: Log): SignalRelay {
  const peers = new Peers(log);

  async function relay(address: string, args: SignalArgs, input: AsyncQueue<Frame>, link: SignalLink) {
    try {
      const frames = peers.take(address).runJob(JOB, args, { input, signal: new AbortController().signal });
      for await (const frame of frames) link.send(frame as Frame);
    } catch (error) {
      log.warn({ err: error }, 'a client could not be carried to the owner of its session');
    } finally {
      peers.release(address);
      link.close();
    }
  }

  return {
    lives: accepts,
    connect(address, sessionId, { version, query, from }: SignalConnect, link): SignalEnd {
      const input = new AsyncQueue<Frame>(memoryOf, link.memory);
      void relay(address, { sessionId, version, query: query.toString(), from }, input, link);
      return {
        receive(frame) {
          if (input.bytes + memoryOf(frame) > MOST_BYTES || !input.push(frame)) link.close();
        },
        closed: () => input.end(),
      };
    },
  };
}
