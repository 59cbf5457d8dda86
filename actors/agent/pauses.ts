/** The user's pauses: which silences are one within a turn, and what they show of how this user pauses. */
import type { Context } from './context.js';
import type { AgentEvent } from './events.js';
import { wordsOf } from './turns/interruption.js';
import { afterPause, afterUnbroken, SHOWS_PACE } from './turns/pace.js';
import { pauseBefore } from './turns/stretches.js';

/** How long the user had been silent when the voice of that event began. */
export const pauseOf = ({ silentAt }: Context, event: AgentEvent): number | undefined =>
  event.type === 'voice' && silentAt !== undefined ? event.at - silentAt : undefined;

/** What changes in the context as the user's voice begins anew within a turn. */
export function afterSilence({ pace, settings }: Context, ms: number | undefined): Partial<Context> {
  return ms === undefined ? {} : { paused: true, pace: afterPause(pace, settings.eagerness, ms) };
}

/** What changes as those words show that the voice after a silence was the user's, or the agent's. */
export function afterWords(context: Context, event: Extract<AgentEvent, { readonly type: 'transcript' }>) {
  const isLastEcho = event.echo === true && event.final && event.span === context.span;
  const echoed: Partial<Context> = isLastEcho ? { silentAt: undefined } : {};
  return { ...afterSilence(context, pauseBefore(context.stretches, event)), ...echoed };
}

/** What the turn that ends has shown of the user's pace: a short reply has no room for a pause. */
export function afterTurn({ said, paused, pace, paceKnown }: Context): Pick<Context, 'pace' | 'paceKnown'> {
  if (!paceKnown && wordsOf(said).length < SHOWS_PACE) return { pace, paceKnown };
  return { pace: paused ? pace : afterUnbroken(pace), paceKnown: true };
}
