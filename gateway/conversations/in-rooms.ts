/**
 * Conversations of livekit mode: each begins with its session, because the agent has to be in the room when the user
 * comes; the user's arrival spends the token (decisions.md fine point 22).
 */
import { IDENTITIES, type RoomCalls } from '../../contracts/ports/calls.js';
import type { RunningSession } from '../../contracts/ports/sessions.js';
import type { LiveConversation, LiveConversations, LiveParts } from './live.js';

export interface RoomParts extends Pick<LiveParts, 'runs'> {
  readonly calls: RoomCalls;
}

export class RoomConversations {
  /** Those whose user has not come yet. */
  readonly #waiting = new Set<LiveConversation>();

  constructor(
    private readonly conversations: LiveConversations,
    private readonly parts: RoomParts,
  ) {}

  /** Resolves when the agent waits in its room. Errors: those of `RoomCall.ready`. */
  async begin(session: RunningSession): Promise<void> {
    const { record, plan } = session;
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
    this.#waiting.add(live);
    void live.over.then(() => this.#waiting.delete(live));
    await call.ready;
  }

  async #activate(id: string): Promise<boolean> {
    const { runs } = this.parts;
    return !('refused' in (await runs.join(id))) && runs.activate(id);
  }

  /** Nobody joins any more: who has not come will not be waited for. */
  leave(): void {
    for (const live of this.#waiting) live.end('error');
  }
}
