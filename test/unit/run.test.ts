/** Running a machine: its effects' order, and who gets what one of them throws. */
import t from 'tap';
import { emit, raise, setup } from 'xstate';
import { run } from '../../actors/run.js';
import { SimulatedClock } from '../fixtures/edge-clock.js';

type Event = { readonly type: 'break' | 'work' | 'relay' | 'later' };
type Effect = { readonly type: 'broken' | 'worked' | 'relayed' };

const machine = setup({
  types: { events: {} as Event, emitted: {} as Effect },
}).createMachine({
  on: {
    break: { actions: [emit({ type: 'broken' }), emit({ type: 'worked' })] },
    work: { actions: emit({ type: 'worked' }) },
    relay: { actions: emit({ type: 'relayed' }) },
    later: { actions: raise({ type: 'break' }, { delay: 100 }) },
  },
});

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
  t.throws(() => running.send({ type: 'break' }), { message: 'out of order' });
  t.same(seen, ['broken', 'worked']);
  running.send({ type: 'work' });
  t.same(seen, ['broken', 'worked', 'worked'], 'the machine goes on');
  t.end();
});

t.test('so does one of an event that an effect sent', (t) => {
  const { running, seen } = host();
  t.throws(() => running.send({ type: 'relay' }), { message: 'out of order' });
  t.same(seen, ['broken', 'worked']);
  running.send({ type: 'work' });
  t.end();
});

t.test('a host with a way for failures gets them there', (t) => {
  const failures: unknown[] = [];
  const { running, seen, clock } = host((error) => failures.push(error));
  running.send({ type: 'break' });
  running.send({ type: 'later' });
  clock.advance(100);
  t.same(seen, ['broken', 'worked', 'broken', 'worked']);
  t.match(failures, [{ message: 'out of order' }, { message: 'out of order' }]);
  t.end();
});
