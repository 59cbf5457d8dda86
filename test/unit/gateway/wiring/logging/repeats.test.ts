/** What keeps the log short when one thing happens again and again (gateway/wiring/logging/repeats.ts). */
import t from '../../../../fixtures/tap.js';
import { ServiceError, whyOf } from '../../../../../contracts/errors.js';
import { LIMITS } from '../../../../../contracts/limits.js';
import { createLog } from '../../../../../gateway/wiring/log.js';
import { SimulatedClock } from '../../../../fixtures/clock.js';
import { exactly } from '../../../../fixtures/exactly.js';

const { repeats, refusals, windowMs, kinds } = LIMITS.log;

type Line = Readonly<Record<string, unknown>>;

function logged() {
  const lines: Line[] = [];
  const clock = new SimulatedClock();
  const write = (line: string): void => void lines.push(JSON.parse(line) as Line);
  return { lines, clock, log: createLog('info', { write }, clock) };
}

const times = (count: number, task: (at: number) => void): void =>
  Array.from({ length: count }, (_, at) => at).forEach(task);

t.test(`a warning that comes again is written ${repeats} times a window, and then counted`, async (t) => {
  const { lines, clock, log } = logged();
  times(253, (id) => log.warn({ part: 'model', id }, 'it failed'));
  t.equal(lines.length, repeats);
  clock.advance(windowMs);
  exactly(t, lines.slice(repeats), [
    { level: 40, part: 'model', msg: 'it failed', left_out: 253 - repeats, seconds: windowMs / 1000 },
  ]);
  t.equal(lines.at(-1)?.['id'], undefined, 'it is no single case');
  log.warn({ part: 'model' }, 'it failed');
  t.equal(lines.length, repeats + 2, 'a new window has begun');
});

t.test('a window in which nothing was left out ends without a line', async (t) => {
  const { lines, clock, log } = logged();
  times(repeats, () => log.error({}, 'rare'));
  clock.advance(2 * windowMs);
  t.equal(lines.length, repeats);
});

t.test('another part, address, agent, cause or level is another line', async (t) => {
  const { lines, log } = logged();
  const different: readonly Line[] = [
    ...[{ part: 'model' }, { part: 'voice' }, { part: 'voice', address: 'http://a' }, { agentId: 'ag_1' }],
    ...[
      { err: Object.assign(new Error('a'), { code: 'E1' }) },
      { err: Object.assign(new Error('b'), { code: 'E2' }) },
    ],
  ];
  for (const fields of different) times(repeats + 1, () => log.warn(fields, 'it failed'));
  times(repeats + 1, () => log.error({ part: 'model' }, 'it failed'));
  t.equal(lines.length, (different.length + 1) * repeats);
});

t.test('lines of a call, and of requests with a key, are all written', async (t) => {
  const { lines, log } = logged();
  times(100, () => log.info({}, 'call started'));
  times(100, () => log.info({ status: 200 }, 'request'));
  times(100, () => log.info({ status: 404, route: 'unmatched', workspaceId: 'ws_1' }, 'request'));
  t.equal(lines.length, 300);
});

t.test(`refusals of clients without a key are written ${refusals} times a window and cause`, async (t) => {
  const { lines, clock, log } = logged();
  const refused = (code: string) => ({ status: 404, route: 'unmatched', code });
  times(1000, (at) => log.info({ ...refused('not_found'), path: `/${at}` }, 'request'));
  times(refusals + 1, () => log.info(refused('method_not_allowed'), 'request'));
  t.equal(lines.length, 2 * refusals);
  clock.advance(windowMs);
  exactly(t, lines.slice(2 * refusals), [
    { ...{ route: 'unmatched', code: 'not_found', msg: 'request' }, left_out: 1000 - refusals },
    { code: 'method_not_allowed', left_out: 1 },
  ]);
});

t.test(
  'whatever did not work because the database is away counts as one thing; that it is away is another',
  async (t) => {
    const { lines, clock, log } = logged();
    log.error({ part: 'database', outcome: 'unreachable' }, 'The database is away');
    const err = Object.assign(new Error('gone'), { code: 'CONNECT_TIMEOUT' });
    times(50, (at) => log.warn({ err }, `could not do ${at}`));
    times(50, (at) => log.warn(whyOf(err), `nor ${at}`));
    log.warn({ err: new ServiceError('storage_busy') }, 'nor that');
    t.strictSame(
      lines.map(({ msg }) => msg),
      ['The database is away', 'could not do 0'],
    );
    clock.advance(windowMs);
    exactly(t, lines.at(-1), { msg: /the database does not answer/, left_out: 100 });
  },
);

t.test(`of more than ${kinds} different lines the oldest is told first, and forgotten`, async (t) => {
  const { lines, log } = logged();
  times(repeats + 2, () => log.warn({}, 'first'));
  times(kinds, (at) => log.warn({}, `line ${at}`));
  exactly(
    t,
    lines.filter(({ left_out: leftOut }) => leftOut !== undefined),
    [{ msg: 'first', left_out: 2 }],
  );
});
