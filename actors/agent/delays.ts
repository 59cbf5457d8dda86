/** The delays of an agent's machine, in ms. */
import { ONLINE_TIMES } from '../../contracts/limits/online-times.js';
import { type Context, delayFor } from './context.js';
import { reengageMs, TIMES } from './times.js';

export const delays = {
  maxDuration: ({ context }: { context: Context }) => context.settings.maxDurationMs,
  warn: ({ context }: { context: Context }) => context.settings.maxDurationMs - TIMES.warnMs,
  lastWords: ({ context }: { context: Context }) => context.settings.maxDurationMs - TIMES.lastWordsMs,
  complete: ({ context }: { context: Context }) => delayFor(context, 'complete'),
  likely: ({ context }: { context: Context }) => delayFor(context, 'likely') - delayFor(context, 'complete'),
  open: ({ context }: { context: Context }) => delayFor(context, 'open') - delayFor(context, 'likely'),
  unfinished: ({ context }: { context: Context }) =>
    delayFor(context, 'unfinished') - delayFor(context, 'open'),
  words: TIMES.wordsMs,
  sound: TIMES.soundMs,
  noise: TIMES.noiseMs,
  wordless: TIMES.wordlessMs,
  join: TIMES.joinMs,
  reengage: ({ context }: { context: Context }) => reengageMs(context.reengaged),
  silence: TIMES.silenceMs,
  gone: TIMES.goneMs,
  filler: TIMES.fillerMs,
  fillerLeast: TIMES.fillerLeastMs,
  fillerRest: ONLINE_TIMES.filler.silenceMs - TIMES.fillerLeastMs,
  fillerHeard: TIMES.fillerHeardMs,
  fillerAgain: TIMES.fillerAgainMs,
  waited: TIMES.waitedMs,
  wait: TIMES.waitMs,
};
