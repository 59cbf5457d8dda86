/** What the gateway keeps of its parts: outcomes, the lines of the log, metrics. */
import t from '../../../../fixtures/tap.js';
import { type ErrorCode, ServiceError } from '../../../../../contracts/errors.js';
import type { Log } from '../../../../../contracts/log.js';
import { meaningOf, outcomeOfStatus } from '../../../../../contracts/parts/outcome-of.js';
import { McpError, McpUnanswered } from '../../../../../contracts/ports/agents/mcp.js';
import { OutboundError } from '../../../../../contracts/ports/outbound.js';
import { type Part, partOfAccount } from '../../../../../contracts/ports/parts.js';
import { PartKeeper } from '../../../../../gateway/server/parts/keeper.js';
import { BELIEVED_MS, SETTLE_MS } from '../../../../../gateway/server/parts/part-state.js';
import { sentenceOf } from '../../../../../gateway/server/parts/sentences.js';
import { Metrics } from '../../../../../gateway/server/system/metrics.js';
import { SimulatedClock } from '../../../../fixtures/clock.js';
import { exactly } from '../../../../fixtures/exactly.js';

const MODEL: Part = {
  kind: 'model',
  name: 'main',
  address: 'http://127.0.0.1:8000',
  settings: { address: 'LLM_BASE_URL', key: 'LLM_API_KEY' },
};

