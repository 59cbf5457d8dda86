/** The spans and metrics of a call's turns (gateway/agents/calls). */
import { trace } from '@opentelemetry/api';
import t from '../../../../fixtures/tap.js';
import type { Turn } from '../../../../../contracts/sessions/turns.js';
import { CallMetrics } from '../../../../../gateway/agents/calls/call-metrics.js';
import { CallTrace } from '../../../../../gateway/agents/calls/call-trace.js';
import { Metrics } from '../../../../../gateway/server/system/metrics.js';
import { notInstalled } from '../../../../../gateway/config/installed.js';
import { exactly } from '../../../../fixtures/exactly.js';
import { TURN } from '../../../../fixtures/calls/turns.js';
import { standIn } from '../../../../fixtures/stand-in.js';

const missing = notInstalled(['@opentelemetry/sdk-trace-base']);
const skip = missing.length > 0 ? `not installed: ${missing.join(', ')}` : false;

t.test(
  'a turn that lacks an end, an answer or a transcript has spans within itself all the same',
  { skip },
  async (t) => {
    const { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } =
      await import('@opentelemetry/sdk-trace-base');
    const exporter = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    trace.setGlobalTracerProvider(provider);
    t.teardown(() => trace.disable());
    const call = new CallTrace('sess_1', 'agent_1', new Date('2026-01-01T11:59:00Z'));
    const unended: Turn = {
      ...TURN,
      requests: [{ askedMs: 900, firstTokenMs: null, endedMs: null }],
      tools: [{ ...TURN.tools[0]!, endedMs: null }],
      ...{ endedMs: 800, playedMs: null, firstAudioMs: null, parts: null, lastTranscriptMs: null },
      ...{ error: 'provider_failed', interrupted: { by: 'words', silenceMs: null, mistaken: false } },
    };
    call.turn(TURN);
    call.turn(unended);
    call.end('hangup', new Date('2026-01-01T12:01:00Z'));
    const spans = exporter.getFinishedSpans();
    t.same(
      spans.map(({ name }) => name),
      ['recognition', 'model', 'tool', 'voice', 'turn', 'model', 'tool', 'turn', 'session'],
    );
    const ms = ([seconds, nanos]: readonly [number, number]): number => seconds * 1000 + nanos / 1e6;
    for (const span of spans.filter(({ name }) => name !== 'session')) {
      const parent = spans.find((each) => each.spanContext().spanId === span.parentSpanContext?.spanId)!;
      t.ok(ms(span.startTime) >= ms(parent.startTime) && ms(span.endTime) <= ms(parent.endTime), span.name);
      t.ok(ms(span.endTime) >= ms(span.startTime), span.name);
    }
    const [whole, failed] = spans.filter(({ name }) => name === 'turn');
    exactly(t, whole!.attributes, { 'speech.latency_ms': 1020, 'speech.latency.model_ms': 94 });
    exactly(t, failed!.attributes, { 'speech.error': 'provider_failed', 'speech.interrupted_by': 'words' });
    t.notMatch(JSON.stringify(spans.map(({ attributes }) => attributes)), /private/);
  },
);

t.test('metrics of turns: latency and its parts, interruptions by cause, false ones', async (t) => {
  const page = new Metrics();
  const calls = new CallMetrics(standIn({ began: () => undefined }));
  calls.turn(TURN);
  calls.addTo(page);
  const interrupted = { by: 'command', silenceMs: 200, mistaken: false } as const;
  calls.turn({ ...TURN, interrupted });
  calls.turn({ ...TURN, cause: 'opener', playedMs: 50 });
  calls.turn({ ...TURN, cause: 'continue', resumed: 0 });
  const text = await page.registry.metrics();
  t.match(text, /gateway_turn_seconds_count 1\n/, 'of what the user waits for, once somebody can look');
  t.match(text, /gateway_turn_seconds_sum 1.02\n/);
  t.match(text, /gateway_turn_part_seconds_sum\{part="endpointing"\} 0.55\n/);
  t.match(text, /gateway_barge_in_seconds_sum 0.2\n/);
  t.match(text, /gateway_interruptions_total\{by="command"\} 1\n/);
  t.match(text, /gateway_false_interruptions_total 4\n/);
  const { drafted, draftsDiscarded } = TURN;
  t.match(text, `gateway_drafts_total{outcome="used"} ${drafted ? 4 : 0}\n`);
  t.match(text, `gateway_drafts_total{outcome="dropped"} ${4 * draftsDiscarded}\n`);
});
