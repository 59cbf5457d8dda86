/** The section `llm` of a configuration: a language model of the agent's own, and its key, which nobody reads back (6.3). */
import t from '../../fixtures/tap.js';
import { exactly } from '../../fixtures/exactly.js';
import { type Json, places, sharedPlatform } from '../../fixtures/platform/platform.js';

const platform = await sharedPlatform(t);
const { call, database } = platform;
const BASE = 'https://llm.example/v1';
const OWN = { base_url: BASE, model: 'wise-1', api_key: 'sesame' };
const SHOWN = { base_url: BASE, model: 'wise-1', api_key: null, has_secret: true };

const pathOf = (id: string): string => `/v1/agent/agents/${id}/config`;
const patch = (id: string, llm: unknown) => call('PATCH', pathOf(id), { body: { llm } });
const llmOf = async (id: string) => (await call('GET', pathOf(id))).body['llm'];
const keysOf = async (id: string) =>
  (await database.sql`select from model_keys where owner_id = ${id}`).length;

t.test('it is introduced with a key, which is encrypted and never shown', async (t) => {
  const id = await platform.agent();
  t.strictSame(await llmOf(id), { tier: 'medium', custom: null });
  const { api_key: _, ...keyless } = OWN;
  for (const custom of [keyless, { ...keyless, api_key: null }, { ...keyless, has_secret: true }]) {
    const refused = await patch(id, { custom });
    t.strictSame([refused.status, places(refused)], [422, ['llm.custom.api_key']]);
  }
  const made = await patch(id, { custom: OWN });
  t.strictSame([made.status, made.body['llm']], [200, { tier: 'medium', custom: SHOWN }]);
  t.notMatch(made.text, 'sesame');
  t.equal(await keysOf(id), 1);
  const [row] = await database.sql<{ text: string }[]>`
    select to_jsonb(a)::text || encode(k.sealed, 'escape') as text
    from agents a join model_keys k on k.owner_id = a.id where a.id = ${id}`;
  t.notMatch(row?.text, 'sesame');
  const created = await platform.agent({ config: { llm: { custom: OWN } } });
  t.strictSame(await llmOf(created), { tier: 'medium', custom: SHOWN });
  const nameless = await call('POST', '/v1/agent/agents', {
    body: { name: 'A', config: { llm: { custom: keyless } } },
  });
  t.strictSame(places(nameless), ['config.llm.custom.api_key']);
});

t.test('what was read can be written back, and the key stays with whatever names it', async (t) => {
  const id = await platform.agent({ config: { llm: { custom: OWN } } });
  const before = (await call('GET', pathOf(id))).body;
  exactly(t, await call('PATCH', pathOf(id), { body: before }), { status: 200 });
  exactly(t, await call('GET', pathOf(id)), {
    body: { llm: before['llm'] as Json, config_hash: before['config_hash'] as string },
  });
  const moved = await patch(id, { custom: { base_url: 'https://other.example', model: 'm' } });
  exactly(t, moved.body['llm'], { custom: { base_url: 'https://other.example', has_secret: true } });
  t.equal(await keysOf(id), 1, 'under its new address');
  t.not(moved.body['config_hash'], before['config_hash']);
  await patch(id, { custom: null });
  t.strictSame(await llmOf(id), { tier: 'medium', custom: null });
  t.equal(await keysOf(id), 0, 'nothing of it is left');
});

t.test('an address has no query, no fragment, and a public host', async (t) => {
  const id = await platform.agent();
  const good: [sent: string, kept: string][] = [
    [BASE, BASE],
    [`${BASE}/`, BASE],
    [`${BASE}/chat/completions`, BASE],
    [`${BASE}/chat/completions/`, BASE],
    ['https://llm.example', 'https://llm.example'],
    ['https://llm.example:8443/a/b', 'https://llm.example:8443/a/b'],
    [`https://llm.example/${'x'.repeat(1980)}`, `https://llm.example/${'x'.repeat(1980)}`],
  ];
  for (const [base_url, kept] of good)
    exactly(t, await patch(id, { custom: { ...OWN, base_url } }), {
      status: 200,
      body: { llm: { custom: { base_url: kept } } },
    });
  const bad = [
    ...['http://llm.example/v1', `${BASE}?a=1`, `${BASE}?`, `${BASE}#a`, 'https://a:b@llm.example/v1', ''],
    ...['https://10.0.0.5/v1', 'https://localhost/v1', 'https://169.254.169.254/v1', 'llm.example/v1', null],
    `https://llm.example/${'x'.repeat(1981)}`,
  ];
  for (const base_url of bad) {
    const refused = await patch(id, { custom: { ...OWN, base_url } });
    t.strictSame([refused.status, places(refused)], [422, ['llm.custom.base_url']], String(base_url));
  }
});

