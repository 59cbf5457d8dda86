/** When a silent child counts as frozen, on a simulated clock. */
import t from '../../../fixtures/tap.js';
import { CHILD_SILENCE, lookEveryMs, SilenceWatch } from '../../../../processes/caller/silence.js';
import type { ProcessState } from '../../../../processes/process-table.js';

const LOOK_MS = lookEveryMs(CHILD_SILENCE);

interface Child {
  announced?: boolean;
  /** What it does at a time. */
  rest?(at: number): ProcessState | undefined;
}

/** How long a child is silent until it counts as frozen, if the watch looks each `lookMs`; Infinity: two minutes do not suffice. */
function frozenAfter({ announced = false, rest = () => undefined }: Child, lookMs = LOOK_MS): number {
  const watch = new SilenceWatch(CHILD_SILENCE);
  watch.look({ now: 0, heard: 1, announced, rest: () => undefined });
  for (let now = lookMs; now <= 120_000; now += lookMs)
    if (watch.look({ now, heard: 1, announced, rest: () => rest(now) })) return now;
  return Infinity;
}

const resting = (state: ProcessState['state'], waitedMs = 0): ProcessState => ({ state, waitedMs });

t.test('five seconds without a word are too many', async (t) => {
  t.equal(frozenAfter({}), 5000);
  t.equal(frozenAfter({ rest: () => resting('stopped') }), 5000);
  t.equal(frozenAfter({ rest: () => resting('other', 700) }), 5000, 'what it waited before does not count');
});

t.test('a child that says something each four seconds lives', async (t) => {
  const watch = new SilenceWatch(CHILD_SILENCE);
  let frozen = 0;
  for (let now = 0; now <= 120_000; now += LOOK_MS) {
    const heard = Math.floor(now / 4000);
    if (watch.look({ now, heard, announced: false, rest: () => undefined })) frozen += 1;
    t.equal(watch.isDoubtful, now % 4000 > 2000);
  }
  t.equal(frozen, 0);
});

t.test('a child that is lost is taken for frozen only if another watcher may have found it so', async (t) => {
  /** After how many milliseconds of silence. */
  const from = ({ announced = false, rest = () => undefined }: Child): number => {
    const watch = new SilenceWatch(CHILD_SILENCE);
    watch.look({ now: 0, heard: 1, announced, rest: () => undefined });
    for (let now = LOOK_MS; now <= 120_000; now += LOOK_MS) {
      watch.look({ now, heard: 1, announced, rest: () => rest(now) });
      if (watch.isNearlyFrozen) return now;
    }
    return Infinity;
  };
  t.equal(from({}), 3500);
  t.equal(from({ rest: () => resting('stopped') }), 3500);
  t.equal(from({ announced: true }), 58_500, 'it died at long work');
  t.equal(from({ rest: (at) => resting('other', at) }), 58_500, 'it was only slow');
});

t.test('work that was announced has a minute, unless the process is stopped', async (t) => {
  t.equal(frozenAfter({ announced: true }), 60_000);
  t.equal(frozenAfter({ announced: true, rest: () => resting('other') }), 60_000);
  t.equal(frozenAfter({ announced: true, rest: () => resting('stopped') }), 5000);
});

t.test('a watch that slept for an hour takes nobody for frozen', async (t) => {
  const watch = new SilenceWatch(CHILD_SILENCE);
  const look = (now: number, heard: number): boolean =>
    watch.look({ now, heard, announced: false, rest: () => undefined });
  look(0, 1);
  t.notOk(look(3_600_000, 1));
  t.notOk(look(3_600_000 + LOOK_MS, 1));
  t.notOk(look(3_600_000 + 2 * LOOK_MS, 2), 'its answer is read');
  t.ok(frozenAfter({}, 1000) >= 10 * 1000, 'a watch that is always late counts half');
});

t.test('time that a process waits for a processor or a disk does not count, up to a minute', async (t) => {
  const starved = (share: number) => (at: number) => resting('other', at * share);
  t.equal(
    frozenAfter({ rest: starved(0.8) }),
    21_000,
    'a fifth of the time counts, but for the first second',
  );
  t.equal(frozenAfter({ rest: starved(1) }), 60_000);
  t.equal(frozenAfter({ rest: () => resting('disk') }), 60_000);
});
