/**
 * The silence of both sides, which ends the call where the agent is set so (agent.ts). It is counted in steps: time in which the
 * agent speaks or works, or the user makes a sound, is none. What the user says restarts it, and what the agent says to it
 * (context.ts); sounds without words, and the agent's words into the silence, do not.
 */
import { and, not } from 'xstate';
import { type Context, isSilenceCounted } from './context.js';
import { parts } from './parts.js';
import { TIMES } from './times.js';

/** Neither side says or does anything that the other waits for. */
const SILENT = and([
  'isIdle',
  'isUserQuiet',
  ({ context }: { context: Context }) => isSilenceCounted(context),
]);

/** The user is there. */
const RESTARTED = { target: '.disturbed', actions: parts.assign({ silenceMs: 0 }) } as const;

export const silence = parts.createStateConfig({
  initial: 'disturbed',
  on: {
    connected: RESTARTED,
    activity: RESTARTED,
    interrupt: RESTARTED,
    transcript: { ...RESTARTED, guard: and(['isOwed', 'bringsWords']) },
  },
  states: {
    disturbed: {
      always: { guard: SILENT, target: 'counting' },
    },
    counting: {
      always: { guard: not(SILENT), target: 'disturbed' },
      after: {
        silence: {
          target: 'disturbed',
          actions: parts.assign(({ context }) => ({ silenceMs: context.silenceMs + TIMES.silenceMs })),
        },
      },
    },
  },
});
