/** Adapts the clock port to the interface that XState expects. */
import type { Clock } from '../contracts/clock.js';

interface ActorClock {
  setTimeout(task: () => void, ms: number): () => void;
  clearTimeout(cancel: unknown): void;
}

export const actorClock = (clock: Clock): ActorClock => ({
  setTimeout: (task, ms) => clock.after(ms, task),
  clearTimeout: (cancel) => (cancel as (() => void) | undefined)?.(),
});
