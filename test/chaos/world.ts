/** Shared by all parts of a chaos run: the clock, the balancer's address, and the recording. */
import { type Answer, type Body, type Call, type CallOptions, client } from '../fixtures/platform/agents.js';
import type { CallRecord, Failure, Fault, Write } from './record.js';
import { embedded, type Join } from './user.js';

/** The error as clients see it: the status of a refused handshake, an error code, or that nothing came. */
export function toldBy(error: unknown): number | string {
  const { message = '', code, cause } = error as NodeJS.ErrnoException;
  const [, status] = /Unexpected server response: (\d+)/.exec(message) ?? [];
  if (status !== undefined) return Number(status);
  const reason = code ?? (cause as NodeJS.ErrnoException | undefined)?.code;
  if (reason === 'UND_ERR_SOCKET') return 'ECONNRESET';
  return reason ?? (/in vain|in time/.test(message) ? 'stalled' : message);
}

/** Errors: if it takes longer. */
export function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not in time`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

export class World {
  readonly faults: Fault[] = [];
  readonly writes: Write[] = [];
  readonly calls: CallRecord[] = [];
  readonly failures: Failure[] = [];
  /** When a token was refused that had just been issued: it was spent by a process that died, or a clock is wrong. */
  readonly refusedTokens: number[] = [];
  /** Texts that were synthesised completely. */
  heard = 0;
  /** Aborted when the load ends. */
  over = false;
  readonly #start = performance.now();
  readonly #call: Call;

  constructor(
    readonly base: string,
    /** How users join their calls. */
    readonly join: Join = embedded(),
    /** What sessions are asked for, beside their agent. */
    readonly wish: Body = {},
  ) {
    this.#call = client(base);
  }

  now(): number {
    return Math.round(performance.now() - this.#start);
  }

  failed(what: string, told: number | string): void {
    this.failures.push({ at: this.now(), what, told });
  }

  /** A request below /v1/agent; undefined if it failed, which is recorded unless `expected` is its status. */
  async ask(
    path: string,
    options: CallOptions = {},
    expected: readonly number[] = [],
  ): Promise<Answer | undefined> {
    try {
      const answer = await this.#call(path, options);
      if (answer.status < 300) return answer;
      if (!expected.includes(answer.status))
        this.failed(`${options.method ?? 'request'} ${path}`, answer.status);
    } catch (error) {
      this.failed(`${options.method ?? 'request'} ${path}`, toldBy(error));
    }
    return undefined;
  }
}
