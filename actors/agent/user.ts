/** The user's side of a conversation: voice, silence, and the end of a turn. */
import { and, not } from 'xstate';
import { parts } from './parts.js';
import type { TurnCompleteness } from './turns/endpointing.js';

/** Ends the turn if its completeness is one of these, as the silence is long enough for it. */
const closes = (...turns: readonly TurnCompleteness[]) => ({
  guard: and(['isWeighed', { type: 'isTurn', params: turns }]),
  target: '#closing',
});

/** The user falls silent. */
const SILENCE = { target: 'endpointing', actions: ['noteSilence', 'transcribe'] } as const;

/** Length of the silence. Each state is named after the turn completeness for which it is long enough. */
const silence = parts.createStateConfig({
  initial: 'brief',
  states: {
    brief: { after: { complete: 'complete' } },
    complete: { always: closes('complete'), after: { likely: 'likely' } },
    likely: {
      id: 'likely',
      entry: 'tellLasting',
      always: closes('complete', 'likely'),
      after: { open: 'open' },
    },
    open: {
      id: 'open',
      always: closes('complete', 'likely', 'open'),
      after: { unfinished: 'unfinished' },
    },
    /** All silence has passed; the last words may not be known yet. */
    unfinished: {
      id: 'unfinished',
      always: { guard: 'isWhole', target: '#closing' },
      after: { words: '#closing' },
    },
  },
});

/** Whether the user sounded finished; waits for the detector for a moment at most. */
const sound = parts.createStateConfig({
  initial: 'heard',
  on: { sounded: { guard: 'isOfSpan', target: '.weighed', actions: ['noteSound', 'weighAll'] } },
  states: {
    heard: { always: { guard: 'isByWords', target: 'weighed' }, after: { sound: 'weighed' } },
    weighed: { id: 'weighed' },
  },
});

export const user = parts.createStateConfig({
  initial: 'quiet',
  states: {
    /** No turn is open. Words that arrive now are late: they become a turn, or continue the last one. */
    quiet: {
      entry: 'forgetNoise',
      on: {
        voice: { guard: 'isActive', target: 'speaking', actions: ['notePauseInTurn', 'beginSpan'] },
        transcript: [
          { guard: and(['isOwedFinal', 'bringsWords']), target: 'closing', actions: 'noteWords' },
          { guard: 'isLostFinal', target: 'closing', actions: 'noteWords' },
          { guard: 'isOwedFinal', actions: ['noteWords', 'forgetNoise'] },
        ],
        heard: { actions: 'closeTurn' },
      },
    },
    speaking: {
      initial: 'voiced',
      on: {
        voice: [
          {
            ...SILENCE,
            guard: and([not('isActive'), 'isSpeaking', not('isEnding')]),
            actions: ['noteOverlap', ...SILENCE.actions],
          },
          { ...SILENCE, guard: not('isActive') },
        ],
        transcript: { guard: 'isOwed', actions: ['noteWords', 'weigh'] },
      },
      states: {
        voiced: {
          id: 'voiced',
          initial: 'speech',
          entry: 'holdAgent',
          on: {
            transcript: [
              {
                guard: and(['isOwed', 'bringsWords']),
                target: '.speech',
                actions: ['noteWords', 'weigh'],
              },
              { guard: 'isWordless', target: '#noise', actions: 'noteWords' },
            ],
          },
          /** Each new word restarts the minute after which a sound is noise. */
          states: { speech: { after: { noise: '#noise' } } },
        },
        /** A sound that nothing waits for. The words before it are a turn. */
        noise: {
          id: 'noise',
          entry: 'endTurn',
          on: {
            transcript: [
              { guard: and(['isOwedFinal', 'bringsWords']), actions: ['noteWords', 'endTurn'] },
              {
                guard: and(['isOwed', 'bringsWords']),
                target: 'voiced',
                actions: ['noteWords', 'weigh'],
              },
              { guard: 'isOwed', actions: 'noteWords' },
            ],
          },
        },
      },
    },
    /** Silence: a pause, or the end of the turn. */
    endpointing: {
      id: 'endpointing',
      type: 'parallel',
      on: {
        voice: { guard: 'isActive', target: 'speaking', actions: ['notePause', 'beginSpan'] },
        transcript: { guard: 'isOwedFinal', actions: ['noteWords', 'weighAll'] },
      },
      states: { silence, sound },
    },
    /** Lets the agent's side take the words before `quiet` forgets them. */
    closing: {
      id: 'closing',
      entry: ['tellEnd', 'endTurn'],
      on: { turnOver: 'quiet' },
    },
  },
});
