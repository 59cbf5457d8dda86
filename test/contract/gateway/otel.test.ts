/**
 * Spans to a collector, if OTEL_EXPORTER_OTLP_ENDPOINT names one (docs/contract/native.md 6): a real OTLP receiver gets the
 * spans of a whole gateway, and trace context is passed on to remote engines.
 */
import { readFile } from 'node:fs/promises';
import { CHECKOUT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';
import { notInstalled } from '../../../gateway/config/installed.js';
import { exactly } from '../../fixtures/exactly.js';
import { startGateway, TEST_KEY } from '../../fixtures/gateway.js';
import { LiveClient } from '../../fixtures/native/live.js';
import { attributesOf, fields, nameOf, receiver, spansIn } from '../../fixtures/otlp.js';
import { until } from '../../fixtures/until.js';

const SPEECH = new URL('test/fixtures/codecs/tone.wav', CHECKOUT);
const TEXT = 'wombats never tell';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

const speakWith = async (base: string, headers: Record<string, string>): Promise<string | null> => {
  const response = await fetch(`${base}/v1/tts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ text: TEXT, format: 'pcm', sample_rate: 16_000 }),
  });
  await response.arrayBuffer();
  return response.headers.get('x-generation-id');
};

const missing = notInstalled(['@opentelemetry/sdk-trace-base', '@opentelemetry/exporter-trace-otlp-proto']);
const skip = missing.length > 0 ? `not installed: ${missing.join(', ')}` : false;

t.test('each request is one span at the collector, without its text and its key', { skip }, async (t) => {
  const collector = await receiver(t, Buffer.alloc(0));
  const gateway = await startGateway({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
    OTEL_BSP_SCHEDULE_DELAY: '50',
  });
  t.teardown(() => gateway.stop());
  const ids = [
    await speakWith(gateway.base, { traceparent: `00-${TRACE}-${PARENT}-01` }),
    await speakWith(gateway.base, {}),
  ];
  const live = await new LiveClient(gateway).opened();
  live.start().text(TEXT).stop();
  await live.finished();
  live.stop();
  await live.closed();
  const spans = () => collector.asked.flatMap(spansIn);
  await until('three spans have come', () => spans().length >= 3);
  t.equal(spans().length, 3, 'one a request');
  t.ok(collector.asked.every(({ url, type }) => url === '/v1/traces' && type === 'application/x-protobuf'));
  const [continued, begun, socket] = spans();
  t.strictSame([continued!, begun!, socket!].map(nameOf), [
    'POST /v1/tts',
    'POST /v1/tts',
    'GET /v1/tts/live',
  ]);
  t.equal(fields(continued!, 1)[0]?.toString('hex'), TRACE);
  t.equal(fields(continued!, 4)[0]?.toString('hex'), PARENT);
  t.not(fields(begun!, 1)[0]?.toString('hex'), TRACE);
  exactly(t, attributesOf(continued!), {
    'speech.generation_id': ids[0],
    'speech.engine': 'tone',
    'http.route': '/v1/tts',
  });
  t.equal(attributesOf(socket!)['speech.engine'], 'tone');
  const sent = Buffer.concat(collector.asked.map(({ body }) => body)).toString('latin1');
  t.match(sent, /speech-gateway[^]*deployment\.environment/);
  t.notMatch(sent, new RegExp(`${TEXT}|wombat|${TEST_KEY}`));
});

/** Settings with an unreachable collector. */
const NOBODY = skip ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };

// Without a collector, and to native-compatible remotes: trace-context.test.ts.
t.test('trace context is passed on to remotes, though no collector is there', async (t) => {
  const remote = await receiver(t, Buffer.alloc(3200, 1));
  const gateway = await startGateway({
    TTS_ENGINES: 'openai-compatible',
    STT_ENGINES: 'openai-compatible',
    REMOTE_OPENAI_URL: remote.url,
    REMOTE_OPENAI_RATE: '16000',
    ...NOBODY,
  });
  t.teardown(() => gateway.stop());
  await speakWith(gateway.base, { traceparent: `00-${TRACE}-${PARENT}-01` });
  await speakWith(gateway.base, {});
  await speakWith(gateway.base, { traceparent: 'nonsense' });
  const [continued, begun, again] = remote.asked.map(({ traceparent }) => traceparent);
  t.match(continued, new RegExp(`^00-${TRACE}-[\\da-f]{16}-01$`));
  for (const fresh of [begun, again]) {
    t.match(fresh, /^00-[\da-f]{32}-[\da-f]{16}-\d\d$/);
    t.notMatch(fresh, TRACE);
  }
  t.not(begun, again);
  const form = new FormData();
  form.append('audio', new Blob([await readFile(SPEECH)]), 'tone.wav');
  await fetch(`${gateway.base}/v1/asr`, {
    method: 'POST',
    headers: { ...gateway.authorization, traceparent: `00-${TRACE}-${PARENT}-01` },
    body: form,
  });
  exactly(t, remote.asked.at(-1), { url: /transcriptions/, traceparent: new RegExp(`^00-${TRACE}-`) });
  const line = await until('its line is there', () => /.*"outcome":"done".*/.exec(gateway.stderr())?.[0]);
  exactly(t, JSON.parse(line), { engine: 'openai-compatible' });
  await t.test(
    'a collector that is not there changes nothing, and does not hold the end up',
    { skip },
    async (t) => {
      await gateway.stop();
      t.equal(await gateway.exited, 0);
    },
  );
});
