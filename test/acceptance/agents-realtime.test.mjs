/**
 * The unmodified @openai/agents-realtime, with turn detection off, on a plain WebSocket: a whole session through its
 * RealtimeSession, and every event that the gateway sends against its own schemas.
 */
import { once } from 'node:events';
import { OpenAIRealtimeWebSocket, RealtimeAgent, RealtimeSession } from '@openai/agents-realtime';
import { exactly } from '../../dist/test/fixtures/exactly.js';
import t from '../../dist/test/fixtures/tap.js';
import { sharedGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { until } from '../../dist/test/fixtures/until.js';

const inside = '@openai/agents-realtime/dist/openaiRealtimeEvents.mjs';
const { realtimeServerEventSchema } = await import(new URL(`./node_modules/${inside}`, import.meta.url).href);

const gateway = await sharedGateway(t);

const url = `${gateway.base.replace('http', 'ws')}/compat/v1/realtime?model=svc%2Fs2.1-pro`;
const TEXT = 'Tones carry text, exactly. A second sentence follows.';
const events = [];

/** Connected, and set up. */
async function connect(input = {}) {
  const transport = new OpenAIRealtimeWebSocket({ url });
  const session = new RealtimeSession(new RealtimeAgent({ name: 'speaker' }), {
    transport,
    model: 'svc/s2.1-pro',
    config: {
      audio: { input: { turnDetection: null, transcription: { model: 'svc/transcribe-1' }, ...input } },
    },
  });
  const own = { transport, session, events: [], errors: [], audio: [] };
  transport.on('*', (event) => {
    events.push(event);
    own.events.push(event);
  });
  session.on('error', (error) => own.errors.push(error));
  session.on('audio', ({ data }) => own.audio.push(Buffer.from(data)));
  await session.connect({ apiKey: TEST_KEY, url });
  await until('it is set up', () => own.events.filter(({ type }) => type === 'session.updated').length >= 2);
  return own;
}

const done = ({ events: own }, count) =>
  until(`response ${count}`, () => own.filter(({ type }) => type === 'response.done')[count - 1]);

const contentOf = (item) => item?.content?.[0];

t.test('a RealtimeSession speaks, transcribes, is interrupted, and forgets', async (t) => {
  const own = await connect();
  const { session } = own;
  session.sendMessage(TEXT);
  exactly(t, await done(own, 1), { response: { status: 'completed' } });
  await until('its history has the answer', () => session.history.length === 2);
  exactly(t, session.history, [
    { role: 'user', status: 'completed', content: [{ type: 'input_text', text: TEXT }] },
    { role: 'assistant', status: 'completed', content: [{ type: 'output_audio', transcript: TEXT }] },
  ]);
  const audio = Buffer.concat(own.audio);
  t.ok(audio.length > 48_000);

  const half = audio.length - (audio.length % 4) / 2;
  session.sendAudio(new Uint8Array(audio.subarray(0, half)).buffer);
  session.sendAudio(new Uint8Array(audio.subarray(half)).buffer, { commit: true });
  await until('it has heard', () => contentOf(session.history[2])?.transcript === TEXT);

  session.sendMessage('abcdefghi '.repeat(50_000));
  const before = own.audio.length;
  await until('it speaks', () => own.audio.length > before);
  session.interrupt();
  exactly(t, await done(own, 2), { response: { status: 'cancelled' } });
  await until('it is truncated', () => own.events.some(({ type }) => type === 'conversation.item.truncated'));

  const [first] = session.history;
  session.updateHistory((history) => history.filter(({ itemId }) => itemId !== first.itemId));
  await until('it is gone', () => session.history.every(({ itemId }) => itemId !== first.itemId));
  session.sendMessage('And it speaks again.');
  exactly(t, await done(own, 3), { response: { status: 'completed' } });
  t.strictSame(own.errors, []);
  session.close();
});

t.test('a second response waits for the first, by the SDK’s own sequence', async (t) => {
  const own = await connect();
  own.session.sendMessage(TEXT);
  own.session.sendMessage('Second.');
  exactly(t, await done(own, 2), { response: { status: 'completed' } });
  t.strictSame(own.errors, []);
  own.transport.sendEvent({ type: 'conversation.item.retrieve', item_id: 'nothing', event_id: 'mine' });
  await until('the error is told', () => own.errors.length === 1);
  exactly(t, own.errors[0].error, { error: { code: 'item_not_found', event_id: 'mine' } });
  own.session.close();
});

t.test('turn detection is refused with its code', async (t) => {
  const transport = new OpenAIRealtimeWebSocket({ url });
  const session = new RealtimeSession(new RealtimeAgent({ name: 'speaker' }), {
    transport,
    model: 'svc/s2.1-pro',
  });
  const [error] = await Promise.all([
    once(session, 'error'),
    session.connect({ apiKey: TEST_KEY, url }),
  ]).then(([[error]]) => [error]);
  exactly(t, error, { error: { error: { code: 'unsupported_turn_detection' } } });
  session.close();
});

t.test('every event that was sent fits the SDK’s schemas', async (t) => {
  const types = new Set(events.map(({ type }) => type));
  t.ok(types.size >= 20, [...types].join(' '));
  for (const event of events) {
    const { success, error } = realtimeServerEventSchema.safeParse(event);
    if (!success) t.fail(`${event.type}: ${error.message}`);
  }
  t.notOk(realtimeServerEventSchema.safeParse({ ...events[0], event_id: 7 }).success, 'the schemas can fail');
});