t.test('its other fields are bounded', async (t) => {
  const id = await platform.agent();
  const cases: [leaf: string, good: readonly unknown[], bad: readonly unknown[]][] = [
    ['model', ['m', 'x'.repeat(256)], ['', 'x'.repeat(257), 5, null]],
    ['api_key', ['k', 'x'.repeat(4096)], ['', 'x'.repeat(4097), 5, 'a b', 'ä', 'a\r\nb']],
    ['has_secret', [true, false], ['true']],
    ['other', [], [1]],
  ];
  for (const [leaf, good, bad] of cases) {
    for (const value of good)
      t.equal((await patch(id, { custom: { ...OWN, [leaf]: value } })).status, 200, `${leaf}: good`);
    for (const value of bad) {
      const refused = await patch(id, { custom: { ...OWN, [leaf]: value } });
      t.strictSame([refused.status, places(refused)], [422, [`llm.custom.${leaf}`]], `${leaf}: bad`);
    }
  }
  t.strictSame(places(await patch(id, { custom: { api_key: 'k' } })), [
    'llm.custom.base_url',
    'llm.custom.model',
  ]);
});

t.test('tier and model of its own exclude each other', async (t) => {
  const id = await platform.agent({ config: { llm: { tier: 'high' } } });
  const refused = await patch(id, { tier: 'high', custom: OWN });
  t.strictSame([refused.status, places(refused)], [422, ['llm.tier']]);
  await patch(id, { custom: OWN });
  t.strictSame(await llmOf(id), { tier: 'medium', custom: SHOWN }, 'the tier goes');
  t.strictSame(places(await patch(id, { tier: 'instant' })), ['llm.tier']);
  exactly(t, await patch(id, { tier: 'medium' }), { status: 200 });
  exactly(t, await patch(id, { tier: null }), { status: 200 });
  t.strictSame((await patch(id, { tier: 'instant', custom: null })).body['llm'], {
    tier: 'instant',
    custom: null,
  });
});

t.test('a version freezes address and model; its key is kept as long as it needs it', async (t) => {
  const id = await platform.agent({ config: { llm: { custom: OWN } } });
  exactly(t, await call('POST', `/v1/agent/agents/${id}/publish`), { status: 200, body: { warnings: [] } });
  await patch(id, { custom: { ...OWN, base_url: 'https://new.example', api_key: 'other' } });
  exactly(t, await call('GET', `/v1/agent/agents/${id}/versions/1`), {
    body: { config: { llm: { tier: 'medium', custom: SHOWN } } },
  });
  t.equal(await keysOf(id), 2);
  const { api_key: _, ...keyless } = OWN;
  await patch(id, { custom: keyless });
  t.equal(await keysOf(id), 1, 'back to that of the version, with the key that it has');
  await patch(id, { custom: null });
  t.equal(await keysOf(id), 1, 'that of the version');
  exactly(t, await patch(id, { custom: keyless }), { status: 200 });
  exactly(t, await call('DELETE', `/v1/agent/agents/${id}`), { status: 204 });
  t.equal(await keysOf(id), 0);
});

t.test('publishing warns of a tier without a model, and of a model that will not be asked', async (t) => {
  const warningsOf = async (id: string) =>
    (await call('POST', `/v1/agent/agents/${id}/publish`)).body['warnings'] as readonly string[];
  const id = await platform.agent({ config: { llm: { tier: 'high' } } });
  exactly(t, await warningsOf(id), [/no language model for the tier "high"/]);
  await patch(id, { custom: OWN });
  await database.sql`
    update agents set config = jsonb_set(config, '{llm,custom,base_url}', '"https://10.0.0.5/v1"') where id = ${id}`;
  exactly(t, await warningsOf(id), [/^The address of the language model must not point to/, /has no key/]);
});
