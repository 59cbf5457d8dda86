/**
 * Phone calls of this process: each begins when a provider's media stream spends its session's token, and ends with it,
 * because no provider comes back with another stream.
 */
import { ServiceError } from '../../contracts/errors.js';
import {
  IDENTITIES,
  type LineFormat,
  type PhoneCall,
  type PhoneLink,
  type PhoneMedia,
} from '../../contracts/ports/calls.js';
import { REFUSALS } from '../calls/joining.js';
import { type CallParts, OwnedCall } from '../calls/owned-call.js';
import { CallRegistry } from '../calls/registry.js';
import { type Leg, type TransferParts, transferOf } from './transferring.js';

export interface PhoneCallsParts extends CallParts {
  readonly calls: PhoneMedia;
  /** Whether this process may take another call, of whatever kind. */
  readonly hasRoom: () => boolean;
  readonly transfers: TransferParts;
}

/** A call, and the way to end it from outside. */
export interface StreamedCall {
  readonly media: PhoneCall;
  readonly owned: OwnedCall;
}

export class PhoneCalls {
  readonly #registry: CallRegistry<OwnedCall>;
  #stopping = false;

  constructor(private readonly parts: PhoneCallsParts) {
    this.#registry = new CallRegistry(parts);
  }

  /** Calls that are not over. */
  get size(): number {
    return this.#registry.all.length;
  }

  /** Whether a call may begin here. */
  get hasRoom(): boolean {
    return !this.#stopping && this.parts.held.holds && this.parts.hasRoom();
  }

  /** Begins the call of a session that waits for its stream. Errors: `overloaded`, `invalid_key`. */
  async begin(sessionId: string, format: LineFormat, link: PhoneLink, leg: Leg): Promise<StreamedCall> {
    const { runs, calls } = this.parts;
    if (!this.hasRoom) throw new ServiceError('overloaded');
    const session = await runs.join(sessionId);
    if ('refused' in session) throw new ServiceError('invalid_key', { message: REFUSALS[session.refused] });
    const { record, plan } = session;
    const options = {
      sessionId,
      user: { identity: IDENTITIES.user, name: '' },
      agent: { identity: IDENTITIES.agent, name: record.agentName },
      record: plan.recordAudio,
      format,
    };
    const media = calls.open(options, link);
    const transfer = transferOf(leg, record, this.parts.transfers);
    const line = { press: (keys: string) => media.press(keys), ...(transfer && { transfer }) };
    const owned = new OwnedCall(media, session, this.parts, () => runs.activate(sessionId), line);
    this.#registry.add(owned);
    return { media, owned };
  }

  /** Begins no more, and ends what is left `until` then. */
  stop(until: Promise<unknown>): Promise<void> {
    this.#stopping = true;
    return this.#registry.stop(until);
  }
}
