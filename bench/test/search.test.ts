/** The notation of objectives, when they are met, and the search for the greatest load that meets them. */
import t from 'tap';
import type { Phase } from '../src/measure/phase.js';
import { meets, ObjectiveError, parseObjectives, samplesFor } from '../src/objectives.js';
import { readOptions, UsageError } from '../src/options.js';
import { searchLoad } from '../src/search.js';

function phaseOf(values: readonly number[]): Phase {
  const failed = values.filter(Number.isNaN).length;
  const outcome = {
    due: new Float64Array(values.length),
    lateness: new Float64Array(values.length),
    readings: { ttfa: Float64Array.from(values) },
    failures: failed > 0 ? { silence: failed } : {},
    seconds: 1,
    cpu: 0,
  };
  return {
    outcomes: [outcome],
    cost: undefined,
    conditions: { generatorCpu: 0, lateness: 0, others: 0, stolen: 0 },
  };
}

t.test('objectives are read in the field’s terms', async (t) => {
  const read = [...parseObjectives('ttfa.p95<400ms'), ...parseObjectives('e2e.p99.9 <= 1.5s, failed<1%')];
  t.equal(read.length, 3);
  t.hasStrict(read, [
    { reading: 'ttfa', percentile: 95, mostMs: 400 },
    { reading: 'e2e', percentile: 99.9, mostMs: 1500 },
    { mostFailed: 0.01 },
  ]);
  for (const text of ['', 'ttfa', 'ttfa.p95', 'ttfa.p95>4ms', 'ttfa.p95<4', 'ttfa.p950<4ms', 'failed<1'])
    t.throws(() => parseObjectives(text), ObjectiveError, text);
});

t.test('an objective wants as many samples as its percentile', async (t) => {
  t.equal(samplesFor(parseObjectives('ttfa.p99<1s')), 1000);
  t.equal(samplesFor(parseObjectives('failed<1%')), 100);
});

t.test('too few samples, or failures where the percentile falls, do not meet an objective', async (t) => {
  const [objective] = parseObjectives('ttfa.p95<400ms');
  const fast = Array<number>(200).fill(10);
  t.equal(meets(phaseOf(fast), objective!), true);
  t.equal(meets(phaseOf(fast.slice(1)), objective!), false);
  t.equal(meets(phaseOf([...fast.slice(20), ...Array<number>(20).fill(Number.NaN)]), objective!), false);
  t.equal(meets(phaseOf(fast.map(() => 500)), objective!), false);
});

t.test('a share of failures is an objective of its own', async (t) => {
  const [objective] = parseObjectives('failed<1%');
  t.equal(meets(phaseOf([...Array<number>(99).fill(1), Number.NaN]), objective!), true);
  t.equal(meets(phaseOf([...Array<number>(98).fill(1), Number.NaN, Number.NaN]), objective!), false);
});

t.test('the search doubles the load until it breaks, then halves the distance', async (t) => {
  const tried: number[] = [];
  const found = await searchLoad({ first: 10, most: 1000, refinements: 4 }, async (load) => {
    tried.push(load);
    return load <= 73;
  });
  t.same(tried, [10, 20, 40, 80, 60, 70, 75, 72.5]);
  t.hasStrict(found, { load: 72.5, broke: true });
  t.equal(found.steps.length, 8);
});

t.test('a search whose first load breaks looks below it, and one that never breaks says so', async (t) => {
  t.hasStrict(await searchLoad({ first: 8, most: 100, refinements: 2 }, async () => false), {
    load: 0,
    broke: true,
  });
  t.hasStrict(await searchLoad({ first: 8, most: 20, refinements: 2 }, async () => true), {
    load: 16,
    broke: false,
  });
});

t.test('the command line is read, and nonsense is refused in a line', async (t) => {
  const options = readOptions([
    'speech',
    '--peer',
    'other=http://127.0.0.1:1/v1,key',
    '--slo',
    'ttfa.p95<1s',
    '--rate',
    '5',
    '--arrivals',
    'constant',
  ]);
  t.hasStrict(options, {
    names: ['speech'],
    peers: [{ name: 'other', url: 'http://127.0.0.1:1/v1', key: 'key' }],
    rate: 5,
    arrivals: 'constant',
  });
  t.equal(options.objectives.length, 1);
  for (const args of [
    ['--peer', 'other'],
    ['--peer', 'gateway=http://a'],
    ['--slo', 'soon'],
    ['--rate', '0'],
    ['--arrivals', 'ramp'],
    ['--url', 'x'],
    ['--nope'],
  ])
    t.throws(() => readOptions(args), UsageError, args.join(' '));
});
