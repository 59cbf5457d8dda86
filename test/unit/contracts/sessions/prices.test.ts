/** Costs of a call: the setting of prices, and the sum over what was used (contracts/sessions/prices.ts). */
import t from '../../../fixtures/tap.js';
import { costOf, isPrices, pricesProblem } from '../../../../contracts/sessions/prices.js';
import { addUsage, NO_USAGE } from '../../../../contracts/sessions/turns.js';

const USAGE = {
  ...{ inputTokens: 2_000_000, outputTokens: 500_000, tokensEstimated: false },
  ...{ characters: 1500, recognisedMs: 90_000 },
};
const PRICES = {
  ...{ currency: 'EUR', input_tokens: 0.4, output_tokens: 1.6, characters: 0.02 },
  ...{ recognition_minute: 0.006, call_minute: 0.01 },
};

t.test(
  'tokens by the million, characters by the thousand, the rest by the minute; the total is their sum',
  async (t) => {
    t.same(costOf(USAGE, 120_000, PRICES), {
      currency: 'EUR',
      ...{
        input_tokens: 0.8,
        output_tokens: 0.8,
        characters: 0.03,
        speech_minute: 0,
        recognition_minute: 0.009,
        call_minute: 0.02,
      },
      total: 1.659,
    });
  },
);

t.test('a thousand minutes cost a thousand times a minute', async (t) => {
  const { call_minute, recognition_minute } = costOf(
    { ...USAGE, recognisedMs: 60_000_000 },
    60_000_000,
    PRICES,
  );
  t.same([recognition_minute, call_minute], [6, 10]);
});

t.test('usage without a price is free, and amounts are rounded to a millionth', async (t) => {
  const { total, characters } = costOf(USAGE, 60_000, { currency: 'USD', characters: 1 / 3 });
  t.same([total, characters], [0.5, 0.5]);
  t.equal(costOf({ ...NO_USAGE, inputTokens: 1 }, 0, { currency: 'USD', input_tokens: 0.4 }).total, 0);
});

t.test('a model has its own prices; what it leaves out, and other models, by the price of all', async (t) => {
  const models = [
    { model: 'large', inputTokens: 1_000_000, outputTokens: 100_000 },
    { model: 'toString', inputTokens: 500_000, outputTokens: 300_000 },
  ];
  const prices = { ...PRICES, models: { large: { input_tokens: 3 } } };
  const { input_tokens, output_tokens } = costOf({ ...USAGE, models }, 0, prices);
  t.same([input_tokens, output_tokens], [3.4, 0.8], '500,000 tokens are of no known model');
  t.same(costOf({ ...USAGE, models }, 0, PRICES), costOf(USAGE, 0, PRICES));
});

t.test('tokens are summed by model, in the order of their first answers', async (t) => {
  const used = (model: string, inputTokens: number) => ({
    ...NO_USAGE,
    models: [{ model, inputTokens, outputTokens: 1 }],
  });
  const sum = [used('b', 1), NO_USAGE, used('a', 2), used('b', 4)].reduce(addUsage);
  t.strictSame(sum.models, [
    { model: 'b', inputTokens: 5, outputTokens: 2 },
    { model: 'a', inputTokens: 2, outputTokens: 1 },
  ]);
  t.notOk('models' in addUsage(USAGE, NO_USAGE));
});

t.test('prices are a currency and numbers from 0 on, by names that there are', async (t) => {
  for (const good of [PRICES, { currency: 'USD' }, { currency: 'EUR', call_minute: 0 }]) t.ok(isPrices(good));
  const bad = [null, [], {}, { currency: '' }, { currency: 5 }, { currency: 'EUR', tokens: 1 }];
  const more = [{ currency: 'EUR', characters: -1 }, { currency: 'EUR', characters: '1' }, 'EUR'];
  for (const currency of ['X', 'ABCDEFGH']) t.ok(isPrices({ currency }));
  for (const currency of ['ABCDEFGHI', 'EU1', ' EUR', 'EUR ', true, ['EUR']])
    t.notOk(isPrices({ currency }), String(currency));
  const models = (value: unknown) => isPrices({ currency: 'EUR', models: value });
  for (const good of [{}, { m: {} }, { m: { input_tokens: 0, output_tokens: 1.5 } }]) t.ok(models(good));
  for (const wrong of [
    null,
    [],
    'm',
    { '': {} },
    { m: 1 },
    { m: { characters: 1 } },
    { m: { input_tokens: -1 } },
  ])
    t.notOk(models(wrong), JSON.stringify(wrong));
  for (const [count, is] of [
    [100, true],
    [101, false],
  ] as const)
    t.equal(models(Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, {}]))), is);
  for (const each of [...bad, ...more, { currency: 'EUR', characters: Infinity }]) t.notOk(isPrices(each));
});

