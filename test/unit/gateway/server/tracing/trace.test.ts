/** Trace context: traces that are continued, traces that start anew, and contents of spans (docs/contract/native.md 6). */
import {
  type Context,
  isSpanContextValid,
  type Span,
  type SpanOptions,
  SpanStatusCode,
  trace,
  type TracerProvider,
} from '@opentelemetry/api';
import t from '../../../../fixtures/tap.js';
import { ServiceError } from '../../../../../contracts/errors.js';
import type { HttpRequest, Reply } from '../../../../../gateway/server/port.js';
import { parseTraceparent } from '../../../../../gateway/server/tracing/trace.js';
import { traced } from '../../../../../gateway/server/tracing/trace-requests.js';
import { parseTracestate } from '../../../../../gateway/server/tracing/trace-state.js';
import { SimulatedClock } from '../../../../fixtures/clock.js';
import { exactly, rejectsExactly } from '../../../../fixtures/exactly.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const VALID = `00-${TRACE}-${PARENT}-01`;

t.test('a traceparent is taken if it is valid by W3C, and else ignored', async (t) => {
  exactly(t, parseTraceparent(VALID), { traceId: TRACE, spanId: PARENT, traceFlags: 1, isRemote: true });
  exactly(t, parseTraceparent(`00-${TRACE}-${PARENT}-00`), { traceFlags: 0 });
  exactly(t, parseTraceparent(`01-${TRACE}-${PARENT}-01-what-comes-later`), { traceId: TRACE });
  const invalid = [
    undefined,
    '',
    'nonsense',
    `${VALID}-more`,
    `ff-${TRACE}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    VALID.toUpperCase(),
    VALID.slice(1),
    ` ${VALID}`,
    `${VALID}, ${VALID}`,
    `00-${TRACE}-${PARENT}-1`,
    `00-${TRACE}-${PARENT}-01\n`,
  ];
  for (const header of invalid) t.equal(parseTraceparent(header), undefined, JSON.stringify(header));
});

interface Recorded {
  readonly name: string;
  readonly parent: string | undefined;
  readonly attributes: Record<string, unknown>;
  status: number | undefined;
  ends: number;
}

/** Installs a tracer that records spans, as an SDK would; the rest of the API is the real one. */
function record(): Recorded[] {
  const spans: Recorded[] = [];
  const startSpan = (name: string, options: SpanOptions = {}, context?: Context): Span => {
    const parent = context && trace.getSpanContext(context);
    const span: Recorded = {
      name,
      parent: parent?.spanId,
      attributes: { ...options.attributes },
      status: undefined,
      ends: 0,
    };
    spans.push(span);
    const traceId = parent?.traceId ?? String(spans.length).padStart(32, 'a');
    return {
      ...trace.wrapSpanContext({ traceId, spanId: 'b'.repeat(16), traceFlags: 1 }),
      spanContext: () => ({ traceId, spanId: 'b'.repeat(16), traceFlags: 1 }),
      setAttribute(key: string, value: unknown) {
        span.attributes[key] = value;
        return this;
      },
      setStatus({ code }: { code: number }) {
        span.status = code;
        return this;
      },
      end: () => void (span.ends += 1),
    } as unknown as Span;
  };
  const provider = { getTracer: () => ({ startSpan }) } as unknown as TracerProvider;
  trace.setGlobalTracerProvider(provider);
  return spans;
}

const requestWith = (traceparent?: string, signal = new AbortController().signal): HttpRequest =>
  ({
    signal,
    generationId: 'gen-1',
    facts: {},
    method: 'POST',
    headers: new Map([
      ['authorization', 'Bearer secret-key'],
      ...(traceparent === undefined ? [] : [['traceparent', traceparent] as const]),
    ]),
  }) as unknown as HttpRequest;

function observers() {
  const lines: Record<string, unknown>[] = [];
  const line = (fields: object): void => void lines.push({ ...fields });
  return {
    lines,
    observers: { clock: new SimulatedClock(), log: { debug: line, info: line, warn: line, error: line } },
  };
}

async function* chunks(...items: (string | Error)[]): AsyncGenerator<string> {
  for (const item of items) {
    if (item instanceof Error) throw item;
    yield item;
  }
}

const drain = async ({ body }: Reply): Promise<void> => {
  for await (const chunk of body as AsyncIterable<string>) void chunk;
};

t.test('a tracestate of any bytes is read in linear time', async (t) => {
  const cost = (blanks: number): number => {
    const begin = process.cpuUsage();
    t.equal(parseTracestate(`foo=1${' \t'.repeat(blanks / 2)}2`), undefined);
    const { user, system } = process.cpuUsage(begin);
    return user + system;
  };
  const SIZE = 128 * 1024;
  const eighth = Math.min(...[1, 2, 3].map(() => cost(SIZE / 8)));
  // Eight times the text; in quadratic time it would take sixty-four times as long. The sum is for noise.
  t.ok(cost(SIZE) < 30 * eighth + 200_000);
});

t.test('the context that is passed on names the trace that is logged', async (t) => {
  const { lines, observers: around } = observers();
  const passed: string[] = [];
  const handler = traced('/v1/x', around, async (_request, { context }) => {
    passed.push(context.traceparent);
    return { status: 200, body: '' };
  });
  for (const header of [VALID, undefined, 'nonsense']) await handler(requestWith(header));
  t.strictSame(
    passed.map((header) => parseTraceparent(header)?.traceId),
    lines.map(({ traceId }) => traceId),
  );
  t.match(passed[0], new RegExp(`^00-${TRACE}-.{16}-01$`), 'with its flags');
});

t.test('without an SDK a valid trace is continued in the log, any other starts anew', async (t) => {
  const { lines, observers: around } = observers();
  const handler = traced('/v1/x', around, async () => ({ status: 200, body: '' }));
  for (const header of [VALID, undefined, 'nonsense', undefined]) await handler(requestWith(header));
  const [first, ...others] = lines.map(({ traceId }) => String(traceId));
  t.equal(first, TRACE);
  t.ok(others.every((id) => isSpanContextValid({ traceId: id, spanId: PARENT, traceFlags: 0 })));
  t.equal(new Set([first, ...others]).size, 4);
});

t.test(
  'spans and log lines: each ends once, with route, status and model, and nothing private',
  async (t) => {
    const spans = record();
    t.teardown(() => trace.disable());
    const { lines, observers: around } = observers();
    const route = (answer: () => Promise<Reply>) =>
      traced('/v1/x', around, async (_request, observation) => {
        observation.model('s1');
        observation.engine('tone');
        return answer();
      });
    const stream = (...items: (string | Error)[]) =>
      route(async () => ({ status: 200, body: chunks(...items) }));

    await route(async () => ({ status: 200, body: 'all' }))(requestWith(VALID));
    await drain(await stream('a', 'b')(requestWith()));
    await rejectsExactly(t, drain(await stream('a', new ServiceError('engine_lost'))(requestWith())), {
      code: 'engine_lost',
    });
    const unknown = new ServiceError('voice_not_found');
    await rejectsExactly(t, route(() => Promise.reject(unknown))(requestWith()), { code: 'voice_not_found' });
    await rejectsExactly(t, route(() => Promise.reject(new Error('bug')))(requestWith()), { message: 'bug' });
    const left = await stream('a', 'b')(requestWith());
    await (left.body as AsyncIterableIterator<string>).return?.();

    t.strictSame(
      lines.map(({ status, outcome }) => [status, outcome]),
      [
        [200, 'done'],
        [200, 'done'],
        [502, 'failed'],
        [400, 'done'],
        [500, 'failed'],
        [200, 'left'],
      ],
    );
    t.equal(spans.length, 6);
    t.ok(
      spans.every(({ ends }) => ends === 1),
      'each ends once',
    );
    t.ok(spans.every(({ name }) => name === 'POST /v1/x'));
    t.strictSame(
      spans.map(({ parent }) => parent),
      [PARENT, ...Array<undefined>(5).fill(undefined)],
    );
    t.strictSame(
      spans.map(({ status }) => status === SpanStatusCode.ERROR),
      [false, false, true, false, true, false],
    );
    t.equal(lines[0]?.['traceId'], TRACE);
    const allowed = [
      'http.request.method',
      'http.response.status_code',
      'http.route',
      'speech.engine',
      'speech.generation_id',
      'speech.model',
    ];
    for (const { attributes } of spans) t.strictSame(Object.keys(attributes).sort(), allowed);
    t.notMatch(JSON.stringify([spans, lines]), /secret/);
  },
);

t.test('a request whose client has gone is logged as left, one that ran out of time as failed', async (t) => {
  const { lines, observers: around } = observers();
  const failing = (signal: AbortSignal) =>
    traced('/v1/x', around, () => Promise.reject(signal.reason as Error))(requestWith(undefined, signal));
  const breaking = async (signal: AbortSignal) =>
    drain(
      await traced('/v1/x', around, async () => ({ status: 200, body: chunks('a', signal.reason as Error) }))(
        requestWith(undefined, signal),
      ),
    );
  for (const reason of [new Error('the client has gone'), new ServiceError('first_byte_timeout')]) {
    await rejectsExactly(t, failing(AbortSignal.abort(reason)), reason);
    await rejectsExactly(t, breaking(AbortSignal.abort(reason)), reason);
  }
  t.strictSame(
    lines.map(({ status, outcome }) => [status, outcome]),
    [
      [499, 'left'],
      [200, 'left'],
      [502, 'failed'],
      [502, 'failed'],
    ],
  );
});
