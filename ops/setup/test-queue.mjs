/**
 * In which order and how many at a time test files run. Calls are paced by the clock and mostly wait, so they have a lane
 * of their own: half of the places, and they go before the others on the processors. A place without a file of its lane
 * takes one of the other. The longest files of a lane come first, so that no place is left with one at the end.
 */

/** Places for each processor. Calls take a fifth of a processor each, and the others half of one. */
export const PLACES = 3;

/**
 * `nice`: the niceness of a file's processes. Children of a gateway are nicer than it by 10: those of a call, which hear and
 * speak, still go before the others.
 */
export const LANES = { calls: { nice: 0 }, others: { nice: 17 } };

/** `files` (`{ lane, long }`) for `jobs` places; `drain(run)` resolves when `run(file, lane)` has ended for each. */
export function createQueue(files, jobs) {
  const waiting = { calls: [], others: [] };
  const ordered = [...files].sort((one, other) => Number(other.long ?? false) - Number(one.long ?? false));
  for (const file of ordered) waiting[file.lane ?? 'others'].push(file);
  const callPlaces = Math.max(1, Math.floor(jobs / 2));

  async function work(lanes, run) {
    for (;;) {
      const lane = lanes.find((name) => waiting[name].length > 0);
      if (lane === undefined) return;
      await run(waiting[lane].shift(), LANES[lane]);
    }
  }
  const place = (index) => (index < callPlaces ? ['calls', 'others'] : ['others', 'calls']);
  return {
    drain: (run) => Promise.all(Array.from({ length: jobs }, (_, index) => work(place(index), run))),
  };
}
