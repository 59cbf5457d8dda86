/** The clock of a container: what becomes silence, and what does not. */
import t from '../../../fixtures/tap.js';
import { ContainerClock } from '../../../../codecs/decode/container-clock.js';

const limits = { least: 0.1, most: 600 };

/** Lengths of the silences before frames of a second, and where all of it ends. */
function silencesOf(stamps: readonly number[]): readonly [silences: readonly number[], end: number] {
  const clock = new ContainerClock(limits);
  let end = 0;
  const silences = stamps.map((at) => {
    const silence = clock.silenceBefore(at, end);
    end += silence + 1;
    return silence;
  });
  return [silences, end];
}

const CASES: Record<string, { stamps: number[]; silences: number[]; end: number }> = {
  'no gap': { stamps: [0, 1, 2], silences: [0, 0, 0], end: 3 },
  'a late start and a pause': { stamps: [3, 4, 10], silences: [3, 0, 5], end: 11 },
  'time stamps that are rounded': { stamps: [0, 1.05, 1.98], silences: [0, 0, 0], end: 3 },
  'small gaps that add up': { stamps: [0, 1.0625, 2.125], silences: [0, 0, 0.125], end: 3.125 },
  'sound that comes early': { stamps: [0, 0.25, 1.25], silences: [0, 0, 0], end: 3 },
  'a pause behind it': { stamps: [0, 0.25, 6], silences: [0, 0, 4], end: 7 },
  'a clock that was set forward': { stamps: [0, 100_000, 100_001], silences: [0, 0, 0], end: 3 },
  'and a pause after that': { stamps: [0, 100_000, 100_003], silences: [0, 0, 2], end: 5 },
  'a clock that was set back': { stamps: [5000, 0, 3], silences: [0, 0, 2], end: 5 },
};

for (const [name, { stamps, silences, end }] of Object.entries(CASES))
  t.test(name, (t) => {
    t.same(silencesOf(stamps), [silences, end]);
    t.end();
  });
