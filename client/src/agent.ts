/**
 * The agent in the room: recognised by its state, an attribute that it sets when it has joined. A full reconnect takes
 * it out of the room for a moment, so it counts as gone only after `awayMs`.
 */
import type { Mode } from './events.js';
import { SessionError } from './errors.js';
import { ATTRIBUTES } from './protocol.js';
import { listen, type Room, type RoomEvents } from './room.js';

export const AGENT_TIMES = { joinMs: 15_000, awayMs: 1000 } as const;

export interface AgentWatcher {
  mode(mode: Mode): void;
  left(): void;
}

const CHANGES: readonly (keyof RoomEvents)[] = [
  'participantConnected',
  'participantDisconnected',
  'participantAttributesChanged',
  'reconnected',
];

const modeOf = (state: string): Mode => (state === 'thinking' || state === 'speaking' ? state : 'listening');

export class AgentPresence {
  #away: ReturnType<typeof setTimeout> | undefined;
  #arrived = (): void => undefined;
  #closed = false;

  constructor(
    private readonly room: Room,
    private readonly watcher: AgentWatcher,
  ) {
    for (const change of CHANGES) listen(room, change, () => this.#look());
  }

  get #state(): string | undefined {
    const states = [...this.room.remoteParticipants.values()].map(
      ({ attributes }) => attributes[ATTRIBUTES.state],
    );
    return states.find((state) => state !== undefined);
  }

  /** Resolves when the agent is in the room. Errors: `connection_failed` after `joinMs`; the signal's reason. */
  async arrival(signal: AbortSignal, joinMs: number = AGENT_TIMES.joinMs): Promise<void> {
    if (this.#state === undefined) await this.#wait(signal, joinMs);
    this.#look();
  }

  #wait(signal: AbortSignal, joinMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = new SessionError('connection_failed', { message: 'The agent has not joined in time' });
      const timer = setTimeout(() => reject(late), joinMs);
      this.#arrived = () => {
        clearTimeout(timer);
        resolve();
      };
      const stop = () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      };
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
    });
  }

  #look(): void {
    if (this.#closed) return;
    clearTimeout(this.#away);
    const state = this.#state;
    if (state === undefined) {
      this.#away = setTimeout(() => this.watcher.left(), AGENT_TIMES.awayMs);
      return;
    }
    this.#arrived();
    this.watcher.mode(modeOf(state));
  }

  close(): void {
    clearTimeout(this.#away);
    this.#closed = true;
  }
}
