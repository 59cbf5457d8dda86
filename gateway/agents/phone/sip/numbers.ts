/**
 * Numbers of provider `sip`, which the SIP service of a LiveKit cluster must know in advance. The rows are authoritative: after each
 * change, and at intervals, the service is made to take calls for the numbers that somebody answers.
 *
 * Invariants: a new number that the service refuses is not kept, and its owner is told why; an unreachable service delays only its
 * own update, and a number that it does not have says so.
 */
import type { Clock } from '../../../../contracts/clock.js';
import { ServiceError, toServiceError, whyOf } from '../../../../contracts/errors.js';
import type { Log } from '../../../../contracts/log.js';
import { sourcesOf } from '../../../../contracts/phone/sip-sources.js';
import type { AnsweredNumbers, PhoneNumber, PhoneNumbers } from '../../../../contracts/ports/phone/phone.js';
import type { SipNumber, SipService } from '../../../../contracts/ports/phone/sip.js';
import { repeat } from '../../../../contracts/time/repeat.js';

export interface SipNumbersParts {
  readonly numbers: PhoneNumbers & AnsweredNumbers;
  readonly sip: Pick<SipService, 'keep'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Interval of the updates, which also repeat those that failed in another process. */
const AGAIN_MS = 30_000;

export const isSip = ({ provider }: Pick<PhoneNumber, 'provider'>): boolean => provider === 'sip';

/** Refuses numbers of provider `sip`: without livekit mode nobody would take their calls. */
export const withoutSip = (numbers: PhoneNumbers): PhoneNumbers => ({
  ...numbers,
  create(number, secrets, workspaceId) {
    if (!isSip(number)) return numbers.create(number, secrets, workspaceId);
    throw new ServiceError('conflict', { message: 'Numbers of provider sip need the livekit transport' });
  },
});

/** Why the service does not have some numbers, by id. */
type Failures = ReadonlyMap<string, ServiceError>;

const NONE: Failures = new Map();

/** For the number's owner. */
const wordOf = ({ code, message }: ServiceError): string =>
  code === 'conflict' ? message : 'The LiveKit server could not be reached, or did not take it yet';

const wordsOf = (failures: Failures): Readonly<Record<string, string>> =>
  Object.fromEntries([...failures].map(([id, failure]) => [id, wordOf(failure)]));

/** A new number waits for the service. */
const notYet = (cause: ServiceError): ServiceError =>
  new ServiceError('transport_failed', {
    message: `${cause.message}: the number stays, with the status error, until the server has it`,
    cause,
  });

export class SipNumbers {
  readonly #stop: () => void;
  /** How many of our numbers the server has. */
  #kept: 'some' | 'none' | 'unknown' = 'unknown';
  #keeping: Promise<unknown> = Promise.resolve();

  constructor(private readonly parts: SipNumbersParts) {
    const { clock, log } = parts;
    this.#stop = repeat(
      clock,
      AGAIN_MS,
      () => this.#again(),
      (error) => log.warn(whyOf(error), 'the LiveKit server does not have all SIP numbers'),
    );
  }

  /** Errors: those of `SipService.keep`, and the first of a number that the service does not have. */
  async #again(): Promise<void> {
    for (const failure of (await this.#keep()).values()) throw failure;
  }

  /** Updates the service, one update after the other, and notes which numbers it does not have. Errors: those of `SipService.keep`. */
  #keep(): Promise<Failures> {
    const kept = this.#keeping.then(() => this.#keepNow());
    this.#keeping = kept.catch(() => undefined);
    return kept;
  }

  async #keepNow(): Promise<Failures> {
    const rows = await this.parts.numbers.answered('sip');
    const wanted: SipNumber[] = rows.map(({ number: { id, address }, secret, inbound }) => {
      const { username, password } = inbound ?? {};
      const account = username !== undefined && password !== undefined && { username, password };
      return {
        ...{ id, address, sources: sourcesOf(secret, account !== false) },
        ...(account && { account }),
      };
    });
    const wants = wanted.length > 0;
    if (!wants && this.#kept === 'none') return NONE;
    try {
      const failures = await this.parts.sip.keep(wanted);
      this.#kept = wants ? 'some' : 'none';
      await this.parts.numbers.noteSetUp('sip', wordsOf(failures));
      return failures;
    } catch (error) {
      // Most servers have no SIP, and need none.
      if (wants || this.#kept === 'some') throw error;
      this.#kept = 'none';
      return NONE;
    }
  }

  /** Why the service does not have the number now, which it says then; undefined if it has it. */
  async #whyNot(id: string): Promise<ServiceError | undefined> {
    try {
      return (await this.#keep()).get(id);
    } catch (error) {
      const failure = toServiceError(error);
      await this.parts.numbers.noteFailure(id, wordOf(failure));
      return failure;
    }
  }

  /** Never rejects for the service: the number is changed in any case, and the next update tries again. */
  async #keepLater(id: string): Promise<void> {
    const failure = await this.#whyNot(id);
    if (failure) this.parts.log.warn(whyOf(failure), 'a SIP number is not yet as it was changed');
  }

  /** The numbers as their workspace sees them. Errors of `create`: also `conflict` and `transport_failed` of the LiveKit server. */
  get numbers(): PhoneNumbers {
    const { numbers } = this.parts;
    return {
      ...numbers,
      create: async (wanted, secrets, workspaceId) => {
        const number = await numbers.create(wanted, secrets, workspaceId);
        if (!isSip(number)) return number;
        const failure = await this.#whyNot(number.id);
        if (!failure) return number;
        if (failure.code !== 'conflict') throw notYet(failure);
        await numbers.remove(number.id, workspaceId);
        throw failure;
      },
      change: async (id, workspaceId, change) => {
        const number = await numbers.change(id, workspaceId, change);
        if (!number || !isSip(number)) return number;
        await this.#keepLater(id);
        return numbers.read(id, workspaceId);
      },
      configureSip: async (id, workspaceId, config) => {
        const number = await numbers.configureSip(id, workspaceId, config);
        if (!number) return undefined;
        await this.#keepLater(id);
        return numbers.read(id, workspaceId);
      },
      remove: async (id, workspaceId) => {
        const number = await numbers.read(id, workspaceId);
        const removed = await numbers.remove(id, workspaceId);
        if (number && isSip(number)) await this.#keepLater(id);
        return removed;
      },
    };
  }

  stop(): void {
    this.#stop();
  }
}
