/**
 * Protocol B's text-to-speech over REST where there is nothing to hear: what is refused, how it is told, and what is
 * described (spec "Compatibility layer"; protocol-b.md 1, 2).
 */
import { request as httpRequest } from 'node:http';
import t from 'tap';
import { LIMITS } from '../../contracts/limits.js';
import { memberOf } from '../fixtures/family.js';
import { startGateway } from '../fixtures/gateway.js';
import { at, bytesOf, ENDLESS, PLAIN, TIMED } from '../fixtures/protocol-b-speech.js';
import { BASE, detailOf, KEY, ProtocolB } from '../fixtures/protocol-b.js';
import { until } from '../fixtures/until.js';

t.setTimeout(240_000);

const gateway = await startGateway();
t.teardown(() => gateway.stop());
const api = new ProtocolB(gateway);

t.test('rule 1: any other voice id is 400 on every endpoint, percent-encoded slashes included', async (t) => {
  const ids = ['Alloy', 'Rachel', '-', 'svc%2Fs2.1-pro', 'f'.repeat(32), 'v'.repeat(200), '%20'];
  for (const endpoint of [...PLAIN, ...TIMED]) {
    for (const id of ids) {
      const { code } = await detailOf(t, await api.speak(at(id, endpoint), { text: 'a' }));
      t.equal(code, 'voice_not_found', `${id} ${endpoint}`);
    }
  }
  t.equal((await detailOf(t, await api.speak('%zz', { text: 'a' }))).param, 'voice_id');
});

t.test(
  'refused: ulaw_* and alaw_*, every 22.05 kHz format, rates and bitrates outside the table',
  async (t) => {
    const names = [
      'ulaw_8000',
      'alaw_8000',
      'mp3_22050_32',
      'pcm_22050',
      'wav_22050',
      'pcm_48000',
      'mp3_44100_320',
    ];
    for (const endpoint of [...PLAIN, ...TIMED]) {
      for (const output_format of [...names, 'nonsense']) {
        const detail = await detailOf(t, await api.speak(at('', endpoint), { text: 'a' }, { output_format }));
        t.match(detail, { code: 'unsupported_format', param: 'output_format' });
      }
    }
  },
);

t.test('bodies that are not what they should be: 400, never 422', async (t) => {
  const bodies: [unknown, string | undefined, string][] = [
    [{}, 'text', 'invalid_request'],
    [{ text: '' }, 'text', 'invalid_request'],
    [{ text: ' \n' }, 'text', 'invalid_request'],
    [{ text: 5 }, 'text', 'invalid_request'],
    [{ text: null }, 'text', 'invalid_request'],
    [{ text: 'a', model_id: 5 }, 'model_id', 'invalid_request'],
    [{ text: 'a', model_id: 'nobody' }, 'model_id', 'model_not_found'],
    [{ text: 'a', model_id: 'scribe_v1' }, 'model_id', 'model_not_found'],
    [{ text: 'a', language_code: 'tlh' }, 'language_code', 'language_unavailable'],
    ['[]', undefined, 'invalid_request'],
    ['{"text":', undefined, 'malformed_body'],
  ];
  for (const endpoint of [...PLAIN, ...TIMED]) {
    for (const [body, param, code] of bodies) {
      const detail = await detailOf(t, await api.speak(at('', endpoint), body));
      t.match(detail, { code, type: 'validation_error' }, JSON.stringify(body));
      t.equal(detail.param, param);
    }
  }
  await detailOf(t, await api.speak('', 'text=a', {}, { 'content-type': 'text/plain' }), 415);
});

t.test('authentication: the protocol’s own header, or a bearer token', async (t) => {
  const bearer = await api.speak('', { text: 'a' }, {}, { 'xi-api-key': '', ...gateway.authorization });
  await bytesOf(t, bearer);
  for (const endpoint of [...PLAIN, ...TIMED]) {
    const path = at('', endpoint);
    const none = await detailOf(t, await api.speak(path, { text: 'a' }, {}, { 'xi-api-key': '' }), 401);
    t.match(none, { type: 'authentication_error', code: 'needs_authorization' });
    const wrong = await detailOf(t, await api.speak(path, { text: 'a' }, {}, { 'xi-api-key': 'no' }), 401);
    t.equal(wrong.code, 'invalid_api_key');
  }
});

/** The status that the head alone is answered with; undefined where the connection is cut. */
const statusOfLength = (path: string, length: number): Promise<number | undefined> =>
  new Promise((resolve) => {
    const headers = { ...KEY, 'content-type': 'application/json', 'content-length': length };
    const request = httpRequest(`${gateway.base}${BASE}${path}`, { method: 'POST', headers });
    request.on('response', (response) => resolve(response.statusCode)).on('error', () => resolve(undefined));
    request.flushHeaders();
    request.setTimeout(60_000, () => resolve(undefined));
  });

t.test('a body over 140 MiB is 413, one of megabytes is not', async (t) => {
  for (const endpoint of [...PLAIN, ...TIMED]) {
    const status = await statusOfLength(
      `/v1/text-to-speech/${at('default', endpoint)}`,
      LIMITS.body.protocolB + 1,
    );
    t.equal(status, 413);
  }
  const large = JSON.stringify({ text: 'a', unknown: 'x'.repeat(LIMITS.body.protocolASynthesis) });
  await bytesOf(t, await api.speak('', large));
});

t.test('below its base everything has the protocol’s error shape, beside it not', async (t) => {
  for (const path of ['', '/v1', '/v1/text-to-speech/a/b/c', '/v3/voices'])
    t.equal((await detailOf(t, await api.get(path), 404)).type, 'not_found');
  await detailOf(t, await api.get('/v1/text-to-speech/default'), 405);
  const other = (await (await fetch(`${gateway.base}/compat/nobody`)).json()) as object;
  t.ok('error' in other, 'protocol A’s shape');
});

t.test('matrix "Chat-modality audio over SSE": not in this protocol', async (t) => {
  const body = JSON.stringify({ model: 'svc/s2.1-pro', modalities: ['audio'], messages: [], stream: true });
  const headers = { ...KEY, ...gateway.authorization, 'content-type': 'application/json' };
  for (const path of ['/chat/completions', '/v1/chat/completions'])
    await detailOf(t, await fetch(api.url(path), { method: 'POST', headers, body }), 404);
});

t.test('spec "never a truncated 200": a failure in the middle breaks the connection', async (t) => {
  for (const endpoint of [...PLAIN, ...TIMED]) {
    const response = await until('the encoder is back', async () => {
      const asked = await api.speak(at('', endpoint), { text: ENDLESS });
      if (asked.status === 200) return asked;
      await asked.body?.cancel();
      return undefined;
    });
    const reader = response.body!.getReader();
    await reader.read();
    process.kill(memberOf(gateway.pid, 'workers/encode'), 'SIGKILL');
    const drain = async (): Promise<void> => {
      while (!(await reader.read()).done);
    };
    await t.rejects(drain(), `${endpoint || 'plain'} fails for its reader`);
  }
});

t.test('the interface description covers every endpoint', async (t) => {
  const { paths } = (await (await fetch(`${gateway.base}/openapi.json`)).json()) as {
    paths: Record<string, { post?: { requestBody: object; responses: Record<string, object> } }>;
  };
  for (const endpoint of [...PLAIN, ...TIMED]) {
    const described = paths[`${BASE}/v1/text-to-speech/${at('{voice_id}', endpoint)}`]?.post;
    t.strictSame(Object.keys(described?.responses ?? {}), [
      '200',
      '400',
      '401',
      '402',
      '413',
      '415',
      '429',
      '502',
      '503',
    ]);
  }
});
