/**
 * Conversations of livekit mode: each begins with its session, because the agent has to be in the room when the user
 * comes; the user's arrival spends the token (decisions.md fine point 22).
 */
import { ServiceError } from '../../contracts/errors.js';
import { IDENTITIES, type RoomCalls } from '../../contracts/ports/calls.js';
import type { RunningSession } from '../../contracts/ports/sessions.js';
import type { LiveConversation, LiveConversations, LiveParts } from './live.js';

export interface RoomParts extends Pick<LiveParts, 'runs'> {
  readonly calls: RoomCalls;
  /** Conversations that this process may have at once. */
  readonly places: number;
}

/** What of all places may wait for visitors without a key, who may never come. */
const PUBLIC_SHARE = 0.25;
const AGAIN_SECONDS = 5;

export class RoomConversations {
  /** Those whose user has not come yet, and whether anybody may be that. */
  readonly #waiting = new Map<LiveConversation, boolean>();

  constructor(
    private readonly conversations: LiveConversations,
    private readonly parts: RoomParts,
  ) {}

  /** Resolves when the agent waits in its room. Errors: those of `RoomCall.ready`. */
  async begin(session: RunningSession): Promise<void> {
    const { record, plan } = session;
    const isPublic = record.source === 'public';
    if (isPublic) this.#admitPublic();
    const options = {
      sessionId: record.id,
      user: { identity: IDENTITIES.user, name: '' },
      agent: { identity: IDENTITIES.agent, name: record.agentName },
      record: plan.recordAudio,
    };
    await this.parts.runs.hold(record.id);
    const call = this.parts.calls.open(options, record.expiresAt, new AbortController().signal);
    const live = this.conversations.begin(call, session, () => {
      this.#waiting.delete(live);
      return this.#activate(record.id);
    });
    this.#waiting.set(live, isPublic);
    void live.over.then(() => this.#waiting.delete(live));
    await call.ready;
  }

  /** Errors: `engine_busy`. */
  #admitPublic(): void {
    const waiting = [...this.#waiting.values()].filter((isPublic) => isPublic).length;
    if (waiting < Math.max(1, this.parts.places * PUBLIC_SHARE)) return;
    throw new ServiceError('engine_busy', { retryAfter: AGAIN_SECONDS });
  }

  async #activate(id: string): Promise<boolean> {
    const { runs } = this.parts;
    return !('refused' in (await runs.join(id))) && runs.activate(id);
  }

  /** Nobody joins any more: who has not come will not be waited for. */
  leave(): void {
    for (const live of this.#waiting.keys()) live.end('error');
  }
}
