/**
 * The longest time of a connection: each kind of stream and socket says in its own shape why it ends, on both adapters
 * (docs/contract/limits.md, "The end of a connection").
 */
import { once } from 'node:events';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { startDialects } from '../../fixtures/speech/dialects.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { stacks } from '../../fixtures/edge/edge.js';
import { exactly } from '../../fixtures/exactly.js';
import { LiveClient } from '../../fixtures/native/live.js';
import { Client as ScribeClient } from '../../fixtures/protocol-b/realtime-client.js';
import { RealtimeClient } from '../../fixtures/protocol-a/realtime-client.js';
import { SpeechSocketClient } from '../../fixtures/protocol-b/speech-socket.js';
import { TEST_KEY } from '../../fixtures/gateway.js';
import { until } from '../../fixtures/until.js';

const MESSAGE = 'The connection has reached its limit of 3600 seconds, open another one';

/** Waits until the server has read what was sent: it answers a ping behind it. */
async function taken({ socket }: SpeechSocketClient): Promise<void> {
  const answered = once(socket, 'pong');
  socket.ping();
  await answered;
}

/** A server, and the clock that it goes by. */
interface At {
  readonly clock: SimulatedClock;
  readonly server: Awaited<ReturnType<typeof startDialects>>;
}

/** Opens a stream, lets its time pass once its first event is there, and returns all of it. */
async function streamed(
  t: Test,
  { clock, server }: At,
  path: string,
  body: object | FormData,
): Promise<string> {
  const form = body instanceof FormData;
  const response = await fetch(`${server.base}${path}`, {
    method: 'POST',
    headers: { ...server.authorization, ...(form ? {} : { 'content-type': 'application/json' }) },
    body: form ? body : JSON.stringify(body),
  });
  t.equal(response.status, 200);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = (await reader.read()).value ?? '';
  clock.advance(LIMITS.http.connectionMs);
  for (let step = await reader.read(); !step.done; step = await reader.read()) text += step.value;
  return text;
}

const lastOf = (text: string): string => text.trimEnd().split('\n\n').at(-1)!;

/** What ends, and how it says so. */
const CASES: Readonly<Record<string, (t: Test, at: At) => Promise<void>>> = {
  'chat: a chunk with an error, then the end, without [DONE]': async (t, at) => {
    const audio = { voice: 'default', format: 'pcm16' };
    const messages = [{ role: 'user', content: 'Hi' }];
    const asked = { model: 'svc/s2-pro', stream: true, modalities: ['text', 'audio'], audio, messages };
    const text = await streamed(t, at, '/compat/v1/chat/completions', asked);
    exactly(t, JSON.parse(lastOf(text).slice('data: '.length)), {
      object: 'chat.completion.chunk',
      choices: [{ finish_reason: 'error' }],
      error: { code: 408, message: MESSAGE, type: 'invalid_request_error' },
    });
    t.notMatch(text, /\[DONE\]/);
  },

  'transcripts: an error event, then the end, without [DONE]': async (t, at) => {
    const form = new FormData();
    form.set('model', 'whisper-1');
    form.set('stream', 'true');
    form.set('file', new Blob(['RIFF']), 'a.wav');
    const [event, data = ''] = lastOf(await streamed(t, at, '/v1/audio/transcriptions', form)).split('\n');
    t.equal(event, 'event: error');
    exactly(t, JSON.parse(data.slice('data: '.length)), { error: { code: 408, message: MESSAGE } });
  },

  'native timestamps: an error event, then the end': async (t, at) => {
    const text = await streamed(t, at, '/v1/tts/stream/with-timestamp', { text: 'Hi' });
    t.equal(lastOf(text), `event: error\ndata: ${JSON.stringify({ status: 408, message: MESSAGE })}`);
  },

  'audio and JSON lines have no word for it, and no such limit': async (t, { clock, server }) => {
    const paths = {
      '/v1/tts': { text: 'Hi' },
      '/v1/audio/speech': { model: 'tts-1', input: 'Hi', voice: '' },
      '/compat/elevenlabs/v1/text-to-speech/default/stream': { text: 'Hi' },
      '/compat/elevenlabs/v1/text-to-speech/default/stream/with-timestamps': { text: 'Hi' },
    };
    for (const [path, body] of Object.entries(paths)) {
      const client = new AbortController();
      const response = await fetch(`${server.base}${path}`, {
        method: 'POST',
        headers: { 'xi-api-key': TEST_KEY, ...server.authorization, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: client.signal,
      });
      const reader = response.body!.getReader();
      await reader.read();
      clock.advance(2 * LIMITS.http.connectionMs);
      const state = await Promise.race([
        reader.read().then(
          () => 'ended',
          () => 'broken',
        ),
        fetch(`${server.base}/v1/models`).then((other) => other.text().then(() => 'open')),
      ]);
      t.equal(state, 'open', path);
      client.abort();
    }
  },

  'live synthesis: finish with the reason, then 1001': async (t, { clock, server }) => {
    for (const begins of [false, true]) {
      const client = await new LiveClient(server).opened();
      if (begins) {
        client.start().text('Hi').send({ event: 'flush' });
        await until('audio', () => client.events.length > 0);
      }
      clock.advance(LIMITS.socket.connectionMs);
      await until('it is closed', () => client.closeCode !== undefined);
      exactly(t, client.events.at(-1), { event: 'finish', reason: 'error', message: MESSAGE });
      t.equal(client.closeCode, 1001);
    }
  },

  'protocol A, both kinds of session: an error event, then 1001': async (t, { clock, server }) => {
    for (const query of ['?model=svc/s2-pro', '?intent=transcription']) {
      const client = await new RealtimeClient(server, { query }).opened();
      await client.next('session.created');
      clock.advance(LIMITS.socket.connectionMs);
      t.equal(await client.closed(), 1001, query);
      exactly(t, client.events.at(-1), {
        type: 'error',
        error: { type: 'invalid_request_error', code: 'session_expired', message: MESSAGE },
      });
    }
  },

  'protocol B’s speech sockets: an error frame, then 1001': async (t, { clock, server }) => {
    for (const path of ['stream-input', 'multi-stream-input'] as const) {
      const client = await new SpeechSocketClient(server, {
        path,
        query: { inactivity_timeout: '180' },
      }).opened();
      // A text now and then keeps the socket open.
      for (let left = LIMITS.socket.connectionMs; left > 0; left -= 100_000) {
        client.send({ text: ' ', context_id: 'c' });
        await taken(client);
        t.strictSame(client.errors(), []);
        clock.advance(100_000);
      }
      await until('it is closed', () => client.closed);
      const fault = { message: MESSAGE, error: 'session_time_limit_exceeded', code: 1001 };
      exactly(t, client.frames.at(-1), fault, path);
      exactly(t, client.closed, { code: 1001, reason: MESSAGE });
    }
  },

  'realtime transcription (B): its own error frame, then 1008': async (t, { clock, server }) => {
    const client = new ScribeClient(server.base, '', { 'xi-api-key': TEST_KEY });
    await client.sees('session_started');
    clock.advance(LIMITS.socket.connectionMs);
    exactly(t, await client.closed(), { code: 1008, reason: MESSAGE });
    exactly(t, client.frames.at(-1), { message_type: 'session_time_limit_exceeded', error: MESSAGE });
  },
};

for (const stack of stacks(t.comment)) {
  t.test(`on ${stack}`, async (t) => {
    const clock = new SimulatedClock();
    const server = await startDialects(stack, clock);
    t.teardown(() => server.close());
    for (const [name, ends] of Object.entries(CASES)) t.test(name, (t) => ends(t, { clock, server }));
  });
}
