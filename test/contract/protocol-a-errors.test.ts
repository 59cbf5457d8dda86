/** Errors of protocol A: requests that cannot be served, and requests that fail midway (docs/contract/limits.md). */
import t from 'tap';
import { randomIds } from '../../contracts/ids.js';
import { createKey } from '../../storage/keys/keys.js';
import { memberOf } from '../fixtures/family.js';
import { startPlatform } from '../fixtures/platform.js';
import { BASES, ENDLESS, type Fields, PLAIN, refusal, sender } from '../fixtures/protocol-a.js';
import { until } from '../fixtures/until.js';

const SPEECH = { model: 'svc/s2.1-pro', input: 'Hello' };
const CHAT = { model: 'svc/s2.1-pro', messages: [{ role: 'user', content: 'Hello' }] };

/** One slot, and a workspace without any quota left. */
const { gateway: narrow, database } = await startPlatform(t, { CONCURRENCY: '1' });
const workspaceId = randomIds.next('workspace');
await database.sql`
  insert into workspaces (id, name, synthesis_characters, transcription_ms) values (${workspaceId}, 'Poor', 0, 0)`;
const { key } = await createKey(database.sql, randomIds, { workspaceId, name: 'poor' });
const poor = { base: narrow.base, authorization: { authorization: `Bearer ${key}` } };

t.test("authentication: no key is ours, a wrong key is the provider's", async (t) => {
  const paths = ['/audio/speech', '/audio/transcriptions', '/chat/completions', '/realtime/client_secrets'];
  for (const base of BASES) {
    for (const path of paths) {
      const post = sender(narrow, path);
      const none = await post(SPEECH, { authorization: '' }, base);
      t.equal(none.headers.get('www-authenticate'), 'Bearer');
      t.ok(none.headers.get('x-request-id'));
      t.equal(none.headers.get('x-request-id'), none.headers.get('x-generation-id'));
      const missing = await refusal(none, 401);
      t.equal(missing.type, 'authentication_error');
      t.notOk(missing.metadata);
      for (const authorization of ['Bearer wrong', 'Basic eDp5', 'Bearer a b']) {
        const wrong = await refusal(await post(SPEECH, { authorization }, base), 401);
        t.match(wrong, { type: 'provider_error', metadata: { provider_name: 'svc' } });
      }
    }
  }
});

t.test('429 is a rate_limit_error with Retry-After, on everything that takes a slot', async (t) => {
  const controller = new AbortController();
  const speak = sender(narrow, '/audio/speech');
  const wav = await speak({ ...SPEECH, response_format: 'wav' });
  const data = Buffer.from(await wav.arrayBuffer()).toString('base64');
  const endless = { ...SPEECH, input: ENDLESS, response_format: 'pcm' };
  const long = await speak(endless, {}, PLAIN, controller.signal);
  await long.body?.getReader().read();
  const asked: [string, Fields][] = [
    ['/audio/speech', SPEECH],
    ['/audio/transcriptions', { model: 'whisper-1', input_audio: { data, format: 'wav' } }],
    ['/chat/completions', { ...CHAT, modalities: ['audio'], stream: true }],
  ];
  for (const [path, body] of asked) {
    const refused = await sender(narrow, path)(body);
    t.ok(Number(refused.headers.get('retry-after')) > 0, path);
    const error = await refusal(refused, 429);
    t.equal(error.type, 'rate_limit_error');
    t.notOk(error.metadata);
  }
  controller.abort();
});

t.test('402 is a provider error, on everything that speaks or transcribes', async (t) => {
  const data = Buffer.from('RIFF').toString('base64');
  const speaking = { ...CHAT, modalities: ['audio'] };
  const part = { type: 'input_audio', input_audio: { data, format: 'wav' } };
  const hearing = { model: 'whisper-1', messages: [{ role: 'user', content: [part] }] };
  const asked: [string, Fields][] = [
    ['/audio/speech', SPEECH],
    ['/audio/transcriptions', { model: 'whisper-1', input_audio: { data, format: 'wav' } }],
    ['/chat/completions', speaking],
    ['/chat/completions', { ...speaking, stream: true }],
    ['/chat/completions', hearing],
    ['/chat/completions', { ...hearing, stream: true }],
  ];
  for (const base of BASES) {
    for (const [path, body] of asked) {
      const error = await refusal(await sender(poor, path)(body, {}, base), 402);
      t.match(error, { type: 'provider_error', metadata: { provider_name: 'svc' } }, path);
    }
  }
});

t.test(
  'a stream that fails midway ends the connection; one that cannot begin is 502, not to be repeated',
  async (t) => {
    const speak = sender(narrow, '/audio/speech');
    const endless = () => speak({ ...SPEECH, input: ENDLESS });
    await until('the slot is free', async () => (await speak(SPEECH)).status === 200);
    const response = await endless();
    const reader = response.body?.getReader();
    await reader?.read();
    process.kill(memberOf(narrow.pid, 'workers/encode'), 'SIGKILL');
    const toEnd = async () => {
      while (!(await reader?.read())?.done);
    };
    await t.rejects(toEnd(), 'never a short success');
    const next = await endless();
    if (next.status === 200) return void (await next.body?.cancel());
    t.equal(next.headers.get('x-should-retry'), next.status === 502 ? 'false' : null);
    t.match(await refusal(next, next.status), { type: 'provider_error' });
  },
);
