/** Deliveries without a database: how long to wait after an attempt, what the log says of one, and what its receiver is told to be. */
import t from '../../../../fixtures/tap.js';
import { systemClock } from '../../../../../contracts/clock.js';
import { LIMITS } from '../../../../../contracts/limits.js';
import { OutboundError, type OutboundReply } from '../../../../../contracts/ports/outbound.js';
import type {
  Delivery,
  DeliveryOutcome,
  DeliveryQueue,
  WebhookAnswer,
} from '../../../../../contracts/ports/sessions/deliveries.js';
import { defaultVocabulary } from '../../../../../contracts/vocabulary.js';
import { deliver } from '../../../../../gateway/agents/deliveries/deliver.js';
import { startDeliveries } from '../../../../../gateway/agents/deliveries/loop.js';
import { retryAfterMs } from '../../../../../gateway/agents/deliveries/retry-after.js';
import { outcomeOf } from '../../../../../gateway/wiring/delivery-metrics.js';
import { exactly } from '../../../../fixtures/exactly.js';
import { until } from '../../../../fixtures/until.js';

const delivery: Delivery = {
  ...{ id: '7', workspaceId: 'ws_1', sessionId: 'sess_1', agentId: 'agent_1', event: 'call.ended' },
  ...{ eventId: 'evt_1', url: 'https://hooks.example/secret?token=x', body: '{}', attempts: 2, steps: 2 },
  ...{ early: false, redelivery: false, signed: false },
};

const reply = (status: number, headers: OutboundReply['headers'] = {}): OutboundReply => ({
  ...{ status, headers, body: new Uint8Array(), truncated: false, latencyMs: 1 },
});

const partsFor = (answer: () => OutboundReply, random = 0) => ({
  outbound: { fetch: async () => answer() },
  secrets: { secretOf: async () => undefined },
  ...{ vocabulary: defaultVocabulary, clock: systemClock, random: () => random },
});

const outcome = async (status: number, more: Partial<Delivery> = {}, random = 0): Promise<DeliveryOutcome> =>
  (
    await deliver(
      { ...delivery, ...more },
      partsFor(() => reply(status), random),
    )
  ).outcome;

t.test('the pause after an attempt is that of the plan, and up to a tenth longer', async (t) => {
  const { retryMs } = LIMITS.postCallWebhook;
  for (const [steps, ms] of retryMs.entries()) {
    t.strictSame(await outcome(500, { steps }), { kind: 'again', afterMs: ms });
    t.strictSame(await outcome(500, { steps }, 0.5), { kind: 'again', afterMs: Math.round(ms * 1.05) });
  }
  t.strictSame(await outcome(500, { steps: retryMs.length }), { kind: 'failed' });
  t.strictSame(await outcome(204), { kind: 'delivered' });
});

t.test('410 is for good, a redelivery has one attempt, and an early one keeps its time', async (t) => {
  t.strictSame(await outcome(410), { kind: 'failed' });
  t.strictSame(await outcome(410, { early: true }), { kind: 'failed' });
  t.strictSame(await outcome(500, { redelivery: true }), { kind: 'failed' });
  t.strictSame(await outcome(500, { early: true }), { kind: 'early' });
});

t.test('a receiver may ask for a longer pause, in seconds or until a date, with 429 and 503', async (t) => {
  const now = Date.parse('2026-01-01T12:00:00Z');
  t.equal(retryAfterMs(503, '120', now), 120_000);
  t.equal(retryAfterMs(429, 'Thu, 01 Jan 2026 12:00:30 GMT', now), 30_000);
  t.equal(retryAfterMs(503, '86400', now), LIMITS.postCallWebhook.retryAfterMs);
  for (const header of [undefined, '', '-5', 'soon', 'Thu, 01 Jan 2026 11:00:00 GMT'])
    t.equal(retryAfterMs(503, header, now), 0, String(header));
  t.equal(retryAfterMs(500, '120', now), 0);
  const asked = await deliver(
    delivery,
    partsFor(() => reply(429, { 'retry-after': '60' })),
  );
  t.strictSame(asked.outcome, { kind: 'again', afterMs: 60_000 });
});

t.test('what came of asking a receiver', async (t) => {
  const answer = (more: Partial<WebhookAnswer>): WebhookAnswer => ({
    durationMs: 1,
    statusCode: null,
    error: null,
    ...more,
  });
  const statuses = {
    204: 'ok',
    302: 'wrong_address',
    401: 'refused_key',
    404: 'wrong_address',
    410: 'wrong_address',
    422: 'refused',
    429: 'limited',
    500: 'failed',
  };
  for (const [status, expected] of Object.entries(statuses))
    t.equal(outcomeOf(answer({ statusCode: Number(status) })), expected, status);
  const errors = {
    refused: 'wrong_address',
    unresolved: 'unreachable',
    timeout: 'timeout',
    internal: 'failed',
  } as const;
  for (const [error, expected] of Object.entries(errors))
    t.equal(outcomeOf(answer({ error: error as keyof typeof errors })), expected, error);
});

t.test(
  'a failed attempt has one line in the log, with everybody concerned and no path; the last one another',
  async (t) => {
    const lines: [object, string][] = [];
    const line = (fields: object, message: string): void => void lines.push([fields, message]);
    const waiting = [delivery, { ...delivery, steps: 8 }];
    const queue: DeliveryQueue = {
      take: async (most) => waiting.splice(0, most),
      settle: async () => undefined,
      giveUp: async () => [],
      redeliver: async () => false,
      backlog: async () => ({ waiting: 0, oldestSeconds: 0, failingReceivers: 0 }),
      onDue: async () => () => undefined,
    };
    const failing = (): never => {
      throw new OutboundError('unreachable', 'The address could not be reached');
    };
    const loop = await startDeliveries({
      ...partsFor(failing),
      queue,
      log: { debug: line, info: line, warn: line, error: line },
    });
    t.teardown(() => loop.stop());
    await until('both are told', () => lines.length >= 2);
    const whom = {
      event: 'call.ended',
      eventId: 'evt_1',
      receiver: 'https://hooks.example',
      workspace: 'ws_1',
      session: 'sess_1',
      agent: 'agent_1',
      attempt: 3,
      error: 'unreachable',
    };
    const ordered = lines.toSorted(([, a], [, b]) => b.localeCompare(a));
    exactly(t, ordered, [
      [{ ...whom, nextAttemptAt: /^\d{4}-/ }, 'a post-call event was not taken'],
      [whom, 'a post-call event is given up'],
    ]);
    t.notMatch(
      JSON.stringify(lines.map(([{ ...fields }]) => ({ ...fields, err: undefined }))),
      /token|secret/,
    );
  },
);
