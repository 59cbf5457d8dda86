/** How native options and reference audio reach protocol A's speech (rules 4 and 7; docs/contract/decisions.md 2). */
import t from '../../fixtures/tap.js';
import { exactly } from '../../fixtures/exactly.js';
import { sharedGateway } from '../../fixtures/gateway.js';
import {
  AGGREGATOR,
  audioOf,
  BASES,
  type Fields,
  type Headers,
  PLAIN,
  refusal,
  SDK,
  speaker,
} from '../../fixtures/protocol-a/rest.js';

const gateway = await sharedGateway(t);

const say = speaker(gateway);

const CLAUSES = 'One clause is here, another one comes behind it. A sentence follows them. And one more.';

/** Length of the audio, which depends on how often the text was cut. */
const lengthOf = async (fields: Fields, headers: Headers = {}, base = PLAIN) =>
  (
    await audioOf(
      await say({ input: CLAUSES, response_format: 'pcm', sample_rate: 16_000, ...fields }, headers, base),
    )
  ).length;

const options = (svc: Fields): Fields => ({ provider: { options: { svc } } });

t.test('rule 7: latency is low unless it is said', async (t) => {
  const [low, balanced, normal] = await Promise.all(
    ['low', 'balanced', 'normal'].map((latency) => lengthOf(options({ latency }))),
  );
  t.ok(low! > balanced! && balanced! > normal!, 'clause, sentence, whole: each cut is heard');
  for (const base of BASES) t.equal(await lengthOf({}, {}, base), low, base);
});

t.test('rule 4: header over provider.options over top level', async (t) => {
  const low = await lengthOf({});
  const normal = await lengthOf(options({ latency: 'normal' }));
  t.equal(await lengthOf(options({ latency: 'low' }), { 'X-Svc-Latency': 'normal' }), normal);
  t.equal(
    await lengthOf(options({ latency: 'normal' }), { 'x-svc-latency': '"low"' }),
    low,
    'JSON where it parses',
  );
  t.equal(await lengthOf({ latency: 'normal' }), low, 'no field of the body by itself');
  t.equal(await lengthOf(options({ latency: 'normal' }), { 'X-Svc-Latency': '' }), normal, 'empty is absent');
  t.equal(await lengthOf(options({ latency: 'normal' }), { 'X-Svc-Latency': 'null' }), normal);
});

const SAMPLING: [string, unknown, unknown][] = [
  ['temperature', 0, 1.1],
  ['top_p', 1, -0.1],
  ['repetition_penalty', 1.2, 11],
];

t.test(
  'every native option by header and by provider.options: good values pass, bad ones are 400 (decisions 1, 2)',
  async (t) => {
    const cases: [string, unknown, unknown][] = [
      ...SAMPLING,
      ['chunk_length', 200, 99],
      ['min_chunk_length', 50, 101],
      ['condition_on_previous_chunks', 'False', 'perhaps'],
      ['early_stop_threshold', 0.5, 2],
      ['max_new_tokens', 1024, 0],
      ['normalize', 'off', 'maybe'],
      ['mp3_bitrate', 64, 96],
      ['latency', 'balanced', 'fast'],
      ['features', ['quality-guard'], 'x'],
      ['reference_id', 'alloy', 'a b'],
      ['prosody', { speed: 1.5, volume: -3, normalize_loudness: 'none' }, { speed: 3 }],
      ['references', [], 'UklGRg=='],
    ];
    const spelled = (name: string) =>
      `X-Svc-${name
        .split('_')
        .map((word) => word[0]!.toUpperCase() + word.slice(1))
        .join('-')}`;
    const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
    for (const [name, good, bad] of cases) {
      await audioOf(await say(options({ [name]: good })));
      await audioOf(await say({}, { [spelled(name)]: text(good) }));
      const inBody = await refusal(await say(options({ [name]: bad })));
      t.equal(inBody.type, 'invalid_request_error', name);
      t.match(inBody.param, new RegExp(`^provider\\.options\\.svc\\.${name}(\\.|$)`));
      const inHeader = await refusal(await say({}, { [spelled(name)]: text(bad) }));
      t.equal(inHeader.type, 'invalid_request_error', name);
      t.match(inHeader.param, new RegExp(`^${spelled(name)}(\\.|$)`));
    }
    await audioOf(
      await say(
        {},
        { 'X-Svc-Format': 'flac', 'X-Svc-Sample-Rate': '7', 'X-Svc-Text': 'x', 'X-Svc-Foo': '1' },
      ),
    );
  },
);

