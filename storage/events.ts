/**
 * What other processes announce: one connection that LISTENs for all of this process's listeners. What is
 * said while the connection is away is lost, so each time it is there (again) every listener is told to
 * forget what it knows (`missed`).
 */
import type { Log } from '../contracts/log.js';
import type { Sql } from './database.js';
import { messageOf } from './failure.js';

export type Channel = 'api_keys' | 'deliveries' | 'session_ends' | 'slot_shortage' | 'voices';

export interface Listener {
  heard(payload: string): void;
  /** Announcements may have been lost. */
  missed(): void;
}

export interface Events {
  /** Resolves when the channel is listened to, or after the first attempt that failed. The result ends it. */
  listen(channel: Channel, listener: Listener): Promise<() => void>;
  stop(): Promise<void>;
}

interface Listening {
  readonly onnotify: (channel: string, payload: string) => void;
  readonly onclose: () => void;
}

const RETRY_MS = { first: 100, most: 2000 };

export function createEvents(connect: (listening: Listening) => Sql, log: Log): Events {
  const listeners = new Map<Channel, Set<Listener>>();
  let sql: Sql | undefined;
  let retry: NodeJS.Timeout | undefined;
  let wait = RETRY_MS.first;
  let stopped = false;

  const everybody = (): Listener[] => [...listeners.values()].flatMap((set) => [...set]);

  function subscribeLater(): void {
    if (stopped || retry || listeners.size === 0) return;
    retry = setTimeout(() => {
      retry = undefined;
      void subscribe();
    }, wait).unref();
    wait = Math.min(wait * 2, RETRY_MS.most);
  }

  const open = (): Sql =>
    connect({
      onnotify: (channel, payload) => listeners.get(channel as Channel)?.forEach((one) => one.heard(payload)),
      onclose: subscribeLater,
    });

  async function subscribe(): Promise<void> {
    const connection = (sql ??= open());
    try {
      for (const channel of listeners.keys()) await connection`listen ${connection(channel)}`;
      wait = RETRY_MS.first;
      for (const one of everybody()) one.missed();
    } catch (error) {
      if (stopped) return;
      log.warn({ reason: messageOf(error) }, 'not listening to the database, trying again');
      subscribeLater();
    }
  }

  function leave(channel: Channel, listener: Listener): void {
    const set = listeners.get(channel);
    set?.delete(listener);
    if (set?.size === 0) listeners.delete(channel);
  }

  return {
    async listen(channel, listener) {
      const set = listeners.get(channel) ?? new Set();
      listeners.set(channel, set.add(listener));
      await subscribe();
      return () => leave(channel, listener);
    },
    async stop() {
      stopped = true;
      clearTimeout(retry);
      listeners.clear();
      await sql?.end({ timeout: 1 });
    },
  };
}
