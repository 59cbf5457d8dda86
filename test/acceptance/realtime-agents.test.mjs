/**
 * The unmodified openai SDK and @openai/agents-realtime with an agent as their model: a spoken conversation of several turns, with an
 * interruption and a function of the client, and every event against the clients' own types and schemas.
 */
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import {
  OpenAIRealtimeSIP,
  OpenAIRealtimeWebSocket,
  RealtimeAgent,
  RealtimeSession,
  tool,
} from '@openai/agents-realtime';
import { fileURLToPath } from 'node:url';
import t from '../../dist/test/fixtures/tap.js';
import { messagesOf, Talks } from '../../dist/test/fixtures/conversation/conversation.js';
import { said, toolSaid } from '../../dist/test/fixtures/chat/model.js';
import { exactly } from '../../dist/test/fixtures/exactly.js';
import { EMBEDDED, TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { letGo } from '../../dist/test/fixtures/calls/caller.js';
import { RtcClient } from '../../dist/test/fixtures/protocol-a/rtc-client.js';
import { onEachFrame } from '../../dist/test/fixtures/media/pace.js';
import { until } from '../../dist/test/fixtures/until.js';
import { misfits } from './event-types.mjs';

const inside = '@openai/agents-realtime/dist/openaiRealtimeEvents.mjs';
const { realtimeServerEventSchema } = await import(new URL(`./node_modules/${inside}`, import.meta.url).href);

const file = (name) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
t.teardown(letGo);
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
const tls = { TLS_CERT: file('edge-cert.pem'), TLS_KEY: file('edge-key.pem') };
const talks = await Talks.start(t, { ...EMBEDDED, ...tls, LOG_LEVEL: 'info' });
const { gateway, model } = talks;

const LONG = Array.from({ length: 60 }, () => 'We bake bread and cakes every morning').join(', ');

model.answer((messages) => {
  const result = toolSaid(messages);
  if (result !== undefined) return `It costs ${result}.`;
  const words = said(messages).toLowerCase();
  if (words.includes('price') || words.includes('cost')) return { calls: { price: { of: 'bread' } } };
  // What interrupts an answer that has hardly begun belongs to its question.
  if (words.includes('stop')) return 'I have stopped.';
  return words.includes('bake') ? LONG : 'Good morning.';
});

const RATE = 24_000;
const FRAME = RATE / 50;

/** A microphone that never rests: `send` gets a frame of 20 ms at a time. */
function microphone(send) {
  const frames = [];
  const stop = onEachFrame(() => send(Buffer.from((frames.shift() ?? new Int16Array(FRAME)).buffer)));
  return {
    stop,
    async say(text) {
      const speech = await talks.speech(text);
      for (let from = 0; from < speech.length; from += FRAME) {
        const frame = new Int16Array(FRAME);
        frame.set(speech.subarray(from, from + FRAME));
        frames.push(frame);
      }
    },
  };
}

const agentWith = (config) =>
  talks.agent({
    prompt: { first_message_mode: 'fixed', first_message: 'Hello, this is the bakery.' },
    ...config,
  });

const of = (events, type) => events.filter((event) => event.type === type);
const heard = (events) =>
  of(events, 'response.output_audio_transcript.done').map(({ transcript }) => transcript);

t.test('openai: turns, an interruption, and a function of the client', async (t) => {
  const agentId = await agentWith();
  const openai = new OpenAI({ apiKey: TEST_KEY, baseURL: `${gateway.base}/v1`, maxRetries: 0 });
  const rt = new OpenAIRealtimeWS({ model: agentId, options: { rejectUnauthorized: false } }, openai);
  const events = [];
  const errors = [];
  rt.on('event', (event) => events.push(event));
  rt.on('error', (error) => errors.push(error));
  await until('the session is there', () => of(events, 'session.created')[0]);
  const parameters = { type: 'object', properties: { of: { type: 'string' } } };
  const price = { type: 'function', name: 'price', description: 'The price of a thing', parameters };
  rt.send({ type: 'session.update', session: { type: 'realtime', tools: [price] } });
  rt.on('response.function_call_arguments.done', ({ call_id, arguments: args }) => {
    t.same(JSON.parse(args), { of: 'bread' });
    rt.send({
      type: 'conversation.item.create',
      item: { type: 'function_call_output', call_id, output: 'two euros' },
    });
    rt.send({ type: 'response.create' });
  });
  // What every player does, with what it has played.
  rt.on('input_audio_buffer.speech_started', () => {
    const item = of(events, 'response.output_item.added').at(-1)?.item;
    const isOver = of(events, 'response.output_item.done').some((each) => each.item.id === item?.id);
    if (item?.role !== 'assistant' || isOver) return;
    const bytes = of(events, 'response.output_audio.delta')
      .filter(({ item_id: id }) => id === item.id)
      .reduce((sum, { delta }) => sum + Buffer.from(delta, 'base64').length, 0);
    rt.send({
      type: 'conversation.item.truncate',
      item_id: item.id,
      content_index: 0,
      audio_end_ms: Math.max(0, Math.round(bytes / 48) - 300),
    });
  });
  const { say, stop } = microphone((frame) =>
    rt.send({ type: 'input_audio_buffer.append', audio: frame.toString('base64') }),
  );
  t.teardown(stop);
  await until('it greets', () => heard(events).includes('Hello, this is the bakery.'));
  await say('Good morning to you.');
  await until('it answers', () => heard(events).includes('Good morning.'));
  await say('What is the price of the bread?');
  await until('it knows the price', () => heard(events).includes('It costs two euros.'));
  await say('What do you bake in the morning?');
  await until('it tells at length', () => of(events, 'response.output_audio_transcript.delta').length > 12);
  await say('Please stop now.');
  await until('it is interrupted', () =>
    of(events, 'response.done').some(({ response }) => response.status === 'cancelled'),
  );
  await until('it has stopped', () => heard(events).includes('I have stopped.'));
  await until('the player was believed', () => of(events, 'conversation.item.truncated')[0]);
  stop();
  rt.close();
  t.strictSame(errors, []);
  const id = of(events, 'session.created')[0].session.id;
  const record = await talks.ended({ session_id: id });
  exactly(t, record, { ended_reason: 'hangup', status: 'completed' });
  const told = messagesOf(record).filter((line) => line.startsWith('assistant: '));
  t.equal(told[0], 'assistant: Hello, this is the bakery.');
  const cut = told.find((line) => line.includes('We bake'))?.replace('assistant: ', '') ?? '';
  t.ok(cut !== '' && LONG.startsWith(cut) && cut.length < LONG.length, cut);
  const byType = new Map(events.map((event) => [event.type, event]));
  t.ok(byType.size >= 22, [...byType.keys()].join(' '));
  const types = { type: 'RealtimeServerEvent', from: 'openai/resources/realtime/realtime' };
  t.strictSame(misfits([...byType.values()], types), []);
});

t.test('@openai/agents-realtime, with its defaults: turns, a tool, an interruption', async (t) => {
  const agentId = await agentWith();
  const url = `${gateway.base.replace('http', 'ws')}/v1/realtime?model=${agentId}`;
  const transport = new OpenAIRealtimeWebSocket({ url });
  const price = tool({
    name: 'price',
    description: 'The price of a thing',
    parameters: {
      type: 'object',
      properties: { of: { type: 'string' } },
      required: ['of'],
      additionalProperties: false,
    },
    execute: async () => 'two euros',
  });
  const session = new RealtimeSession(new RealtimeAgent({ name: 'client', tools: [price] }), { transport });
  const events = [];
  const errors = [];
  let interrupted = 0;
  transport.on('*', (event) => events.push(event));
  session.on('error', (error) => errors.push(error));
  session.on('audio_interrupted', () => (interrupted += 1));
  await session.connect({ apiKey: TEST_KEY, url });
  const { say, stop } = microphone((frame) =>
    session.sendAudio(frame.buffer.slice(frame.byteOffset, frame.byteOffset + frame.byteLength)),
  );
  t.teardown(stop);
  await until('it greets', () => heard(events).includes('Hello, this is the bakery.'));
  await say('What is the price of the bread?');
  await until('it knows the price', () => heard(events).includes('It costs two euros.'));
  await say('What do you bake in the morning?');
  await until('it tells at length', () => of(events, 'response.output_audio_transcript.delta').length > 12);
  const before = interrupted;
  await say('Please stop now.');
  await until('it has stopped', () => heard(events).includes('I have stopped.'));
  t.ok(interrupted > before, 'the player was told');
  session.sendMessage('Good morning.');
  await until('a typed line is answered', () => heard(events).includes('Good morning.'));
  await until('its history is whole', () =>
    session.history.some(({ role, content }) => role === 'user' && content?.[0]?.text === 'Good morning.'),
  );
  stop();
  session.close();
  t.strictSame(errors, []);
  exactly(t, await talks.ended({ session_id: of(events, 'session.created')[0].session.id }), {
    ended_reason: 'hangup',
  });
  for (const event of events) {
    const { success, error } = realtimeServerEventSchema.safeParse(event);
    if (!success) t.fail(`${event.type}: ${error.message}`);
  }
});

/** A browser's call, which speaks with the engines of the gateway; its id. */
async function browser(agentId) {
  const client = new RtcClient();
  t.teardown(() => client.close());
  const response = await client.call(gateway, { query: `?model=${agentId}` });
  t.equal(response.status, 201);
  return { client, callId: response.headers.get('location').split('/').at(-1) };
}

t.test('openai: a server watches the call of a browser, steers it, and hangs up', async (t) => {
  const { client, callId } = await browser(await agentWith());
  const openai = new OpenAI({ apiKey: TEST_KEY, baseURL: `${gateway.base}/v1`, maxRetries: 0 });
  const rt = new OpenAIRealtimeWS({ callID: callId, options: { rejectUnauthorized: false } }, openai);
  const events = [];
  const errors = [];
  const closed = new Promise((resolve) => rt.socket.on('close', resolve));
  rt.on('event', (event) => events.push(event));
  rt.on('error', (error) => errors.push(error));
  const parameters = { type: 'object', properties: { of: { type: 'string' } } };
  await until('the session is there', () => of(events, 'session.created')[0]);
  const price = { type: 'function', name: 'price', description: 'The price of a thing', parameters };
  rt.send({ type: 'session.update', session: { type: 'realtime', tools: [price] } });
  rt.on('response.function_call_arguments.done', ({ call_id }) =>
    rt.send({
      type: 'conversation.item.create',
      item: { type: 'function_call_output', call_id, output: 'two euros' },
    }),
  );
  client.listen();
  await until('it greets', () => heard(events).includes('Hello, this is the bakery.'));
  const content = [{ type: 'input_text', text: 'What is the price of the bread?' }];
  rt.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
  rt.send({ type: 'response.create' });
  await client.untilHeard('It costs two euros.');
  t.same(of(events, 'response.output_audio.delta'), [], 'no audio');
  await openai.realtime.calls.hangup(callId);
  t.equal(await closed, 1000);
  t.strictSame(errors, []);
  exactly(t, await talks.ended({ session_id: callId }), { ended_reason: 'ended_by_api' });
  const byType = new Map(events.map((event) => [event.type, event]));
  const types = { type: 'RealtimeServerEvent', from: 'openai/resources/realtime/realtime' };
  t.strictSame(misfits([...byType.values()], types), []);
});

t.test('@openai/agents-realtime: an agent of a server joins the call of a browser', async (t) => {
  const { client, callId } = await browser(await agentWith());
  const price = tool({
    name: 'price',
    description: 'The price of a thing',
    parameters: {
      type: 'object',
      properties: { of: { type: 'string' } },
      required: ['of'],
      additionalProperties: false,
    },
    execute: async () => 'two euros',
  });
  const transport = new OpenAIRealtimeSIP();
  const session = new RealtimeSession(new RealtimeAgent({ name: 'server', tools: [price] }), { transport });
  const errors = [];
  session.on('error', (error) => errors.push(error));
  const url = `${gateway.base.replace('http', 'ws')}/v1/realtime?call_id=${callId}`;
  await session.connect({ apiKey: TEST_KEY, url, callId });
  client.listen();
  await client.untilHeard('Hello, this is the bakery.');
  session.sendMessage('What is the price of the bread?');
  await client.untilHeard('It costs two euros.');
  await until('its history is whole', () => session.history.length >= 3);
  session.close();
  client.close();
  t.strictSame(errors, []);
  exactly(t, await talks.ended({ session_id: callId }), { ended_reason: 'hangup' });
});
