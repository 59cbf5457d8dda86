/**
 * The addresses of one remote speech service, which all do the same work: each request goes to the healthy one with the
 * fewest running requests.
 *
 * Invariants: a request goes to another address only if its connection was never made, so that nothing is done
 * twice; an address that failed or is too busy is left out for a while, unless there is no other; one that reports
 * not ready (503 at /health), or is unreachable, is left out until it is ready. With one address, none of this
 * happens.
 */
import { type Clock, systemClock } from '../../../contracts/clock.js';
import { LIMITS } from '../../../contracts/limits.js';
import { ServiceError } from '../../../contracts/errors.js';
import { noKeeper, type Question } from '../../../contracts/ports/parts.js';
import { Backoff } from '../../../processes/backoff.js';
import { ask, bytesOfReply, type RemoteAddress, type RemoteReply, type RemoteRequest } from './request.js';

/** Work of an address that has begun, such as a reply whose head has come. */
export interface Begun<T> {
  readonly reply: T;
  /** To be called once it was read, or if nobody reads it; `error`: why it is no whole answer. */
  over(error?: unknown): void;
}

export type BegunReply = Begun<RemoteReply>;

/** Begins work at an address. */
type Begin<T> = (address: RemoteAddress) => Promise<T>;

/** As what the service is asked, and for whom; the result is told what came of it. `at`: its address among all of the service. */
export type QuestionFor = (at: number) => Question;

const nobody: QuestionFor = (at) => noKeeper.ask({ kind: 'voice', name: String(at) });

/** Errors of a connection that was never made: the service did not get the request. */
const NEVER_ARRIVED = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);
/** Statuses by which an address can take no work now, rather than refuses the request itself. */
const UNABLE = new Set([429, 502, 503, 504]);
const NOT_READY = 503;
const MS_A_SECOND = 1000;

/** The code of the socket's error below a failed request. */
function codeBelow(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause)
    if ('code' in at && typeof at.code === 'string' && /^[A-Z_]+$/.test(at.code)) return at.code;
  return '';
}

class Member {
  underWay = 0;
  /** As of the last look at /health. */
  ready = true;
  /** End of its exclusion. */
  outUntil = -Infinity;
  readonly #backoff = new Backoff(LIMITS.remote.ejection);

  constructor(
    readonly url: string,
    private readonly clock: Clock,
  ) {}

  get isOut(): boolean {
    return !this.ready || this.outUntil > this.clock.monotonic();
  }

  answered(): void {
    this.#backoff.reset();
  }

  failed(error: unknown): void {
    const { status, retryAfter } = error instanceof ServiceError ? error : {};
    if (status !== undefined && !UNABLE.has(status)) return this.answered();
    const ms = retryAfter === undefined ? this.#backoff.next() : retryAfter * MS_A_SECOND;
    this.outUntil = this.clock.monotonic() + ms;
  }

  async look(): Promise<void> {
    const { healthEveryMs: ms } = LIMITS.remote;
    const address = new URL('/health', this.url);
    const response = await fetch(address, { signal: AbortSignal.timeout(ms) }).catch(() => undefined);
    await response?.body?.cancel().catch(() => undefined);
    this.ready = response !== undefined && response.status !== NOT_READY;
  }
}

export class ServicePool {
  readonly #members: readonly Member[];
  #watching = false;

  constructor(
    urls: readonly string[],
    private readonly access: Omit<RemoteAddress, 'url'>,
    private readonly clock: Clock = systemClock,
  ) {
    this.#members = urls.map((url) => new Member(url, clock));
  }

  /** Errors: those of `ask`. */
  ask(request: RemoteRequest, signal: AbortSignal, asking?: QuestionFor): Promise<BegunReply> {
    return this.begin((address) => ask(address, request, signal), signal, asking);
  }

  /** Errors: those of `begin`. */
  async begin<T>(begin: Begin<T>, signal: AbortSignal, asking: QuestionFor = nobody): Promise<Begun<T>> {
    this.#watch();
    const left = new Set(this.#members);
    for (;;) {
      const member = bestOf(left);
      left.delete(member);
      try {
        return await this.#beginAt(member, begin, signal, asking);
      } catch (error) {
        if (left.size === 0 || !NEVER_ARRIVED.has(codeBelow(error))) throw error;
      }
    }
  }

  /** What `read` makes of the whole body of a reply, of `most` bytes. Errors: those of `ask`, `bytesOfReply` and `read`. */
  async whole<T>(
    request: RemoteRequest,
    { most, read }: { readonly most: number; read(body: Buffer): T },
    signal: AbortSignal,
    asking?: QuestionFor,
  ): Promise<T> {
    const { reply, over } = await this.ask(request, signal, asking);
    try {
      const answer = read(await bytesOfReply(reply, most));
      over();
      return answer;
    } catch (error) {
      over(error);
      throw error;
    }
  }

  async #beginAt<T>(
    member: Member,
    begin: Begin<T>,
    signal: AbortSignal,
    asking: QuestionFor,
  ): Promise<Begun<T>> {
    member.underWay += 1;
    const question = asking(this.#members.indexOf(member));
    const over = (error?: unknown): void => {
      member.underWay -= 1;
      question.ended(error, signal);
    };
    try {
      const reply = await begin({ ...this.access, url: member.url });
      member.answered();
      question.began();
      return { reply, over };
    } catch (error) {
      over(error);
      if (!signal.aborted) member.failed(error);
      throw error;
    }
  }

  /** Polls /health from the first request on. */
  #watch(): void {
    if (this.#watching || this.#members.length === 1) return;
    this.#watching = true;
    const look = (): void => {
      void Promise.all(this.#members.map((member) => member.look()));
      this.clock.after(LIMITS.remote.healthEveryMs, look);
    };
    look();
  }
}

/** Negative if `one` is the better choice: not excluded, ready, excluded for less time, or less busy. */
const compare = (one: Member, other: Member): number =>
  Number(one.isOut) - Number(other.isOut) ||
  Number(other.ready) - Number(one.ready) ||
  (one.isOut && one.outUntil - other.outUntil) ||
  one.underWay - other.underWay;

function bestOf(members: ReadonlySet<Member>): Member {
  const [best] = [...members].sort(compare);
  if (best) return best;
  throw new Error('A service has an address at least');
}
