/** The user's side of a conversation: voice, silence, and the end of a turn. */
import { and, not } from 'xstate';
import { parts } from './parts.js';
import type { TurnCompleteness } from './turns/endpointing.js';

/** A silence that is long enough for these turns ends one of them. */
const closes = (...turns: readonly TurnCompleteness[]) => ({
  guard: and(['isWeighed', { type: 'isTurn', params: turns }]),
  target: '#closing',
});

/** The user falls silent. */
const SILENCE = { target: 'endpointing', actions: ['noteSilence', 'transcribe'] } as const;

/** How long it has lasted. A state is named after the turn for which it is long enough. */
const silence = parts.createStateConfig({
  initial: 'brief',
  states: {
    brief: { after: { complete: 'complete' } },
    complete: { always: closes('complete'), after: { likely: 'likely' } },
    likely: { always: closes('complete', 'likely'), after: { open: 'open' } },
    open: { always: closes('complete', 'likely', 'open'), after: { unfinished: 'unfinished' } },
    /** All silence has passed; the last words may not be known yet. */
    unfinished: {
      always: { guard: 'isWhole', target: '#closing' },
      after: { words: '#closing' },
    },
  },
});

/** Whether the user sounded as if all was said: waited for in vain for a moment only. */
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
    /** The turn, if there was one, is over. Words that come now were late: they are a turn, or take theirs up again. */
    quiet: {
      entry: 'forgetNoise',
      on: {
        voice: { guard: 'isActive', target: 'speaking', actions: ['notePauseInTurn', 'beginSpan'] },
        transcript: [
          { guard: and(['isOwedFinal', 'bringsWords']), target: 'closing', actions: 'noteWords' },
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
          /** Each new word begins the minute anew, after which a sound is noise. */
          states: { speech: { after: { noise: '#noise' } } },
        },
        /** A sound that nobody waits for. What was said before it is a turn. */
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
    /** The agent's side decides what becomes of the words before they are forgotten. */
    closing: {
      id: 'closing',
      entry: ['tellEnd', 'endTurn'],
      on: { turnOver: 'quiet' },
    },
  },
});
