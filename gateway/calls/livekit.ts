/**
 * Calls of livekit mode: each begins with its session, because the agent has to be in the room when the user comes; the
 * user's arrival spends the token (docs/contract/decisions.md 22).
 */
import { ServiceError } from '../../contracts/errors.js';
import { IDENTITIES, type RoomCalls } from '../../contracts/ports/calls.js';
import type { RunningSession } from '../../contracts/ports/sessions.js';
import { type CallParts, OwnedCall } from './owned-call.js';
import { CallRegistry } from './registry.js';

export interface LivekitParts extends CallParts {
  readonly calls: RoomCalls;
  /** Calls that this process may have at once. */
  readonly places: number;
}

/** The share of all places that may wait for visitors without a key, who may never come. */
const PUBLIC_SHARE = 0.25;
const AGAIN_SECONDS = 5;

export class LivekitCalls {
  readonly #registry: CallRegistry<OwnedCall>;
  #stopping = false;

  constructor(private readonly parts: LivekitParts) {
    this.#registry = new CallRegistry(parts);
  }

  /** Calls that are not over. */
  get size(): number {
    return this.#registry.all.length;
  }

  get stopping(): boolean {
    return this.#stopping;
  }

  /** Resolves when the agent waits in its room. Errors: those of `RoomCall.ready`. */
  async begin(session: RunningSession): Promise<void> {
    const { record, plan } = session;
    if (record.source === 'public') this.#admitPublic();
    const options = {
      sessionId: record.id,
      user: { identity: IDENTITIES.user, name: '' },
      agent: { identity: IDENTITIES.agent, name: record.agentName },
      record: plan.recordAudio,
    };
    await this.parts.runs.hold(record.id);
    const call = this.parts.calls.open(options, record.expiresAt);
    this.#registry.add(new OwnedCall(call, session, this.parts, () => this.#activate(record.id)));
    await call.ready;
  }

  /** Those whose user has not come yet. */
  get #waiting(): readonly OwnedCall[] {
    return this.#registry.all.filter(({ begun }) => !begun);
  }

  /** Errors: `engine_busy`. */
  #admitPublic(): void {
    const waiting = this.#waiting.filter(({ session }) => session.record.source === 'public').length;
    if (waiting < Math.max(1, this.parts.places * PUBLIC_SHARE)) return;
    throw new ServiceError('engine_busy', { retryAfter: AGAIN_SECONDS });
  }

  async #activate(id: string): Promise<boolean> {
    const { runs } = this.parts;
    return !('refused' in (await runs.join(id))) && runs.activate(id);
  }

  /** Nobody joins any more: a user who has not come is not waited for. Ends what is left `until` then. */
  stop(until: Promise<unknown>): Promise<void> {
    this.#stopping = true;
    for (const call of this.#waiting) call.closedBy('shutdown');
    return this.#registry.stop(until);
  }
}
