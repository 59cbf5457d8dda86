/** Whether a machine is quick enough for calls with a model: from the catalogue's figure, and its own arithmetic. */
import t from '../../../fixtures/tap.js';
import { CHECKOUT } from '../../../../contracts/places.js';

const { quicknessOf } = (await import(new URL('ops/models/quickness.mjs', CHECKOUT).href)) as {
  quicknessOf(entry: { readonly cpu?: number }, operations?: number): string | undefined;
};

t.test('a machine that is as quick as the one of the figures takes as long', async (t) => {
  t.equal(
    quicknessOf({ cpu: 1.2 }, 2_100),
    'takes about 1.2 CPU seconds for a second of speech on this machine: too slow for calls',
  );
  t.match(quicknessOf({ cpu: 1.2 }, 8_400), /about 0\.3 CPU seconds .*: quick enough for calls/);
  t.match(quicknessOf({ cpu: 0.09 }, 210), /about 0\.9 CPU seconds .*: too slow for calls/);
  t.equal(quicknessOf({}), undefined, 'a model whose figure is not known');
});

t.test('this machine is measured in no time', async (t) => {
  t.match(quicknessOf({ cpu: 1 }), /^takes about [\d.e+-]+ CPU seconds/);
});
