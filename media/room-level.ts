/**
 * How loud the room is around the user: a low quantile of the levels of the last seconds, whether there was voice or not, as
 * the room is heard between syllables and sentences. In a quiet room it is far below any voice; in a crowd it is the crowd's level.
 *
 * Levels are decibels of full scale. Few seconds are enough, as rooms change; until there are some, the room counts as silent.
 */
import { RECOGNITION_RATE } from '../contracts/audio.js';
import { DETECTOR_FRAME } from './detector-frame.js';

const framesIn = (seconds: number): number => Math.ceil((seconds * RECOGNITION_RATE) / DETECTOR_FRAME);

/** Frames that count, and the fewest that say anything. */
const LAST = framesIn(6);
const LEAST = framesIn(1.2);
/** Share of the levels that are below the room's. */
const QUANTILE = 0.05;

const LOWEST_DB = -96;

export class RoomLevel {
  /** The last levels, in whole decibels above the lowest, and how many there are of each. */
  readonly #last: number[] = [];
  readonly #counts = new Uint16Array(1 - LOWEST_DB);

  /** Notes the level of the next frame. */
  push(db: number): void {
    const level = Math.max(0, Math.min(-LOWEST_DB, Math.round(db - LOWEST_DB)));
    this.#last.push(level);
    this.#counts[level]! += 1;
    if (this.#last.length > LAST) this.#counts[this.#last.shift()!]! -= 1;
  }

  /** The room's level. */
  get db(): number {
    if (this.#last.length < LEAST) return LOWEST_DB;
    let below = QUANTILE * this.#last.length;
    const level = this.#counts.findIndex((count) => (below -= count) < 0);
    return LOWEST_DB + level;
  }
}