t.test('a member named __proto__ is one unknown field more, and no bound is passed by it', async (t) => {
  const plain = await lengthOf({});
  for (const prosody of ['{"__proto__":{"speed":3}}', '{"__proto__":{"speed":"fast","volume":"loud"}}']) {
    const body = JSON.parse(`{"provider":{"options":{"svc":{"prosody":${prosody}}}}}`) as Fields;
    t.equal(await lengthOf(body), plain, prosody);
    t.equal(await lengthOf({}, { 'X-Svc-Prosody': prosody }), plain, prosody);
  }
});

t.test('a header that nests too deep is refused', async (t) => {
  const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
  for (const [name, text] of [
    ['X-Svc-Normalize', deep],
    ['X-Svc-Prosody', `{"normalize_loudness":${deep}}`],
  ] as const) {
    const { type, param } = await refusal(await say({}, { [name]: text }));
    t.equal(type, 'invalid_request_error');
    t.equal(param, name);
  }
});

t.test('sampling fields at the top level count on the aggregator base only', async (t) => {
  for (const [name, good, bad] of SAMPLING) {
    await audioOf(await say({ [name]: good }, {}, AGGREGATOR));
    t.equal((await refusal(await say({ [name]: bad }, {}, AGGREGATOR))).param, name);
    for (const base of [PLAIN, SDK]) await audioOf(await say({ [name]: bad }, {}, base));
  }
});

const REFERENCE = Buffer.from('reference audio').toString('base64');

t.test('reference audio without an engine that clones is 400, never another voice', async (t) => {
  const references = [{ audio: REFERENCE, text: 'words' }];
  const input = [
    { type: 'input_audio', input_audio: { data: `data:audio/wav;base64,${REFERENCE}`, format: 'wav' } },
    { type: 'text', text: 'words' },
  ];
  const asked = [
    ...BASES.map((base) => say({ references }, {}, base)),
    say(options({ references })),
    say({}, { 'X-Svc-References': JSON.stringify(references) }),
    say({ input_references: input }, {}, AGGREGATOR),
    say({ input_references: input.slice(0, 1) }, {}, AGGREGATOR),
  ];
  for (const response of await Promise.all(asked)) {
    const error = await refusal(response);
    exactly(t, error, {
      type: 'provider_error',
      message: /reference audio/,
      metadata: { provider_name: 'svc' },
    });
  }
  for (const base of [PLAIN, SDK]) await audioOf(await say({ input_references: input }, {}, base));
  for (const bad of [[{ audio: '!!', text: 'x' }], [{ audio: REFERENCE }], { audio: REFERENCE }, [7]]) {
    const { type, param } = await refusal(await say({ references: bad }));
    t.strictSame([type, param], ['invalid_request_error', 'references']);
  }
  const noAudio = [{ type: 'input_audio', input_audio: { data: '!!', format: 'wav' } }];
  for (const bad of [input.slice(1), [input[0], input[0]], 'x', [{ type: 'image' }], noAudio]) {
    t.equal((await refusal(await say({ input_references: bad }, {}, AGGREGATOR))).param, 'input_references');
  }
});

t.test('a header of 48 KiB with reference audio arrives', async (t) => {
  const audio = Buffer.alloc(36 * 1024).toString('base64');
  const response = await say({}, { 'X-Svc-References': JSON.stringify([{ audio, text: 'x' }]) });
  exactly(t, await refusal(response), { type: 'provider_error' });
});
