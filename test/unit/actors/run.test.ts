/** Running a machine: the order of its effects, and where an error of an effect goes. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from '../../fixtures/tap.js';
import { emit, raise, setup } from 'xstate';
import { BUILT } from '../../../contracts/places.js';
import { type HostedEffects, performing, run, runOnDemand } from '../../../actors/run.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { exactly, throwsExactly } from '../../fixtures/exactly.js';

type Event = { readonly type: 'break' | 'work' | 'relay' | 'later' | 'breakAndRelay' };
type Effect = { readonly type: 'broken' | 'worked' | 'relayed' };

const machine = setup({
  types: { events: {} as Event, emitted: {} as Effect },
}).createMachine({
  on: {
    break: { actions: [emit({ type: 'broken' }), emit({ type: 'worked' })] },
    work: { actions: emit({ type: 'worked' }) },
    breakAndRelay: { actions: [emit({ type: 'broken' }), emit({ type: 'relayed' })] },
    relay: { actions: emit({ type: 'relayed' }) },
    later: { actions: raise({ type: 'break' }, { delay: 100 }) },
  },
});

const moduleOf = (path: string): string => JSON.stringify(new URL(path, BUILT).href);
/** A program in which an effect of a timer throws: the error is one of the process, as there is no sender. */
const TIMER = `
  import { emit, raise, setup } from ${JSON.stringify(import.meta.resolve('xstate'))};
  import { run } from ${moduleOf('actors/run.js')};
  import { SimulatedClock } from ${moduleOf('test/fixtures/clock.js')};
  process.on('uncaughtException', ({ message }) => {
    console.log('uncaught: ' + message);
    running.send({ type: 'work' });
    console.log('sent');
  });
  const machine = setup({}).createMachine({
    on: { later: { actions: raise({ type: 'break' }, { delay: 100 }) }, break: { actions: emit({ type: 'broken' }) } },
  });
  const clock = new SimulatedClock();
  const broken = () => { throw new Error('out of order'); };
  const running = run(machine, undefined, clock, { broken });
  running.send({ type: 'later' });
  clock.advance(100);
`;

/** A host whose `broken` throws; `seen` lists the effects that were performed. */
function host(failed?: (error: unknown) => void) {
  const seen: string[] = [];
  const clock = new SimulatedClock();
  const running = run(
    machine,
    undefined,
    clock,
    {
      broken: () => {
        seen.push('broken');
        throw new Error('out of order');
      },
      worked: () => seen.push('worked'),
      relayed: () => running.send({ type: 'break' }),
    },
    failed,
  );
  return { running, seen, clock };
}

t.test('an effect that throws costs who sent the event, and the effects after it happen', (t) => {
  const { running, seen } = host();
  throwsExactly(t, () => running.send({ type: 'break' }), { message: 'out of order' });
  t.same(seen, ['broken', 'worked']);
  running.send({ type: 'work' });
  t.same(seen, ['broken', 'worked', 'worked'], 'the machine goes on');
  t.end();
});

t.test('an error of an event that an effect sent goes to the sender as well', (t) => {
  const { running, seen } = host();
  throwsExactly(t, () => running.send({ type: 'relay' }), { message: 'out of order' });
  t.same(seen, ['broken', 'worked']);
  running.send({ type: 'work' });
  t.end();
});

t.test('an effect that sends an event is not told of the error of one before it', (t) => {
  const seen: string[] = [];
  const running = run(machine, undefined, new SimulatedClock(), {
    broken: () => {
      throw new Error('out of order');
    },
    worked: () => seen.push('worked'),
    relayed: () => {
      running.send({ type: 'work' });
      seen.push('relayed');
    },
  });
  throwsExactly(t, () => running.send({ type: 'breakAndRelay' }), { message: 'out of order' });
  t.same(seen, ['relayed', 'worked']);
  t.end();
});

t.test('an error that a timer of the machine leads to costs nobody who sends an event later', async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', TIMER]);
  t.equal(stdout, 'uncaught: out of order\nsent\n');
});

t.test('a host with a way for failures gets them there', (t) => {
  const failures: unknown[] = [];
  const { running, seen, clock } = host((error) => failures.push(error));
  running.send({ type: 'break' });
  running.send({ type: 'later' });
  clock.advance(100);
  t.same(seen, ['broken', 'worked', 'broken', 'worked']);
  exactly(t, failures, [{ message: 'out of order' }, { message: 'out of order' }]);
  t.end();
});

t.test('a machine on demand starts with its first event, and not for the one that ends it', (t) => {
  const seen: string[] = [];
  let made = 0;
  const effects = () => {
    made += 1;
    return { broken: () => seen.push('broken'), worked: () => seen.push('worked'), relayed: () => undefined };
  };
  const clock = new SimulatedClock();
  const used = runOnDemand(machine, undefined, clock, effects, 'break');
  t.equal(made, 0);
  used.send({ type: 'work' });
  used.send({ type: 'break' });
  t.same([seen, made], [['worked', 'broken', 'worked'], 1]);
  const unused = runOnDemand(machine, undefined, clock, effects, 'break');
  unused.send({ type: 'break' });
  unused.send({ type: 'work' });
  t.same([seen.length, made], [3, 1], 'nothing follows its end');
  t.end();
});

t.test('of several effects that throw, the first error goes to the sender', (t) => {
  const clock = new SimulatedClock();
  const running = run(machine, undefined, clock, ({ type }) => {
    throw new Error(`${type} is out of order`);
  });
  throwsExactly(t, () => running.send({ type: 'break' }), { message: 'broken is out of order' });
  throwsExactly(
    t,
    () => running.send({ type: 'work' }),
    { message: 'worked is out of order' },
    'each sender its own',
  );
  t.end();
});

t.test('an effect of the start that throws costs who starts the machine', (t) => {
  const clock = new SimulatedClock();
  const starting = setup({ types: { emitted: {} as Effect } }).createMachine({
    entry: emit({ type: 'broken' }),
  });
  const start = () =>
    run(starting, undefined, clock, () => {
      throw new Error('out of order');
    });
  throwsExactly(t, start, { message: 'out of order' });
  t.end();
});

t.test('one table of effects serves many hosts, each with its own state', (t) => {
  interface Host {
    readonly seen: string[];
  }
  const table: HostedEffects<Host, Effect> = {
    broken: ({ seen }, { type }) => seen.push(type),
    worked: ({ seen }, { type }) => seen.push(type),
    relayed: ({ seen }, { type }) => seen.push(type),
  };
  const hosts: Host[] = [{ seen: [] }, { seen: [] }];
  const clock = new SimulatedClock();
  const [first, second] = hosts.map((host) => run(machine, undefined, clock, performing(table, host)));
  first?.send({ type: 'break' });
  second?.send({ type: 'relay' });
  t.same(
    hosts.map(({ seen }) => seen),
    [['broken', 'worked'], ['relayed']],
  );
  t.end();
});
