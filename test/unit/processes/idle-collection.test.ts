/** Memory goes back to the system once there is little to do, and only if a collection is worth it. */
import t from '../../fixtures/tap.js';
import { collectAll, collectYoung } from '../../../processes/garbage.js';
import { collectWhenIdle } from '../../../processes/idle-collection.js';
import { SimulatedClock } from '../../fixtures/clock.js';

const MIB = 1024 * 1024;
const LOOK_MS = 2000;

function start() {
  const clock = new SimulatedClock();
  /** `busy`: the share of the time in which it works. */
  const state = { taken: 50 * MIB, needed: 50 * MIB, unused: 0, busy: 0, worked: 0, collected: 0 };
  const stop = collectWhenIdle({
    clock,
    taken: () => ({ all: state.taken, unused: state.unused }),
    worked: () => state.worked,
    collect() {
      state.collected += 1;
      state.taken = state.needed;
    },
  });
  const look = (change: Partial<typeof state>): number => {
    Object.assign(state, change);
    state.worked += state.busy * LOOK_MS;
    clock.advance(LOOK_MS);
    return state.collected;
  };
  return { look, stop };
}

t.test('what a burst has left goes once it is over', (t) => {
  const { look, stop } = start();
  t.equal(look({}), 0);
  t.equal(look({ taken: 300 * MIB, busy: 0.9 }), 0, 'not beside the work');
  t.equal(look({ busy: 0.02 }), 1);
  t.equal(look({}), 1, 'once');
  t.equal(look({ taken: 60 * MIB }), 1, 'little is not worth it');
  t.equal(look({ taken: 300 * MIB }), 2);
  stop();
  t.equal(look({ taken: 300 * MIB }), 2);
  t.end();
});

t.test('what is needed is not collected again and again', (t) => {
  const { look } = start();
  look({});
  t.equal(look({ taken: 200 * MIB, needed: 200 * MIB }), 1);
  t.equal(look({}), 1);
  t.equal(look({ taken: 210 * MIB }), 1);
  t.equal(look({ taken: 50 * MIB }), 1, 'it is not needed any more');
  t.equal(look({ taken: 80 * MIB, needed: 50 * MIB }), 2);
  t.end();
});

t.test('a heap that has become sparse is collected a few times', (t) => {
  const { look } = start();
  look({});
  t.equal(look({ unused: 100 * MIB }), 0, 'not without a burst');
  t.equal(look({ taken: 200 * MIB }), 1);
  t.equal(look({}), 2);
  t.equal(look({}), 3);
  t.equal(look({}), 3);
  t.equal(look({ taken: 200 * MIB }), 4, 'and again after the next one');
  t.equal(look({ unused: 0 }), 4);
  t.end();
});

t.test('V8 collects when it is told to', (t) => {
  const before = process.memoryUsage().arrayBuffers;
  const fill = (): number => Array.from({ length: 16 }, () => new Uint8Array(4 * MIB)).length;
  t.equal(fill(), 16);
  collectYoung();
  collectAll();
  t.ok(process.memoryUsage().arrayBuffers < before + 32 * MIB);
  t.equal('gc' in globalThis, false, 'nobody else has it');
  t.end();
});
