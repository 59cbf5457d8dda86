/** What an operator could see of a gateway, second by second: figures, `/health`, the log. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Scrape, scraped } from './figures.js';
import { type LogLine, LogReader } from './log-reader.js';

/** Level of the log. */
const INFO = 30;
const SECOND_MS = 1000;
/** Prometheus waits for a scrape as long as its interval at most. */
const SCRAPE_MS = 5000;

export type HealthBody = Readonly<Record<string, unknown>>;

/** One second of the recording. */
export interface Second {
  readonly scrape: Scrape;
  /** The body of `/health`; undefined: no answer. */
  readonly health: HealthBody | undefined;
}

async function answerOf(url: string): Promise<string | undefined> {
  try {
    return await (await fetch(url, { signal: AbortSignal.timeout(SCRAPE_MS) })).text();
  } catch {
    return undefined;
  }
}

export class Recorder {
  readonly #seconds = new Map<number, Second>();
  readonly #lines: LogLine[] = [];
  readonly #from = Date.now();
  readonly #logs: LogReader[] = [];
  #over = false;

  /** `base`: where the gateway is asked. */
  constructor(private readonly base: string) {}

  /** Reads this log, too: that of a gateway that was started. */
  follow(log: () => string): void {
    this.#logs.push(new LogReader(log));
  }

  /** The second that has begun. */
  get now(): number {
    return Math.floor((Date.now() - this.#from) / SECOND_MS);
  }

  /** The beginning of a second, in milliseconds since the epoch. */
  timeOf(second: number): number {
    return this.#from + second * SECOND_MS;
  }

  /** Records until `stop`. */
  async run(): Promise<void> {
    while (!this.#over) {
      const second = this.now;
      const [figures, health] = await Promise.all([
        answerOf(`${this.base}/metrics`),
        answerOf(`${this.base}/health`),
      ]);
      const body = health === undefined ? undefined : (JSON.parse(health) as HealthBody);
      this.#seconds.set(second, { scrape: scraped(figures), health: body });
      this.#readLog();
      await pause(Math.max(0, this.timeOf(Math.max(second + 1, this.now)) - Date.now()));
    }
  }

  stop(): void {
    this.#over = true;
  }

  /** What was recorded from that second on; undefined where nobody looked. */
  since(second: number): readonly (Second | undefined)[] {
    return Array.from({ length: this.now - second }, (_, at) => this.#seconds.get(second + at));
  }

  /** The first line from that time on (milliseconds since the epoch) that matches. */
  line(pattern: RegExp, from: number): LogLine | undefined {
    this.#readLog();
    return this.#lines.find(({ time, msg }) => time >= from && pattern.test(msg));
  }

  /** Lines above `info`, as they stand in the log. */
  warningsSince(from: number): readonly string[] {
    this.#readLog();
    return this.#lines.filter(({ time, level }) => time >= from && level > INFO).map(({ text }) => text);
  }

  #readLog(): void {
    for (const log of this.#logs) this.#lines.push(...log.fresh());
  }
}
