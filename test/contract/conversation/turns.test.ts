/**
 * The explanation of a call's turn in the record, the client's event, the trace, the metrics and the post-call event; its
 * words are in the record only (docs/contract/platform.md 6.7 to 6.9).
 */
import t from '../../fixtures/tap.js';
import { notInstalled } from '../../../gateway/config/installed.js';
import { Caller, letGo } from '../../fixtures/calls/caller.js';
import { Talks } from '../../fixtures/conversation/conversation.js';
import { exactly } from '../../fixtures/exactly.js';
import { said, toolSaid } from '../../fixtures/chat/model.js';
import { attributesOf, linksOf, nameOf, receiver, spansIn, timesOf } from '../../fixtures/otlp.js';
import { startReceiver } from '../../fixtures/platform/receiver.js';
import { until } from '../../fixtures/until.js';

t.teardown(letGo);
const PRICES = {
  ...{ currency: 'EUR', input_tokens: 1e6, characters: 1000, call_minute: 60 },
  models: { default: { output_tokens: 2e6 } },
};
const WORDS = 'wombats or weather';
const isTraced = notInstalled(['@opentelemetry/sdk-trace-base', '@opentelemetry/exporter-trace-otlp-proto']);
const collector = await receiver(t, Buffer.alloc(0));
const hook = await startReceiver(t);
const tool = await startReceiver(t, (_, response) => response.end('sunny'));
const talks = await Talks.start(t, {
  OUTBOUND_ALLOW: [hook, tool].map(({ url }) => new URL(url).host).join(','),
  PRICES: JSON.stringify(PRICES),
  LOG_LEVEL: 'info',
  OTEL_BSP_SCHEDULE_DELAY: '50',
  ...(isTraced.length === 0 && { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }),
});
const { model, call } = talks;
model.countsTokens = false;

const { body: made } = await call('tools', {
  body: { name: 'Weather', description: 'Tells the weather', url: tool.url, method: 'GET', arguments: [] },
});
const agent = await talks.agent({
  tools: { tool_ids: [made['tool_id']] },
  webhooks: { post_call: [{ url: hook.url }] },
});
model.answer((messages) =>
  said(messages).includes('wombats') && toolSaid(messages) === undefined
    ? { calls: { Weather: {} } }
    : 'It is sunny there.',
);
const invite = await talks.session(agent);
const caller = await Caller.join(invite);
await talks.tell({ invite, caller, record: () => talks.record(invite) }, WORDS, { heard: /wombats/ });
const completed = await until('the turn is told', () =>
  caller.events.find((event) => event['type'] === 'turn.completed' && event['cause'] === 'turn'),
);
caller.hangUp();
const record = await talks.ended(invite);
const turn = record.turns.find(({ words }) => words.includes('wombats'))!;
const secret = /wombats|sunny/;

t.test('the record has the turn, whose parts add up to its latency', async (t) => {
  exactly(t, turn, {
    cause: 'turn',
    end_of_turn: { completeness: String, delay_ms: Number },
    tools: [{ tool_name: 'Weather', failed: false }],
    model_requests: [{}, {}],
    ...{ complete: true, interrupted: null, error: null },
  });
  const parts = Object.values(turn.latency!);
  t.equal(
    parts.reduce((sum, ms) => sum + ms, 0),
    turn.latency_ms,
  );
  t.ok(parts.every((ms) => ms >= 0));
});

t.test('its client gets an event about it without words', async (t) => {
  exactly(t, completed, { latencyMs: turn.latency_ms, interruptedBy: null, latency: {} });
  t.notMatch(JSON.stringify(completed), secret);
});

t.test('usage is the sum over the turns, and the cost that of the prices', async (t) => {
  const tokens = record.turns.reduce((sum, { usage }) => sum + Number(usage['input_tokens']), 0);
  const { usage, cost } = record;
  t.ok(tokens > 0);
  exactly(t, usage, { input_tokens: tokens, tokens_estimated: true, call_seconds: Number });
  t.ok(Number(usage['characters']) >= 'It is sunny there.'.length);
  t.ok(Number(usage['recognised_seconds']) > 0);
  const written = record.turns.reduce((sum, { usage }) => sum + Number(usage['output_tokens']), 0);
  const models = [{ model: 'default', input_tokens: tokens, output_tokens: written }];
  t.strictSame(usage['models'], models, 'the record says which model answered');
  t.strictSame(turn.usage['models'], [
    { ...models[0], input_tokens: turn.usage['input_tokens'], output_tokens: turn.usage['output_tokens'] },
  ]);
  exactly(t, cost, {
    currency: 'EUR',
    input_tokens: tokens,
    output_tokens: 2 * written,
    characters: usage['characters']!,
    call_minute: usage['call_seconds']!,
    total: tokens + 2 * written + Number(usage['characters']) + Number(usage['call_seconds']),
  });
});

t.test('post-call events have turns, usage and cost, and no words', async (t) => {
  await until('both events have come', () => hook.seen.length >= 2);
  for (const { body } of hook.seen) {
    exactly(t, JSON.parse(body), {
      turns_total: record.turns.length,
      turns: [{ latency_ms: record.turns[0]!.latency_ms }],
      ...{ usage: record.usage, cost: record.cost },
    });
    t.notMatch(body, secret);
  }
});

t.test('the metrics count it; neither they nor the log have words', async (t) => {
  const metrics = await (await fetch(`${talks.gateway.base}/metrics`)).text();
  t.match(metrics, /gateway_turn_seconds_count [1-9]/);
  t.match(metrics, /gateway_turn_part_seconds_count\{part="model"\} [1-9]/);
  t.notMatch(metrics, secret);
  t.match(talks.gateway.stderr(), /call ended/);
  t.notMatch(talks.gateway.stderr(), secret);
});

const skip = isTraced.length > 0 ? `not installed: ${isTraced.join(', ')}` : false;
t.test('the trace: session > turn > recognition, model, tool, voice, without words', { skip }, async (t) => {
  const spans = () => collector.asked.flatMap(spansIn);
  await until('the session has ended', () => spans().some((span) => nameOf(span) === 'session'));
  const named = (name: string) => spans().filter((span) => nameOf(span) === name);
  const [session] = named('session');
  t.equal(attributesOf(session!)['speech.session_id'], invite.session_id);
  const turns = named('turn');
  t.equal(turns.length, record.turns.length);
  const isWithin = (inner: Buffer, outer: Buffer): boolean =>
    timesOf(inner)[0]! >= timesOf(outer)[0]! && timesOf(inner)[1]! <= timesOf(outer)[1]!;
  for (const span of turns) t.equal(linksOf(span).parent, linksOf(session!).id);
  for (const name of ['recognition', 'model', 'tool', 'voice']) {
    t.ok(named(name).length > 0, name);
    for (const span of named(name)) {
      const parent = turns.find((each) => linksOf(each).id === linksOf(span).parent);
      t.ok(parent && isWithin(span, parent), `${name} is within its turn`);
    }
  }
  const sent = Buffer.concat(collector.asked.map(({ body }) => body)).toString('latin1');
  t.notMatch(sent, secret);
});
