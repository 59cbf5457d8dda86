/**
 * Handshakes of media streams: whose place a stream takes until its first message. One that proves nothing is still accepted, as
 * a stranger among strangers: it may be of a call that the previous release has answered.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../contracts/clock.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { PhoneProvider } from '../../../contracts/phone/phone.js';
import type { Claim, DialledNumbers } from '../../../contracts/ports/phone/phone.js';
import type { HttpRequest } from '../../server/port.js';
import { handshakeOf } from './answering.js';
import type { StreamProvider, Webhook } from './provider.js';
import type { ProviderRow } from './providers.js';
import type { StreamProofs } from './stream-tokens.js';

export interface HandshakeParts {
  readonly numbers: Pick<DialledNumbers, 'tokened' | 'known'>;
  readonly proofs: Pick<StreamProofs, 'verify'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

const { handshakeSecrets, handshakeSecretsMs } = LIMITS.phone;

export class Handshakes {
  /** Claims of a provider, read once for all handshakes of some seconds. */
  readonly #known: LRUCache<PhoneProvider, Promise<readonly Claim[]>>;

  constructor(private readonly parts: HandshakeParts) {
    const now = (): number => parts.clock.monotonic();
    this.#known = new LRUCache({ max: 16, ttl: handshakeSecretsMs, perf: { now } });
  }

  /** The holder of the stream's place: an answered call, or a number; undefined for a stranger. */
  async holderOf(request: HttpRequest, { spoken, stream }: ProviderRow): Promise<string | undefined> {
    const { token = '' } = request.params;
    if (stream === 'proof') return this.parts.proofs.verify(spoken.name, token);
    const handshake = handshakeOf(request);
    const claims = token === '' ? await this.#claims(spoken.name) : await this.#claim(spoken.name, token);
    return claims.find((claim) => this.#fits(claim, handshake, spoken))?.number.id;
  }

  #fits({ secret }: Claim, handshake: Webhook, spoken: Pick<StreamProvider, 'isSigned'>): boolean {
    return spoken.isSigned(handshake, secret, this.parts.clock.now());
  }

  async #claim(provider: PhoneProvider, token: string): Promise<readonly Claim[]> {
    const claim = await this.parts.numbers.tokened(provider, token);
    return claim ? [claim] : [];
  }

  #claims(provider: PhoneProvider): Promise<readonly Claim[]> {
    const known = this.#known.get(provider) ?? this.parts.numbers.known(provider, handshakeSecrets);
    this.#known.set(provider, known, { noUpdateTTL: true });
    known.catch(() => this.#known.delete(provider));
    return known;
  }
}
