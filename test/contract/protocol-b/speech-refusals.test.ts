/**
 * Protocol B's text-to-speech over REST: refusals, their form, and the interface description
 * (docs/contract/compatibility.md; docs/contract/protocol-b.md 1, 2).
 */
import { request as httpRequest } from 'node:http';
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { exactly } from '../../fixtures/exactly.js';
import { memberOf } from '../../fixtures/processes/family.js';
import { lentGateway } from '../../fixtures/lent-gateway.js';
import { at, bytesOf, ENDLESS, PLAIN, TIMED } from '../../fixtures/protocol-b/speech.js';
import { BASE, detailOf, KEY, ProtocolB } from '../../fixtures/protocol-b/rest.js';
import { until } from '../../fixtures/until.js';

const gateway = await lentGateway(t);
const api = new ProtocolB(gateway);

t.test('rule 1: any other voice id is 400 on every endpoint, percent-encoded slashes included', async (t) => {
  const ids = ['Alloy', 'Rachel', '-', 'svc%2Fs2.1-pro', 'f'.repeat(32), 'v'.repeat(200), '%20'];
  for (const endpoint of [...PLAIN, ...TIMED]) {
    for (const id of ids) {
      const { code, message } = await detailOf(t, await api.speak(at(id, endpoint), { text: 'a' }));
      t.equal(code, 'voice_not_found', `${id} ${endpoint}`);
      t.match(message, /no voice ".+"; GET \/v1\/voices lists the voices$/);
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
        exactly(t, detail, { code: 'unsupported_format', param: 'output_format' });
      }
    }
  },
);

t.test('refused: pronunciation dictionaries, which change the sound; none of them is fine', async (t) => {
  const pronunciation_dictionary_locators = [{ pronunciation_dictionary_id: 'x' }];
  for (const endpoint of [...PLAIN, ...TIMED]) {
    const refused = await api.speak(at('', endpoint), { text: 'a', pronunciation_dictionary_locators });
    const detail = await detailOf(t, refused);
    exactly(t, detail, { code: 'unsupported_option', param: 'pronunciation_dictionary_locators' });
  }
  for (const none of [null, []])
    await bytesOf(t, await api.speak('', { text: 'a', pronunciation_dictionary_locators: none }));
});

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
      exactly(t, detail, { code, type: 'validation_error' }, JSON.stringify(body));
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
    exactly(t, none, { type: 'authentication_error', code: 'needs_authorization' });
    const wrong = await detailOf(t, await api.speak(path, { text: 'a' }, {}, { 'xi-api-key': 'no' }), 401);
    t.equal(wrong.code, 'invalid_api_key');
  }
});

/** The status of the answer to the head alone; undefined if the connection is cut. */
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

const killEncoder = (): void => void process.kill(memberOf(gateway.pid, 'workers/encode'), 'SIGKILL');

/** An answer that has begun; retried, since the encoder may still be restarting after the last failure. */
const begun = (endpoint: string, text: string): Promise<Response> =>
  until('the encoder is back', async () => {
    const asked = await api.speak(at('', endpoint), { text });
    if (asked.status === 200) return asked;
    await asked.body?.cancel();
    return undefined;
  });

t.test('a failure in the middle breaks the connection', async (t) => {
  for (const endpoint of PLAIN) {
    const reader = (await begun(endpoint, ENDLESS)).body!.getReader();
    await reader.read();
    killEncoder();
    const drain = async (): Promise<void> => {
      while (!(await reader.read()).done);
    };
    await t.rejects(drain(), `${endpoint || 'plain'} fails for its reader`);
  }
});

t.test('a failure in the middle of timed lines is told in the last one', async (t) => {
  const reader = (await begun('stream/with-timestamps', ENDLESS)).body!.getReader();
  await reader.read();
  killEncoder();
  let told = '';
  for (let step = await reader.read(); !step.done; step = await reader.read())
    told += Buffer.from(step.value).toString('latin1');
  const { detail } = JSON.parse(told.trimEnd().split('\n').at(-1) ?? '') as { detail?: { code: string } };
  t.ok(detail?.code, 'the error, in the shape of the protocol');
});

t.test('a failure before an answer that is sent whole is 502', async (t) => {
  await (await begun('', 'a')).arrayBuffer();
  const answer = api.speak(at('', 'with-timestamps'), { text: ENDLESS });
  await until('it is being encoded', async () => {
    const figures = await (await fetch(`${gateway.base}/metrics`)).text();
    return /child_jobs_running\{[^}]*role="encode"[^}]*\} 1/.test(figures);
  });
  killEncoder();
  await detailOf(t, await answer, 502);
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
      '403',
      '413',
      '415',
      '429',
      '502',
      '503',
    ]);
  }
});
