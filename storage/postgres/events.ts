/**
 * Events from other processes: one connection LISTENs for all listeners of this process. Notifications are lost
 * while it is down, so each time it is (re)established, every listener must forget what it knows (`missed`).
 */
import { whyOf } from '../../contracts/errors.js';
import type { Log } from '../../contracts/log.js';
import type { Sql } from './sql.js';

export type NotifyChannel =
  | 'agent_tests'
  | 'api_keys'
  | 'deleted_recordings'
  | 'deliveries'
  | 'phone_transfers'
  | 'session_ends'
  | 'slot_shortage'
  | 'voices';

export interface NotifyListener {
  heard(payload: string): void;
  /** Announcements may have been lost. */
  missed(): void;
}

export interface Events {
  /** Resolves when listening has begun, or after the first failed attempt. The result ends it. */
  listen(channel: NotifyChannel, listener: NotifyListener): Promise<() => void>;
  stop(): Promise<void>;
}

interface Listening {
  readonly onnotify: (channel: string, payload: string) => void;
  readonly onclose: () => void;
}

const RETRY_MS = { first: 100, most: 2000 };

class Announcements implements Events {
  readonly #listeners = new Map<NotifyChannel, Set<NotifyListener>>();
  #sql: Sql | undefined;
  #retry: NodeJS.Timeout | undefined;
  #wait = RETRY_MS.first;
  #stopped = false;

  constructor(
    private readonly connect: (listening: Listening) => Sql,
    private readonly log: Log,
  ) {}

  async listen(channel: NotifyChannel, listener: NotifyListener): Promise<() => void> {
    const set = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, set.add(listener));
    await this.#subscribe([channel]);
    return () => this.#leave(channel, listener);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retry);
    this.#listeners.clear();
    await this.#sql?.end({ timeout: 1 });
  }

  async #subscribe(channels: readonly NotifyChannel[]): Promise<void> {
    const connection = (this.#sql ??= this.#open());
    try {
      for (const channel of channels) await connection`listen ${connection(channel)}`;
      this.#wait = RETRY_MS.first;
      for (const listener of channels.flatMap((channel) => [...(this.#listeners.get(channel) ?? [])]))
        listener.missed();
    } catch (error) {
      if (this.#stopped) return;
      this.log.warn(whyOf(error), 'not listening to the database, trying again');
      this.#subscribeLater();
    }
  }

  #open(): Sql {
    return this.connect({
      onnotify: (channel, payload) =>
        this.#listeners.get(channel as NotifyChannel)?.forEach((listener) => listener.heard(payload)),
      onclose: () => this.#subscribeLater(),
    });
  }

  #subscribeLater(): void {
    if (this.#stopped || this.#retry || this.#listeners.size === 0) return;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      void this.#subscribe([...this.#listeners.keys()]);
    }, this.#wait).unref();
    this.#wait = Math.min(this.#wait * 2, RETRY_MS.most);
  }

  #leave(channel: NotifyChannel, listener: NotifyListener): void {
    const set = this.#listeners.get(channel);
    set?.delete(listener);
    if (set?.size === 0) this.#listeners.delete(channel);
  }
}

export const createEvents = (connect: (listening: Listening) => Sql, log: Log): Events =>
  new Announcements(connect, log);
