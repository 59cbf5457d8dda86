/**
 * `/v1` as a base of protocol A: next to the native API and the platform, which keep their paths and shapes; the lists
 * of voices and models that exist only there; and the sample rate of `pcm` if a setting changes it.
 */
import t from '../../fixtures/tap.js';
import { exactly } from '../../fixtures/exactly.js';
import { startGateway } from '../../fixtures/gateway.js';
import { audioOf, BASES, type Fields, refusal, ROOT, speaker } from '../../fixtures/protocol-a/rest.js';
import { RealtimeClient } from '../../fixtures/protocol-a/realtime-client.js';

const gateway = await startGateway({ PCM_RATE: '24000,/compat/api/v1=16000' });
t.teardown(() => gateway.stop());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${gateway.base}${path}`, { headers });

const ids = (entries: readonly Fields[]): unknown[] => entries.map(({ id }) => id);

t.test('native and platform paths keep their names, and unknown ones their shape', async (t) => {
  const native = await fetch(`${gateway.base}/v1/tts`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'Hello' }),
  });
  t.equal((await audioOf(native)).subarray(0, 1)[0], 0xff);
  for (const path of ['/v1', '/v1/', '/v1/nothing', '/v1/voices', '/v1/audiobooks', '/v1/agent/nothing']) {
    const response = await get(path);
    t.equal(response.status, 404);
    exactly(t, await response.json(), { status: 404, message: String }, path);
  }
  const agents = await get('/v1/agent/agents', gateway.authorization);
  t.equal(agents.status, 200);
});

t.test('a realtime session below /v1', async () => {
  const client = await new RealtimeClient(gateway, { base: ROOT, query: '?model=gpt-realtime' }).opened();
  await client.next('session.created');
  client.leave();
});

t.test('voices as Open WebUI and Home Assistant read them: without a key, and with one', async (t) => {
  const list = async (query = '', headers = {}) =>
    (await (await get(`/v1/audio/voices${query}`, headers)).json()) as { voices: Fields[]; total: number };
  const open = await list();
  exactly(t, open.voices[0], { id: 'default', name: 'Default' });
  for (const voice of open.voices) exactly(t, voice, { id: String, name: String });
  t.equal(open.total, open.voices.length);
  t.ok(open.voices.length > 1);
  t.strictSame(await list('', gateway.authorization), open, 'nothing is cloned here');
  t.strictSame(ids((await list('?limit=1&offset=1')).voices), [open.voices[1]?.['id']]);
  await refusal(await get('/v1/audio/voices', { authorization: 'Bearer wrong' }), 401);
  const say = speaker(gateway);
  for (const id of ids(open.voices)) await audioOf(await say({ voice: id }, {}, ROOT));
});

t.test('models that speak, as Open WebUI reads them', async (t) => {
  const { models } = (await (await get('/v1/audio/models')).json()) as { models: Fields[] };
  t.strictSame(ids(models), ['svc/s2.1-pro', 'svc/s2.1-pro-free', 'svc/s2-pro', 'svc/s1']);
  exactly(t, models[0], { name: 'S2.1 Pro' });
});

t.test('PCM_RATE: the rate of pcm where a request names none, by base', async (t) => {
  const say = speaker(gateway);
  const seconds = async (fields: Fields, base: string, rate: number) =>
    (await audioOf(await say({ response_format: 'pcm', ...fields }, {}, base))).length / 2 / rate;
  const usual = await seconds({ sample_rate: 44_100 }, ROOT, 44_100);
  const near = (found: number, what: string) =>
    t.ok(Math.abs(found - usual) < 0.1, `${what}: ${found}, ${usual}`);
  for (const base of BASES) near(await seconds({}, base, base === '/compat/api/v1' ? 16_000 : 24_000), base);
  near(await seconds({ response_format: 'pcm16' }, '/compat/api/v1', 24_000), 'pcm16 stays as it is');
});
