/**
 * The unmodified openai SDK on the realtime socket over TLS, by both of its classes, and every event that the gateway
 * sends against the SDK's own types.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { exactly } from '../../dist/test/fixtures/exactly.js';
import t from '../../dist/test/fixtures/tap.js';
import { startGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { misfits } from './event-types.mjs';
import { EXPECTED, wholeSession } from './realtime-session.mjs';

const file = (name) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const CERTIFICATE = file('edge-cert.pem');

// The fixture asks the gateway whether it is ready, over TLS too.
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
const gateway = await startGateway({ TLS_CERT: CERTIFICATE, TLS_KEY: file('edge-key.pem') });
t.teardown(() => gateway.stop());

const baseURL = `${gateway.base}/compat/v1`;
const connect = (model, apiKey = TEST_KEY) =>
  new OpenAIRealtimeWS(
    { model, options: { rejectUnauthorized: false } },
    new OpenAI({ apiKey, baseURL, maxRetries: 0 }),
  );

const seen = [];

t.test('openai/realtime/ws holds a whole session', async (t) => {
  const { outcome, events } = await wholeSession(connect('svc/s2.1-pro'));
  t.strictSame(outcome, EXPECTED);
  seen.push(...events);
});

t.test('openai/realtime/websocket, on the platform’s own WebSocket, does too', async (t) => {
  const script = fileURLToPath(new URL('./realtime-session.mjs', import.meta.url));
  const flags = globalThis.WebSocket ? [] : ['--experimental-websocket'];
  const env = { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: '1', NODE_EXTRA_CA_CERTS: CERTIFICATE };
  const child = spawn(process.execPath, [...flags, script, baseURL, TEST_KEY], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (chunk) => (printed += chunk));
  t.strictSame(await once(child, 'exit'), [0, null]);
  t.strictSame(JSON.parse(printed), { outcome: EXPECTED, protocol: 'realtime' });
});

t.test('a transcription session is opened by the name of its model', async (t) => {
  const rt = connect('whisper-1');
  const created = await new Promise((resolve) => rt.on('session.created', resolve));
  exactly(t, created.session, {
    type: 'transcription',
    audio: { input: { transcription: { model: 'whisper-1' } } },
  });
  seen.push({ ...created, type: 'session.created' });
  rt.close();
});

t.test('a wrong key refuses the connection', async (t) => {
  const error = await new Promise((resolve) => connect('tts-1', 'wrong').on('error', resolve));
  t.match(error.message, /401/);
});

t.test('one of each event fits the SDK’s types', async (t) => {
  const byType = new Map();
  // The first of each: that of an item with text, since the types know no transcript that is still to come.
  for (const event of seen) if (!byType.has(event.type)) byType.set(event.type, event);
  const samples = [...byType.values(), ...seen.filter(({ session }) => session?.type === 'transcription')];
  const types = { type: 'RealtimeServerEvent', from: 'openai/resources/realtime/realtime' };
  t.ok(samples.length >= 24, [...byType.keys()].join(' '));
  t.strictSame(misfits(samples, types), []);
  const wrong = samples.map((event) => ({ ...event, event_id: 7 }));
  const found = misfits(wrong, types);
  for (const { type } of wrong)
    t.ok(
      found.some((line) => line.startsWith(`${type}: `)),
      `${type} can fail`,
    );
});
