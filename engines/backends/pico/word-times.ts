/**
 * The text for Pico with a mark before most words, and the times of words from where the marks passed. Marks are left out
 * where they would tear apart what the program reads together: figures, and abbreviations with the word behind them.
 * Words without a mark share the time of the word before them by their length.
 */
import type { TimedWord } from '../../../contracts/ports/speech/tts.js';
import { share } from '../../alignment/transcript-words.js';
import type { Unit } from '../spoken-units.js';
import { PICO_RATE } from './description.js';
import { type Break, MARK, type PicoUtterance } from './program.js';
import { lastSound, soundOf } from './silence.js';

const FIGURE = /\d/u;
const DOT_AT_END = /[.…]$/u;

function isMarked(unit: Unit, before: Unit | undefined): boolean {
  if (before === undefined || unit.glued || DOT_AT_END.test(before.spoken)) return false;
  return !FIGURE.test(before.spoken) && !FIGURE.test(unit.spoken);
}

export interface MarkedText {
  readonly text: string;
  /** The units with a mark, by their places, in order. */
  readonly marked: readonly number[];
}

/** `timing`: whether there are marks. */
export function markedText(units: readonly Unit[], timing: boolean): MarkedText {
  const marked: number[] = [];
  const parts = units.map((unit, at) => {
    const gap = at === 0 || unit.glued ? '' : ' ';
    if (!timing || !isMarked(unit, units[at - 1])) return gap + unit.spoken;
    marked.push(at);
    return gap + MARK + unit.spoken;
  });
  return { text: parts.join(''), marked };
}

interface Start {
  readonly unit: number;
  /** In samples. */
  readonly at: number;
}

/** A new sentence stands for one mark, if otherwise there were too few. */
function startsOf(marked: readonly number[], breaks: readonly Break[], first: number): Start[] {
  const starts: Start[] = [{ unit: 0, at: first }];
  let known = breaks.reduce((sum, { marks = 0 }) => sum + marks, 0);
  let next = 0;
  for (const { at, marks } of breaks) {
    known -= marks ?? 0;
    const passed = marks ?? Math.min(1, Math.max(0, marked.length - next - known));
    for (const unit of marked.slice(next, next + passed)) starts.push({ unit, at: Math.max(at, first) });
    next += passed;
  }
  return starts;
}

const inSeconds = ({ text, start, end }: TimedWord): TimedWord => ({
  text,
  start: start / PICO_RATE,
  end: end / PICO_RATE,
});

/** The times of all units, in seconds from sample `from` of the utterance on. They are whole numbers until they are shared. */
export function wordTimes(
  units: readonly Unit[],
  marked: readonly number[],
  { samples, breaks }: PicoUtterance,
  from = 0,
): TimedWord[] {
  const sound = soundOf(samples);
  const starts = startsOf(marked, breaks, sound.begin);
  return starts.flatMap(({ unit, at }, index) => {
    const next = starts[index + 1];
    const words = units.slice(unit, next?.unit).map(({ text }) => text);
    const end = lastSound(samples, at, next?.at ?? sound.end);
    return share(words, { start: at - from, end: end - from }).map(inSeconds);
  });
}
