/**
 * Numbers of provider `sip`, which the SIP service of a LiveKit cluster must know in advance. The rows are authoritative: after each
 * change, and at intervals, the service is made to take calls for the numbers that somebody answers.
 *
 * Invariants: a new number that the service refuses is not kept, and its owner is told why; an unreachable service delays only its
 * own update.
 */
import type { Clock } from '../../../../contracts/clock.js';
import { ServiceError, whyOf } from '../../../../contracts/errors.js';
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

export class SipNumbers {
  readonly #stop: () => void;
  /** How many of our numbers the server has. */
  #kept: 'some' | 'none' | 'unknown' = 'unknown';
  #keeping: Promise<void> = Promise.resolve();

  constructor(private readonly parts: SipNumbersParts) {
    const { clock, log } = parts;
    this.#stop = repeat(
      clock,
      AGAIN_MS,
      () => this.#keep(),
      (error) => log.warn(whyOf(error), 'the LiveKit server does not have all SIP numbers'),
    );
  }

  /** Updates the service, one update after the other. Errors: those of `SipService.keep`. */
  #keep(): Promise<void> {
    const kept = this.#keeping.then(() => this.#keepNow());
    this.#keeping = kept.catch(() => undefined);
    return kept;
  }

  async #keepNow(): Promise<void> {
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
    if (!wants && this.#kept === 'none') return;
    try {
      await this.parts.sip.keep(wanted);
      this.#kept = wants ? 'some' : 'none';
    } catch (error) {
      // Most servers have no SIP, and need none.
      if (wants || this.#kept === 'some') throw error;
      this.#kept = 'none';
    }
  }

  /** Never rejects: the number is changed in any case, and the next update tries again. */
  async #keepLater(): Promise<void> {
    await this.#keep().catch((error: unknown) =>
      this.parts.log.warn(whyOf(error), 'a SIP number is not yet as it was changed'),
    );
  }

  /** The numbers as their workspace sees them. Errors of `create`: also `conflict` and `transport_failed` of the LiveKit server. */
  get numbers(): PhoneNumbers {
    const { numbers } = this.parts;
    return {
      ...numbers,
      create: async (wanted, secrets, workspaceId) => {
        const number = await numbers.create(wanted, secrets, workspaceId);
        if (!isSip(number)) return number;
        await this.#keep().catch(async (error: unknown) => {
          await numbers.remove(number.id, workspaceId);
          throw error;
        });
        return number;
      },
      change: async (id, workspaceId, change) => {
        const number = await numbers.change(id, workspaceId, change);
        if (number && isSip(number)) await this.#keepLater();
        return number;
      },
      configureSip: async (id, workspaceId, config) => {
        const number = await numbers.configureSip(id, workspaceId, config);
        if (number) await this.#keepLater();
        return number;
      },
      remove: async (id, workspaceId) => {
        const number = await numbers.read(id, workspaceId);
        const removed = await numbers.remove(id, workspaceId);
        if (number && isSip(number)) await this.#keepLater();
        return removed;
      },
    };
  }

  stop(): void {
    this.#stop();
  }
}
