/**
 * The deadline of a reply (exchange.ts): its first byte comes in time, not counting what the client takes to send its body, and a
 * stream of events ends after the longest connection (docs/contract/limits.md).
 */
import type { Clock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Arrival } from './adapters/adapter.js';

const { firstByteMs, connectionMs } = LIMITS.http;

export class ReplyDeadline {
  #cancel: () => void = () => undefined;

  /** `since`: when the request arrived; `passed`: called with `first_byte_timeout` or `connection_expired`. */
  constructor(
    private readonly clock: Clock,
    private readonly since: number,
    private readonly body: Arrival['body'],
    private readonly passed: (error: ServiceError) => void,
  ) {}

  awaitFirstByte(ms = firstByteMs): void {
    this.#cancel = this.clock.after(ms, () => this.#firstByteIsLate());
  }

  #firstByteIsLate(): void {
    if (this.body?.arriving) return this.awaitFirstByte();
    const waited = this.clock.monotonic() - (this.body?.endedAt ?? this.since);
    if (waited < firstByteMs) return this.awaitFirstByte(firstByteMs - waited);
    this.passed(new ServiceError('first_byte_timeout'));
  }

  /** Its first byte is sent: as a stream of events it may go on for so long. */
  capConnection(): void {
    this.#cancel = this.clock.after(connectionMs, () => this.passed(new ServiceError('connection_expired')));
  }

  cancel(): void {
    this.#cancel();
  }
}