interface Line {
  readonly level: keyof Log;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

function keeper() {
  const lines: Line[] = [];
  const line = (level: keyof Log) => (fields: object, message: string) =>
    void lines.push({ level, message, fields: { ...fields } });
  const log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
  const clock = new SimulatedClock();
  return { lines, clock, kept: new PartKeeper({ clock, log }) };
}

const call = (sessionId: string) => ({ workspaceId: 'w', sessionId, agentId: 'a' });

t.test('a part that goes away gets one line, with address, setting and call', (t) => {
  const { lines, kept } = keeper();
  for (let asked = 0; asked < 253; asked += 1)
    kept.noteAnswer(MODEL, { outcome: 'refused_key', status: 401, whom: call('s1') });
  t.equal(lines.length, 1);
  exactly(t, lines[0], {
    level: 'error',
    message: 'The language model (main) at http://127.0.0.1:8000 refused the key (401): check LLM_API_KEY',
    fields: {
      ...{ part: 'model', name: 'main', address: 'http://127.0.0.1:8000', setting: 'LLM_API_KEY' },
      ...{ outcome: 'refused_key', status: 401, workspaceId: 'w', sessionId: 's1', agentId: 'a' },
    },
  });
  t.end();
});

t.test('in an outage each further call and each further cause gets a line', (t) => {
  const { lines, kept } = keeper();
  const unreachable = { outcome: 'unreachable', code: 'ECONNREFUSED' } as const;
  kept.noteAnswer(MODEL, { ...unreachable, whom: call('s1') });
  kept.noteAnswer(MODEL, { ...unreachable, whom: call('s2') });
  kept.noteAnswer(MODEL, { ...unreachable, whom: call('s2') });
  kept.noteAnswer(MODEL, { outcome: 'failed', status: 500, whom: call('s2') });
  t.same(
    lines.map(({ level, fields }) => [level, fields['outcome'], fields['sessionId']]),
    [
      ['error', 'unreachable', 's1'],
      ['warn', 'unreachable', 's2'],
      ['error', 'failed', 's2'],
    ],
  );
  t.end();
});

t.test('a part is back once it has worked for two seconds, and that gets one line', (t) => {
  const { lines, kept, clock } = keeper();
  kept.noteAnswer(MODEL, { outcome: 'failed', status: 500 });
  kept.noteAnswer(MODEL, { outcome: 'ok' });
  clock.advance(1000);
  kept.noteAnswer(MODEL, { outcome: 'timeout' });
  kept.noteAnswer(MODEL, { outcome: 'ok' });
  clock.advance(1999);
  exactly(t, kept.reports(), [{ status: 'failing' }]);
  clock.advance(1);
  exactly(t, kept.reports(), [{ status: 'ok', error: { outcome: 'timeout' } }]);
  exactly(t, lines.at(-1), {
    level: 'info',
    message: 'The language model (main) at http://127.0.0.1:8000 is back after 1 s',
    fields: { seconds: 1, failures: 2 },
  });
  clock.advance(60_000);
  t.equal(lines.length, 3);
  t.end();
});

t.test('a request that is refused for what it asks, or that nobody waits for, is no failure', (t) => {
  const { lines, kept } = keeper();
  kept.noteAnswer(MODEL, { outcome: 'cancelled' });
  exactly(t, kept.reports(), [{ status: 'unknown' }]);
  kept.noteAnswer(MODEL, { outcome: 'refused', status: 422 });
  exactly(t, kept.reports(), [{ status: 'ok' }]);
  t.same(lines, []);
  t.end();
});

t.test('a language model of which callers have waited for a word in vain fails, though they talk on', (t) => {
  const { kept, clock, lines } = keeper();
  const after = (part: Part, ms: number, more: { began?: boolean; whom?: ReturnType<typeof call> } = {}) => {
    const { whom = call('s1'), began = false } = more;
    const question = kept.ask(part, whom);
    if (began) question.began();
    clock.advance(ms);
    question.left();
    return kept.reports().at(-1)?.status;
  };
  t.equal(after(MODEL, 3999), 'unknown', 'they have interrupted');
  t.equal(after(MODEL, 60_000, { began: true }), 'ok', 'they have left while it talked');
  const test = { ...call('s1'), sessionId: undefined as never };
  t.equal(after(MODEL, 60_000, { whom: test }), 'ok', 'nobody was on the line');
  t.equal(after({ kind: 'recogniser', name: 'a' }, 60_000), 'unknown', 'nobody has spoken');
  t.same(lines, []);
  const question = kept.ask(MODEL, call('s1'));
  clock.advance(4000);
  const signal = AbortSignal.abort();
  question.ended(signal.reason, signal);
  exactly(t, lines, [{ message: /did not answer in time/, fields: { outcome: 'timeout', sessionId: 's1' } }]);
  t.ok(kept.fails(MODEL));
  t.end();
});

t.test('an analysis that fails as the language model did sends nobody to a setting of its own', (t) => {
  const { kept, lines } = keeper();
  const part: Part = { kind: 'analysis', name: 'analysis', settings: { address: 'LLM_MODEL' } };
  kept.noteAnswer(part, { outcome: 'failed' });
  kept.noteAnswer(part, { outcome: 'invalid' });
  t.same(
    lines.map(({ message, fields }) => [message, fields['setting']]),
    [
      ['The analysis of calls (analysis) failed, as the language model did', undefined],
      [
        'The analysis of calls (analysis) is not possible: the language model did not answer as asked: check LLM_MODEL',
        'LLM_MODEL',
      ],
    ],
  );
  t.end();
});

t.test('a part that is asked nothing but cheap questions for ten minutes is back', (t) => {
  const { clock, kept } = keeper();
  const check = (): void => kept.noteAnswer(MODEL, { outcome: 'ok', isCheck: true });
  kept.noteAnswer(MODEL, { outcome: 'failed', whom: call('s1') });
  clock.advance(BELIEVED_MS - 1);
  check();
  clock.advance(SETTLE_MS);
  t.ok(kept.fails(MODEL));
  check();
  clock.advance(SETTLE_MS);
  t.notOk(kept.fails(MODEL));
  t.end();
});

t.test('a cheap question ends only what it can see', (t) => {
  const { kept, clock } = keeper();
  const check = (outcome: 'ok' | 'failed'): void => {
    kept.noteAnswer(MODEL, { outcome, isCheck: true });
    clock.advance(3000);
  };
  kept.noteAnswer(MODEL, { outcome: 'refused_key', status: 401 });
  check('ok');
  exactly(t, kept.reports(), [{ status: 'failing' }], 'the list of models may need no key');
  kept.noteAnswer(MODEL, { outcome: 'unreachable' });
  check('ok');
  exactly(t, kept.reports(), [{ status: 'ok' }]);
  check('failed');
  exactly(t, kept.reports(), [{ status: 'failing' }]);
  check('ok');
  exactly(t, kept.reports(), [{ status: 'ok' }]);
  t.end();
});

t.test(
  'what an account has configured warns with its workspace, and stands neither in health nor in labels',
  async (t) => {
    const { lines, kept } = keeper();
    const tool = partOfAccount('tool', 'https://user:pass@crm.example/secret?key=1');
    kept.noteAnswer(tool, { outcome: 'failed', status: 500, whom: call('s1') });
    kept.noteAnswer(tool, { outcome: 'failed', status: 500, whom: { ...call('s2'), workspaceId: 'other' } });
    exactly(t, lines, [
      { level: 'warn', message: 'A tool at https://crm.example failed (500)', fields: { workspaceId: 'w' } },
      { level: 'warn', fields: { workspaceId: 'other', sessionId: 's2' } },
    ]);
    t.same(kept.reports(), []);
    const metrics = new Metrics();
    kept.addTo(metrics);
    const page = await metrics.registry.metrics();
    t.match(page, /gateway_part_requests_total\{part="tool",name="account",outcome="failed"\} 2/);
    t.notMatch(page, /crm\.example/);
    t.notMatch(page, /gateway_part_failing\{/);
  },
);

t.test('metrics: requests by outcome, time to the answer, and who fails', async (t) => {
  const { kept, clock } = keeper();
  const metrics = new Metrics();
  kept.addTo(metrics);
  kept.knowPart({ ...MODEL, name: 'fallback' });
  const question = kept.ask(MODEL);
  clock.advance(300);
  question.began();
  clock.advance(5000);
  question.ended();
  question.ended(new Error('told once'));
  kept.ask(MODEL).answered(503);
  const page = await metrics.registry.metrics();
  t.match(page, /gateway_part_requests_total\{part="model",name="main",outcome="ok"\} 1/);
  t.match(page, /gateway_part_requests_total\{part="model",name="main",outcome="failed"\} 1/);
  t.match(page, /gateway_part_seconds_sum\{part="model",name="main"\} 0\.3\n/);
  t.match(page, /gateway_part_failing\{part="model",name="main"\} 1/);
  t.match(page, /gateway_part_failing\{part="model",name="fallback"\} 0/);
});

t.test('parts of one name at several addresses fail together in metrics, and apart in health', async (t) => {
  const { kept } = keeper();
  kept.noteAnswer(MODEL, { outcome: 'ok' });
  kept.noteAnswer({ ...MODEL, address: 'http://127.0.0.1:8001' }, { outcome: 'unreachable' });
  const metrics = new Metrics();
  kept.addTo(metrics);
  t.match(await metrics.registry.metrics(), /gateway_part_failing\{part="model",name="main"\} 1/);
  exactly(t, kept.reports(), [{ status: 'ok' }, { status: 'failing' }]);
});

t.test('a part that works in another process is back here as well', (t) => {
  const { kept, clock } = keeper();
  kept.noteAnswer(MODEL, { outcome: 'unreachable' });
  const there = { part: MODEL, status: 'ok', since: 0, error: undefined, failedAt: undefined } as const;
  kept.heard([{ ...there, workedAt: clock.now() - 1 }]);
  clock.advance(3000);
  exactly(t, kept.reports(), [{ status: 'failing' }], 'it worked before it failed');
  kept.heard([{ ...there, workedAt: clock.now() }]);
  clock.advance(3000);
  exactly(t, kept.reports(), [{ status: 'ok' }]);
  t.end();
});

t.test('outcomes: by statuses, codes of sockets, and whose time was up', (t) => {
  t.same([200, 302, 400, 401, 403, 404, 407, 413, 422, 429, 500, 504].map(outcomeOfStatus), [
    ...['ok', 'wrong_address', 'refused', 'refused_key', 'refused_key', 'wrong_address', 'refused_key'],
    ...['refused', 'refused', 'limited', 'failed', 'timeout'],
  ]);
  const socket = (code: string): Error => Object.assign(new Error('fetch failed'), { code });
  const failed = (cause?: unknown, answered?: number): ServiceError =>
    new ServiceError('provider_failed', { cause, answered });
  const of = (code: ErrorCode): ServiceError => new ServiceError(code);
  const left = AbortSignal.abort(new Error('the caller has gone'));
  const late = AbortSignal.abort(of('first_byte_timeout'));
  const cases: readonly (readonly [unknown, AbortSignal | undefined, object])[] = [
    [failed(socket('ECONNREFUSED')), undefined, { outcome: 'unreachable', code: 'ECONNREFUSED' }],
    [failed(socket('SELF_SIGNED_CERT_IN_CHAIN')), undefined, { outcome: 'unreachable' }],
    [failed(socket('UND_ERR_SOCKET')), undefined, { outcome: 'failed', code: 'UND_ERR_SOCKET' }],
    [failed(undefined, 401), undefined, { outcome: 'refused_key', status: 401 }],
    [failed(), undefined, { outcome: 'invalid' }],
    [failed(of('first_byte_timeout')), undefined, { outcome: 'timeout', status: undefined }],
    [
      new Error('x', { cause: of('first_byte_timeout') }),
      undefined,
      { outcome: 'timeout', status: undefined },
    ],
    [failed(new SyntaxError('Unexpected end of JSON input')), undefined, { outcome: 'invalid' }],
    [
      new McpError('The server answered HTTP 401', { answered: 401 }),
      undefined,
      { outcome: 'refused_key', status: 401 },
    ],
    [new McpError('The server reported an error'), undefined, { outcome: 'invalid' }],
    [
      new McpUnanswered('The server broke its answer off', { isLate: true }),
      undefined,
      { outcome: 'timeout' },
    ],
    [new SyntaxError('Unexpected end of JSON input'), undefined, { outcome: 'invalid' }],
    [of('first_byte_timeout'), undefined, { outcome: 'timeout' }],
    [of('context_exceeded'), undefined, { outcome: 'refused' }],
    [left.reason, left, { outcome: 'cancelled' }],
    [late.reason, late, { outcome: 'timeout' }],
    [new OutboundError('unresolved', 'x'), undefined, { outcome: 'unreachable' }],
    [
      Object.assign(new Error('x'), { $metadata: { httpStatusCode: 403 } }),
      undefined,
      { outcome: 'refused_key' },
    ],
    [
      Object.assign(new Error('none'), { name: 'CredentialsProviderError' }),
      undefined,
      { outcome: 'refused_key' },
    ],
    [new Error('what is this'), undefined, { outcome: 'failed' }],
  ];
  for (const [error, signal, expected] of cases) exactly(t, meaningOf(error, signal), expected);
  t.end();
});

t.test('a sentence says a code in words, unless operators know it, and nothing twice', (t) => {
  const part: Part = { kind: 'model', name: 'main', settings: { address: 'LLM_BASE_URL' } };
  const said = (told: Parameters<typeof sentenceOf>[1]): string => sentenceOf(part, told);
  const of = (did: string): string => `The language model (main) ${did}: check LLM_BASE_URL`;
  t.equal(said({ outcome: 'failed', code: 'UND_ERR_SOCKET' }), of('failed (the connection was closed)'));
  t.equal(said({ outcome: 'unreachable', code: 'ECONNREFUSED' }), of('cannot be reached (ECONNREFUSED)'));
  t.equal(said({ outcome: 'unreachable', code: 'ENOTFOUND' }), of('cannot be reached (no such host name)'));
  t.equal(said({ outcome: 'timeout', code: 'TimeoutError' }), of('did not answer in time'));
  t.equal(said({ outcome: 'timeout', status: 504 }), of('did not answer in time (504)'));
  t.equal(said({ outcome: 'invalid', did: 'answered nonsense' }), of('answered nonsense'));
  t.equal(
    said({ outcome: 'unreachable', code: 'SELF_SIGNED_CERT_IN_CHAIN' }),
    'The language model (main) cannot be reached (SELF_SIGNED_CERT_IN_CHAIN: Node does not know the authority of its ' +
      'certificate): check NODE_EXTRA_CA_CERTS',
  );
  t.end();
});
