/**
 * Signalling between the gateway processes of one machine (docs/contract/decisions.md 24): a client that returns to
 * another process than the one that holds its conversation is carried there over that process's Unix socket, frames
 * unread both ways. One job a connection; it ends when either side goes.
 */
import { CALL_TIMES } from '../../contracts/call-times.js';
import type { Log } from '../../contracts/log.js';
import type { SignalConnect, SignalEnd, SignalLink } from '../../contracts/ports/calls.js';
import type { JobHandlers } from '../../contracts/ports/jobs.js';
import { AsyncQueue } from '../../media/async-queue.js';
import { createPool, type Pool } from '../../processes/pool.js';
import type { EmbeddedCalls } from './embedded.js';

const JOB = 'signal';

type Frame = Uint8Array | string;

/** The way to calls that other processes of this machine own. */
export interface SignalRelay {
  /** One connection of the session's client, carried to the process at `address`. */
  connect(address: string, sessionId: string, how: SignalConnect, link: SignalLink): SignalEnd;
}

interface SignalArgs {
  readonly sessionId: string;
  readonly version: 1 | 0;
  readonly query: string;
  readonly from: string;
}

/** Connections that a process takes from others. */
export const RELAYED = 1024;
/** Frames of one client that wait to be carried, in bytes. */
const MOST_BYTES = 2 * 1024 * 1024;

const lengthOf = (frame: Frame): number => frame.length;

/** The owner's side: the connection as if it had been made here. It ends at once where the conversation is not. */
export const relayedSignals = (calls: Pick<EmbeddedCalls, 'connect'>): JobHandlers => ({
  async *[JOB]({ sessionId, version, query, from }: SignalArgs, input, { signal }): AsyncGenerator<Frame> {
    const out = new AsyncQueue<Frame>(lengthOf);
    const link = { send: (frame: Frame) => void out.push(frame), close: () => out.end() };
    const end = calls.connect(sessionId, { version, query: new URLSearchParams(query), from }, link);
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

/** Never rejects: a peer that is cut off has gone. */
async function carry(frames: AsyncIterable<Frame>, end: SignalEnd): Promise<void> {
  try {
    for await (const frame of frames) end.receive(frame);
  } catch {
    // The connection to the other process has ended.
  }
}

/** A pool a process that is spoken to, for as long as anybody does. */
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

export function createSignalRelay(log: Log): SignalRelay {
  const peers = new Peers(log);

  async function relay(address: string, args: SignalArgs, input: AsyncQueue<Frame>, link: SignalLink) {
    try {
      const frames = peers.take(address).run(JOB, args, { input, signal: new AbortController().signal });
      for await (const frame of frames) link.send(frame as Frame);
    } catch (error) {
      log.warn({ err: error }, 'a client could not be carried to the owner of its session');
    } finally {
      peers.release(address);
      link.close();
    }
  }

  return {
    connect(address, sessionId, { version, query, from }: SignalConnect, link): SignalEnd {
      const input = new AsyncQueue<Frame>(lengthOf);
      void relay(address, { sessionId, version, query: query.toString(), from }, input, link);
      return {
        receive(frame) {
          if (input.bytes + frame.length > MOST_BYTES) link.close();
          else input.push(frame);
        },
        closed: () => input.end(),
      };
    },
  };
}
