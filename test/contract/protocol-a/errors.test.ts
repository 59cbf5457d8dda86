/**
 * Errors of protocol A: requests that cannot be served, fail midway, are abandoned, or are not read (docs/contract/limits.md
 * "Limits"; docs/contract/protocol-a.md 4.3).
 */
import t from '../../fixtures/tap.js';
import { type Chunk, completionOf, eventsIn } from '../../fixtures/protocol-a/chat.js';
import { exactly } from '../../fixtures/exactly.js';
import { memberOf } from '../../fixtures/processes/family.js';
import { startPlatform } from '../../fixtures/platform/platform.js';
import { memoryOf } from '../../fixtures/processes/resources.js';
import {
  AGGREGATOR,
  BASES,
  ENDLESS,
  type Fields,
  PLAIN,
  refusal,
  sender,
} from '../../fixtures/protocol-a/rest.js';
import { until } from '../../fixtures/until.js';

const SPEECH = { model: 'svc/s2.1-pro', input: 'Hello' };
const CHAT = { model: 'svc/s2.1-pro', messages: [{ role: 'user', content: 'Hello' }] };

const platform = await startPlatform(t, { CONCURRENCY: '4', LOG_LEVEL: 'info' });
const { gateway } = platform;
const narrow = await platform.limited({ concurrency: 1 });
const poor = await platform.limited({ synthesis_characters: 0, transcription_ms: 0 });

const breakEncoder = () => process.kill(memberOf(gateway.pid, 'workers/encode'), 'SIGKILL');

t.test('a slash or a /v1 too many: 404 in this shape, with a hint', async (t) => {
  for (const path of [
    '/v1//audio/speech',
    '//v1/audio/speech',
    '/v1/v1/audio/speech',
    '/compat/v1//audio/speech',
  ]) {
    const response = await fetch(`${gateway.base}${path}`, { method: 'POST' });
    const { message, type } = await refusal(response, 404);
    t.match(message, /The route is \/(compat\/)?v1\/audio\/speech: /, path);
    t.equal(type, 'invalid_request_error');
  }
});

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
        exactly(t, wrong, { type: 'provider_error', metadata: { provider_name: 'svc' } });
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
      exactly(t, error, { type: 'provider_error', metadata: { provider_name: 'svc' } }, path);
    }
  }
});

t.test(
  'a stream that fails midway ends the connection; one that cannot begin is 502, not to be repeated',
  async (t) => {
    const speak = sender(narrow, '/audio/speech');
    const endless = () => speak({ ...SPEECH, input: ENDLESS });
    await until('the slot is free', async () => {
      const spoken = await speak(SPEECH);
      await spoken.arrayBuffer();
      return spoken.status === 200;
    });
    const response = await endless();
    t.equal(response.status, 200);
    const reader = response.body?.getReader();
    await reader?.read();
    breakEncoder();
    const toEnd = async () => {
      while (!(await reader?.read())?.done);
    };
    await t.rejects(toEnd(), 'never a short success');
    const next = await endless();
    if (next.status === 200) return void (await next.body?.cancel());
    t.equal(next.headers.get('x-should-retry'), next.status === 502 ? 'false' : null);
    exactly(t, await refusal(next, next.status), { type: 'provider_error' });
  },
);

const speaking = (content: string, fields: Fields = {}): Fields => ({
  model: 'svc/s2.1-pro',
  modalities: ['text', 'audio'],
  audio: { voice: 'default', format: 'pcm16' },
  messages: [{ role: 'user', content }],
  ...fields,
});
const post = sender(gateway, '/chat/completions');

/** Number of jobs that hold a slot. */
async function running(): Promise<number> {
  const metrics = await (await fetch(`${gateway.base}/metrics`)).text();
  return Number(/^\w*speech_jobs_running\S* (\d+)/m.exec(metrics)?.[1]);
}

/** Waits until every slot is free and the encoder runs (again). */
async function recovered(): Promise<void> {
  await until('every slot is free', async () => (await running()) === 0);
  await until('it speaks again', async () => {
    const response = await post(speaking('a'));
    await response.arrayBuffer();
    return response.status === 200;
  });
}

