/**
 * Word times from eSpeak's events. It reports the start of a word, but merges small words ("in the")
 * and splits others (a number, an abbreviation): events of one unit are joined, and units without an
 * event share the time of the unit before them by their length.
 */
import type { TimedWord } from '../../../contracts/ports/speech/tts.js';
import { share } from '../../alignment/transcript-words.js';
import type { Unit } from '../spoken-units.js';
import { ESPEAK_RATE } from './description.js';
import type { EspeakEvent } from './program.js';
import type { EspeakText } from './spoken-text.js';

interface Group {
  /** Index of the unit that the events belong to. */
  readonly unit: number;
  readonly start: number;
  end: number;
}

const isPause = ({ type, id }: EspeakEvent): boolean => type === 'phoneme' && id === '';

/** The unit at a position; the first unit for positions before it. */
function unitAt(begins: readonly number[], position: number): number {
  const next = begins.findIndex((begin) => begin > position);
  return Math.max(0, (next < 0 ? begins.length : next) - 1);
}

/** Spans of sound, one a unit that has events; `end` is the end of its last sound. */
function groupsOf(events: readonly EspeakEvent[], begins: readonly number[], end: number): Group[] {
  const groups: Group[] = [];
  let open: Group | undefined;
  let silentSince: number | undefined;
  const close = (at: number): void => {
    if (open) open.end = silentSince ?? at;
    open = undefined;
    silentSince = undefined;
  };
  for (const event of events) {
    const at = event.audio_position / 1000;
    if (event.type === 'phoneme') silentSince = isPause(event) ? (silentSince ?? at) : undefined;
    else if (event.type !== 'samplerate') close(at);
    if (event.type !== 'word') continue;
    const unit = unitAt(begins, event.text_position - 1);
    if (unit > (groups.at(-1)?.unit ?? -1)) groups.push({ unit, start: at, end: at });
    open = groups.at(-1);
  }
  close(end);
  return groups;
}

/** The times of all units, in seconds from the start of the utterance. `samples`: its length. */
export function wordTimes(
  units: readonly Unit[],
  { begins }: EspeakText,
  events: readonly EspeakEvent[],
  samples: number,
): TimedWord[] {
  const end = samples / ESPEAK_RATE;
  const groups = groupsOf(events, begins, end);
  return groups.flatMap((group, index) => {
    const from = index === 0 ? 0 : group.unit;
    const words = units.slice(from, groups[index + 1]?.unit).map(({ text }) => text);
    return share(words, { start: Math.min(group.start, end), end: Math.min(group.end, end) });
  });
}
