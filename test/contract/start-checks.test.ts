/**
 * The cheap questions at the start, at real servers: what is asked, how long an answer is waited for, and what becomes known of parts that
 * refuse, hang or are away (docs/operating.md).
 */
import type { ServerResponse } from 'node:http';
import t from 'tap';
import type { Test } from 'tap';
import { LIMITS } from '../../contracts/limits.js';
import { silentLog } from '../../contracts/log.js';
import type { Part } from '../../contracts/ports/parts.js';
import { readConfig } from '../../gateway/config.js';
import { PartKeeper } from '../../gateway/server/parts/keeper.js';
import {
  CheckFailure,
  type Checked,
  configuredChecks,
  startChecks,
} from '../../gateway/wiring/start-checks.js';
import { SimulatedClock } from '../fixtures/edge-clock.js';
import { remoteService } from '../fixtures/remote-service.js';
import { until } from '../fixtures/until.js';

const { answerMs, againMs } = LIMITS.partCheck;
const status =
  (code: number) =>
  (response: ServerResponse): void =>
    void response.writeHead(code, { 'content-type': 'application/json' }).end('{}');

/** Checks on a clock that stands still; what they find out. */
function checking(t: Test, checks: readonly Checked[], asksAll = true) {
  const clock = new SimulatedClock();
  const keeper = new PartKeeper({ clock, log: silentLog });
  t.teardown(startChecks({ checks, keeper, asksAll, clock }));
  const found = () =>
    keeper.reports().map(({ part: { kind, name }, status, error }) => [kind, name, status, error?.outcome]);
  const known = () => until('it is known', () => found().every(([, , status]) => status !== 'unknown'));
  return { clock, keeper, found, known };
}

const configured = (env: Record<string, string>): readonly Checked[] => configuredChecks(readConfig(env));

for (const code of [403, 404])
  t.test(`a language model is asked for its models; one that answers ${code}, for one token`, async (t) => {
    const lists = await remoteService(t);
    const speaks = await remoteService(t);
    lists.answers(status(200));
    speaks.answers((response, _body, { method }) => status(method === 'GET' ? code : 200)(response));
    const { found, known } = checking(
      t,
      configured({
        ...{ LLM_BASE_URL: `${lists.url}/v1`, LLM_API_KEY: 'one' },
        ...{
          LLM_FALLBACK_BASE_URL: `${speaks.url}/v1`,
          LLM_FALLBACK_API_KEY: 'two',
          LLM_FALLBACK_MODEL: 'm',
        },
      }),
    );
    await known();
    t.strictSame(found(), [
      ['model', 'main', 'ok', undefined],
      ['model', 'fallback', 'ok', undefined],
    ]);
    t.strictSame(
      [...lists.asked, ...speaks.asked].map(({ url, headers }) => [url, headers.authorization]),
      [
        ['/v1/models', 'Bearer one'],
        ['/v1/models', 'Bearer two'],
        ['/v1/chat/completions', 'Bearer two'],
      ],
    );
    t.match(JSON.parse(String(speaks.asked[1]?.body)), { model: 'm', max_tokens: 1 });
  });

t.test('each address of a remote engine is asked once for all that it does', async (t) => {
  const [one, other] = [await remoteService(t), await remoteService(t)];
  one.answers(status(401));
  other.answers(status(404));
  const { keeper, found, known } = checking(
    t,
    configured({
      ...{ TTS_ENGINES: 'native-compatible,tone', STT_ENGINES: 'native-compatible' },
      ...{ REMOTE_NATIVE_URL: `${one.url},${other.url}`, REMOTE_NATIVE_KEY: 'k' },
      // Of no engine in use.
      REMOTE_OPENAI_URL: 'http://127.0.0.1:1/v1',
    }),
  );
  await known();
  t.strictSame(found().sort(), [
    ['recogniser', 'native-compatible 1', 'failing', 'refused_key'],
    ['recogniser', 'native-compatible 2', 'ok', undefined],
    ['voice', 'native-compatible 1', 'failing', 'refused_key'],
    ['voice', 'native-compatible 2', 'ok', undefined],
  ]);
  t.match(keeper.reports()[0]?.part.settings, { key: 'REMOTE_NATIVE_KEY', address: 'REMOTE_NATIVE_URL' });
  t.strictSame([one.asked.length, other.asked.length], [1, 1]);
});

t.test(
  'nobody waits for more than five seconds; what fails is asked again each quarter of a minute',
  async (t) => {
    const hanging = await remoteService(t);
    hanging.answers(() => undefined);
    const { clock, found } = checking(t, configured({ LLM_BASE_URL: `${hanging.url}/v1` }));
    await until('it is asked', () => hanging.asked.length === 1);
    t.strictSame(found(), [['model', 'main', 'unknown', undefined]]);
    clock.advance(answerMs);
    await until('it is known', () => found()[0]?.[2] === 'failing');
    t.match(found(), [['model', 'main', 'failing', 'timeout']]);
    hanging.answers(status(200));
    await new Promise(setImmediate);
    clock.advance(againMs);
    await until('it is asked again', () => hanging.asked.length === 2);
    await until('it is back', () => {
      clock.advance(2000);
      return found()[0]?.[2] === 'ok';
    });
    clock.advance(10 * againMs);
    t.equal(hanging.asked.length, 2, 'what works is left alone');
  },
);

t.test('a reason of the check is told; the second process asks only what it knows to fail', async (t) => {
  const part: Part = { kind: 'bucket', name: 'recordings', settings: { key: 'AWS_ACCESS_KEY_ID' } };
  const lines: object[] = [];
  const log = { ...silentLog, error: (fields: object) => void lines.push(fields) };
  const clock = new SimulatedClock();
  const keeper = new PartKeeper({ clock, log });
  let asked = 0;
  const ask = async (): Promise<never> => {
    asked += 1;
    const cause = Object.assign(new Error('AccessDenied'), { $metadata: { httpStatusCode: 403 } });
    throw new CheckFailure('the credentials are wrong', cause);
  };
  t.teardown(startChecks({ checks: [{ parts: [part], ask }], keeper, asksAll: false, clock }));
  await new Promise(setImmediate);
  t.equal(asked, 0);
  keeper.told(part, { outcome: 'unreachable' });
  clock.advance(againMs);
  await until('it is asked', () => lines.length === 2);
  t.match(lines[1], {
    outcome: 'refused_key',
    status: 403,
    reason: 'the credentials are wrong',
    check: true,
  });
});