t.test('tokens of which some were estimated are estimated', async (t) => {
  t.equal(addUsage(USAGE, { ...NO_USAGE, tokensEstimated: true }).tokensEstimated, true);
  t.equal(addUsage(USAGE, NO_USAGE).tokensEstimated, false);
});

const engine = (name: string, model: string | null, work: object) => ({
  ...{ engine: name, model, characters: 0, spokenMs: 0, recognisedMs: 0 },
  ...work,
});

t.test('speech and recognition are billed by their engine and its model, each in its unit', async (t) => {
  const engines = [
    engine('cloud', 'voice-1', { characters: 800, spokenMs: 60_000 }),
    engine('cloud', 'voice-2', { characters: 200, spokenMs: 30_000 }),
    engine('cloud', 'words-1', { recognisedMs: 30_000 }),
    engine('local/amy', null, { characters: 300, spokenMs: 20_000, recognisedMs: 20_000 }),
    engine('other', null, { characters: 100, recognisedMs: 30_000 }),
  ];
  const usage = { ...USAGE, engines };
  const prices = {
    ...PRICES,
    engines: {
      cloud: {
        characters: 1,
        models: { 'voice-2': { speech_minute: 0.5 }, 'words-1': { recognition_minute: 0.6 } },
      },
      local: { characters: 0, recognition_minute: 0 },
    },
  };
  const { characters, speech_minute, recognition_minute } = costOf(usage, 0, prices);
  t.equal(characters, 0.804, '800 by the engine, 100 of another and 100 of none by the price of all');
  t.equal(speech_minute, 0.25, 'a model that bills minutes does not bill characters');
  t.equal(
    recognition_minute,
    0.304,
    '30 s by the model, 30 s of another and 10 s of none by the price of all',
  );
  t.same(costOf(usage, 0, PRICES), costOf(USAGE, 0, PRICES), 'without prices of engines, those of all');
});

t.test('what was kept is counted, and costs nothing', (t) => {
  const engines = [
    engine('cloud', null, { characters: 700, spokenMs: 60_000 }),
    engine('kept', null, { characters: 300, spokenMs: 20_000 }),
  ];
  const prices = { ...PRICES, characters: 1, speech_minute: 3 };
  const { characters, speech_minute } = costOf({ ...NO_USAGE, characters: 1000, engines }, 0, prices);
  t.strictSame([characters, speech_minute], [0.7, 3]);
  t.end();
});

t.test('engines are summed by name and model', async (t) => {
  const used = (name: string, model: string | null, characters: number) => ({
    ...NO_USAGE,
    engines: [engine(name, model, { characters })],
  });
  const sum = [used('b', 'm', 1), NO_USAGE, used('b', null, 2), used('b', 'm', 4)].reduce(addUsage);
  t.strictSame(sum.engines, [engine('b', 'm', { characters: 5 }), engine('b', null, { characters: 2 })]);
  t.notOk('engines' in addUsage(USAGE, NO_USAGE));
});

t.test('what is wrong with prices is named', async (t) => {
  const engines = (value: unknown) => pricesProblem({ currency: 'EUR', engines: value });
  const cases: [string | undefined, string | undefined][] = [
    [engines({ cloud: { characters: 1, models: { m: { speech_minute: 0 } } } }), undefined],
    [
      engines({ cloud: { input_tokens: 1 } }),
      'engines.cloud.input_tokens is no price; there are characters, speech_minute, recognition_minute, models',
    ],
    [
      engines({ cloud: { models: { m: { characters: '1' } } } }),
      'engines.cloud.models.m.characters must be a number from 0 on',
    ],
    [engines({ cloud: 1 }), 'engines.cloud must be an object of prices'],
    [engines([]), 'engines must be an object, with prices by name'],
    [engines({ '': {} }), 'engines must not have an empty name'],
    [pricesProblem({ currency: 5 }), 'currency must be 1 to 8 letters, such as EUR'],
    [pricesProblem([]), 'it must be an object in JSON'],
  ];
  for (const [found, wanted] of cases) t.equal(found, wanted);
});
