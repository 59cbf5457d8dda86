/**
 * In which order and how many at a time test files run. Calls are paced by the clock and mostly wait, so they have a lane
 * of their own: half of the places, and they go before the others on the processors. A place without a file of its lane
 * takes one of the other. The slowest files of a lane come first, so that no place is left with one at the end.
 *
 * How many files keep a machine busy depends on its speed: what is paced by the clock takes as long on a fast machine, and
 * needs less of its processors. So the places are few, and one file more begins whenever the processors have time left.
 */
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** Files for each processor: those that always run, and those that run at most. */
export const PLACES = { least: 2, most: 5 };

/** One file more begins when the processors had this share of their time left for so long. */
const SPARE = { share: 0.12, ms: 1500 };

/**
 * `nice`: the niceness of a file's processes. Children of a gateway are nicer than it by 10: those of a call, which hear and
 * speak, still go before the others.
 */
export const LANES = { calls: { nice: 0 }, others: { nice: 17 } };

/** In which lane a place looks first: by turns. */
const ORDERS = [
  ['calls', 'others'],
  ['others', 'calls'],
];

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

/** The share of the processors' time, 0 to 1, that nothing has used since it was last asked. */
export function createIdleMeter(processors = os.cpus) {
  function read() {
    const times = processors().map((processor) => processor.times);
    return { idle: sum(times.map(({ idle }) => idle)), all: sum(times.flatMap(Object.values)) };
  }
  let before = read();
  return () => {
    const now = read();
    const share = (now.idle - before.idle) / Math.max(1, now.all - before.all);
    before = now;
    return share;
  };
}

const slowestFirst = (files) => [...files].sort((one, other) => Number(other.slow) - Number(one.slow));

/**
 * `files` (`{ lane, slow }`) in `least` places, and up to `most` while `idle()` says that there is time left.
 * `drain(run)` resolves when `run(file, lane)` has ended for each.
 */
export function createQueue(files, { least, most, idle = createIdleMeter(), wait = sleep }) {
  const waiting = Object.fromEntries(Object.keys(LANES).map((lane) => [lane, []]));
  for (const file of slowestFirst(files)) waiting[file.lane].push(file);
  const laneOf = (order) => order.find((lane) => waiting[lane].length > 0);
  let running = 0;

  async function take(lane, run) {
    running += 1;
    await run(waiting[lane].shift(), LANES[lane]);
    running -= 1;
  }
  async function work(order, run) {
    for (let lane = laneOf(order); lane !== undefined; lane = laneOf(order)) await take(lane, run);
  }
  /** Calls, which leave most of their time to others, come first. */
  async function fill(run) {
    const added = [];
    while (laneOf(ORDERS[0]) !== undefined) {
      await wait(SPARE.ms);
      const lane = laneOf(ORDERS[0]);
      if (idle() >= SPARE.share && running < most && lane !== undefined) added.push(take(lane, run));
    }
    await Promise.all(added);
  }
  return {
    async drain(run) {
      const places = Array.from({ length: least }, (_, index) => work(ORDERS[index % 2], run));
      await Promise.all([...places, ...(most > least ? [fill(run)] : [])]);
    },
  };
}