t.test('a stream that fails midway says so in a chunk, and ends without [DONE]', async (t) => {
  await recovered();
  for (const base of BASES) {
    const response = await post(speaking(ENDLESS, { stream: true }), {}, base);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = (await reader.read()).value ?? '';
    breakEncoder();
    for (let step = await reader.read(); !step.done; step = await reader.read())
      text = (text + step.value).slice(-4_000_000);
    const events = eventsIn(text);
    const last = JSON.parse(events.at(-1) ?? 'null') as Chunk;
    exactly(t, last.choices, [{ index: 0, delta: { content: '' }, finish_reason: 'error' }]);
    exactly(t, last, { object: 'chat.completion.chunk', model: 'svc/s2.1-pro', id: /^chatcmpl-/ });
    exactly(t, last.error, {
      code: 502,
      type: 'provider_error',
      metadata: { provider_name: 'svc', error_type: 'provider_unavailable' },
    });
    t.notMatch(events.at(-2), /finish_reason":"stop/);
    await recovered();
  }
  t.match(gateway.stderr() + gateway.stdout(), /a chat stream failed/);
  t.match(gateway.stderr(), /"route":"\/compat\/v1\/chat\/completions","status":502,"outcome":"failed"/);
});

t.test('a completion that fails while it is held is an error with its status', async (t) => {
  const long = post(speaking('abcdefghi '.repeat(3000), { audio: { format: 'mp3' } }));
  await until('it is being spoken', async () => (await running()) === 1);
  breakEncoder();
  const error = await refusal(await long, 502);
  exactly(t, error, { type: 'provider_error', metadata: { provider_name: 'svc' } });
  t.notOk(error.metadata?.error_type, 'only in chunks');
  await recovered();
});

t.test('429 comes before any chunk, with Retry-After', async (t) => {
  const controllers = Array.from({ length: 4 }, () => new AbortController());
  await Promise.all(
    controllers.map(async ({ signal }) => {
      const response = await post(speaking(ENDLESS, { stream: true }), {}, AGGREGATOR, signal);
      await response.body?.getReader().read();
    }),
  );
  for (const stream of [true, false]) {
    const response = await post(speaking('a', { stream }));
    t.ok(Number(response.headers.get('retry-after')) > 0);
    t.equal((await refusal(response, 429)).type, 'rate_limit_error');
  }
  for (const controller of controllers) controller.abort();
  await recovered();
});

t.test('a client that goes takes its synthesis with it, streamed or not', async () => {
  for (const stream of [true, false]) {
    const controllers = Array.from({ length: 4 }, () => new AbortController());
    const asked = controllers.map(({ signal }) =>
      post(speaking(ENDLESS, { stream }), {}, PLAIN, signal).catch(() => undefined),
    );
    await until('all slots are taken', async () => (await running()) === controllers.length);
    for (const controller of controllers) controller.abort();
    await Promise.all(asked);
    await recovered();
  }
});

const MOST_BYTES = 200 * 1024 * 1024;

let polled = 0;

/** Body bytes that the gateway has sent so far, without the answers to this question. */
async function sentBytes(): Promise<number> {
  const metrics = await (await fetch(`${gateway.base}/metrics`)).text();
  const sent = Number(/^\w*bytes_total\{[^}]*out[^}]*\} (\S+)/m.exec(metrics)?.[1]) - polled;
  polled += metrics.length;
  return sent;
}

/** Bytes that still count as a standstill: more than these polls cause, and far less than a flowing stream. */
const STILL_BYTES = 64 * 1024;

/** Waits until hardly anything is sent any more; resolves with the bytes sent so far. */
async function stoodStill(): Promise<number> {
  let before = await sentBytes();
  let still = 0;
  await until('the streams stand still', async () => {
    const now = await sentBytes();
    still = now - before < STILL_BYTES ? still + 1 : 0;
    before = now;
    return still > 5;
  });
  return before;
}

t.test('clients that do not read hold back their own synthesis, in bounded memory', async (t) => {
  const [before, sent] = [memoryOf(gateway.pid), await sentBytes()];
  const controllers = Array.from({ length: 3 }, () => new AbortController());
  const stalled = await Promise.all([
    post(speaking(ENDLESS, { stream: true }), {}, PLAIN, controllers[0]?.signal),
    post(speaking(ENDLESS, { stream: true, audio: { format: 'wav' } }), {}, PLAIN, controllers[1]?.signal),
    post(speaking(ENDLESS, { audio: { format: 'wav' } }), {}, PLAIN, controllers[2]?.signal),
  ]);
  t.strictSame(
    stalled.map(({ status }) => status),
    [200, 200, 200],
    'the third is longer than is held: its beginning has been sent',
  );
  t.ok((await stoodStill()) - sent < MOST_BYTES, 'of hours of audio');
  for (let count = 0; count < 20; count += 1) await completionOf(await post(speaking('And another one.')));
  t.ok(memoryOf(gateway.pid) - before < MOST_BYTES);
  for (const controller of controllers) controller.abort();
  await recovered();
});
