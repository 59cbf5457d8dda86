/**
 * The cheap questions at the start, at real servers: what is asked, how long an answer is waited for, and what becomes known of parts that
 * refuse, hang or are away (docs/operating.md).
 */
import type { ServerResponse } from 'node:http';
import t from '../../fixtures/tap.js';
import type { Test } from 'tap';
import { LIMITS } from '../../../contracts/limits.js';
import { silentLog } from '../../../contracts/log.js';
import type { Part } from '../../../contracts/ports/parts.js';
import { readConfig } from '../../../gateway/config.js';
import { entryOf } from '../../../gateway/server/parts/reports.js';
import { PartKeeper } from '../../../gateway/server/parts/keeper.js';
import { adviceOn } from '../../../gateway/wiring/model-check.js';
import { CheckFailure, type PartCheck } from '../../../gateway/wiring/part-check.js';
import { configuredChecks, startChecks } from '../../../gateway/wiring/start-checks.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { exactly } from '../../fixtures/exactly.js';
import { remoteService } from '../../fixtures/engines/remote-service.js';
import { embeddingServer } from '../../fixtures/knowledge/embeddings.js';
import { until } from '../../fixtures/until.js';

const { answerMs, againMs } = LIMITS.partCheck;
const status =
  (code: number) =>
  (response: ServerResponse): void =>
    void response.writeHead(code, { 'content-type': 'application/json' }).end('{}');

const json =
  (body: unknown) =>
  (response: ServerResponse): void =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const page = (response: ServerResponse): void =>
  void response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Welcome</title>');
const listOf = (...ids: string[]) => json({ object: 'list', data: ids.map((id) => ({ id })) });
const TOKEN = json({ choices: [{ message: { content: 'p' } }] });

interface Line {
  readonly setting?: string;
  readonly check?: boolean;
  readonly msg: string;
}

/** Checks on a clock that stands still; what they find out, and say. */
function checking(t: Test, checks: readonly PartCheck[], asksAll = true) {
  const clock = new SimulatedClock();
  const lines: Line[] = [];
  const note = (fields: object, msg: string): void => void lines.push({ ...fields, msg });
  const log = { ...silentLog, warn: note, error: note };
  const keeper = new PartKeeper({ clock, log });
  t.teardown(startChecks({ checks, keeper, asksAll, clock, log }));
  const found = () =>
    keeper.reports().map(({ part: { kind, name }, status, error }) => [kind, name, status, error?.outcome]);
  const known = () => until('it is known', () => found().every(([, , status]) => status !== 'unknown'));
  return { clock, keeper, found, known, lines };
}

const configured = (env: Record<string, string>): readonly PartCheck[] => configuredChecks(readConfig(env));

t.test(
  'a model of embeddings is asked for the vector of one word, and gets no key of another server',
  async (t) => {
    const server = await embeddingServer(t, [/word/]);
    const own = { EMBEDDING_MODEL: 'm', EMBEDDING_BASE_URL: server.url };
    const envs: [env: Record<string, string>, authorization: string | undefined][] = [
      [{ ...own, EMBEDDING_API_KEY: 'one' }, 'Bearer one'],
      [{ ...own, LLM_BASE_URL: 'http://127.0.0.1:9/v1', LLM_API_KEY: 'two' }, undefined],
      [{ EMBEDDING_MODEL: 'm', LLM_BASE_URL: server.url, LLM_API_KEY: 'two' }, 'Bearer two'],
    ];
    for (const [env, authorization] of envs) {
      const ofEmbeddings = configured(env).filter(({ parts }) => parts[0]?.name === 'embeddings');
      const { found, known } = checking(t, ofEmbeddings);
      await known();
      t.strictSame(found(), [['model', 'embeddings', 'ok', undefined]]);
      t.strictSame(server.requests.splice(0), [{ authorization, model: 'm', input: ['word'] }]);
    }
    server.answering = 'strangely';
    const strange = checking(t, configured(own));
    await strange.known();
    exactly(t, strange.lines, [
      { setting: 'EMBEDDING_BASE_URL', msg: /^The language model \(embeddings\) at / },
    ]);
  },
);

for (const code of [403, 404])
  t.test(`a language model is asked for its models; one that answers ${code}, for one token`, async (t) => {
    const lists = await remoteService(t);
    const speaks = await remoteService(t);
    lists.answers(listOf('default'));
    speaks.answers((response, _body, { method }) => (method === 'GET' ? status(code) : TOKEN)(response));
    const { found, known, lines } = checking(
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
    exactly(t, JSON.parse(String(speaks.asked[1]?.body)), { model: 'm', max_tokens: 1 });
    t.strictSame(lines, []);
  });

const NOT_LISTS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'a web page': page,
  'JSON without a list': json({ error: 'no' }),
  null: json(null),
};
for (const [what, answers] of Object.entries(NOT_LISTS))
  t.test(
    `a language model whose list of models is ${what} fails, and its address is to be checked`,
    async (t) => {
      const service = await remoteService(t);
      service.answers(answers);
      const { keeper, found, known, lines } = checking(t, configured({ LLM_BASE_URL: service.url }));
      await known();
      t.strictSame(found(), [['model', 'main', 'failing', 'invalid']]);
      const sentence = `The language model (main) at ${service.url} answered something that is no list of models: check LLM_BASE_URL`;
      exactly(t, lines, [{ msg: sentence, setting: 'LLM_BASE_URL', check: true }]);
      t.equal(entryOf(keeper.reports()[0]!, true).message, sentence, '/health says the same');
    },
  );

t.test('a server without a list whose answer to one token is a web page fails as well', async (t) => {
  const service = await remoteService(t);
  service.answers((response, _body, { method }) => (method === 'GET' ? status(404) : page)(response));
  const { known, lines } = checking(t, configured({ LLM_BASE_URL: service.url }));
  await known();
  exactly(t, lines, [
    { msg: /answered something that is no answer of a language model: check LLM_BASE_URL$/ },
  ]);
});

t.test('a model that the server does not list is a warning with some that it does', async (t) => {
  const service = await remoteService(t);
  service.answers(listOf('a', 'b\nc', 'd', 'e', 'f'.repeat(100), 'g', 'h'));
  const { found, known, lines } = checking(t, configured({ LLM_BASE_URL: service.url, LLM_MODEL: 'gpt-5' }));
  await known();
  t.strictSame(found(), [['model', 'main', 'ok', undefined]], 'which may work all the same');
  await until('it is said', () => lines.length > 0);
  const names = `a, b c, d, e, ${'f'.repeat(64)} and 2 more`;
  const msg = `The language model (main) at ${service.url} lists no model "gpt-5", but ${names}: check LLM_MODEL`;
  exactly(t, lines, [{ msg, setting: 'LLM_MODEL', check: true }]);
});

t.test('names are compared as servers take them', (t) => {
  for (const [id, model] of [
    ['llama3:latest', 'llama3'],
    ['models/gemini-2.5-flash', 'gemini-2.5-flash'],
    ['openai/gpt-5', 'gpt-5'],
    ['qwen/qwen3', 'qwen/qwen3:free'],
    ['Mistral-7B', 'mistral-7b'],
  ] as const)
    t.equal(adviceOn([id], model, 'LLM_MODEL'), undefined, `${id} is ${model}`);
  exactly(t, adviceOn(['gpt-5-mini'], 'gpt-5', 'LLM_MODEL'), { setting: 'LLM_MODEL' });
  t.equal(adviceOn([], 'gpt-5', 'LLM_MODEL'), undefined, 'a list without names says nothing');
  t.end();
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
  exactly(t, keeper.reports()[0]?.part.settings, { key: 'REMOTE_NATIVE_KEY', address: 'REMOTE_NATIVE_URL' });
  t.strictSame([one.asked.length, other.asked.length], [1, 1]);
});

t.test('a web page at the address of a remote engine is no health either', async (t) => {
  const service = await remoteService(t);
  service.answers(page);
  const env = { TTS_ENGINES: 'openai-compatible', REMOTE_OPENAI_URL: service.url };
  const { known, lines } = checking(t, configured(env));
  await known();
  const sentence = `The voice service (openai-compatible) at ${service.url} answered something that is no JSON: check REMOTE_OPENAI_URL`;
  exactly(t, lines, [{ msg: sentence, setting: 'REMOTE_OPENAI_URL' }]);
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
    exactly(t, found(), [['model', 'main', 'failing', 'timeout']]);
    hanging.answers(listOf('default'));
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
  t.teardown(startChecks({ checks: [{ parts: [part], ask }], keeper, asksAll: false, clock, log }));
  await new Promise(setImmediate);
  t.equal(asked, 0);
  keeper.noteAnswer(part, { outcome: 'unreachable' });
  clock.advance(againMs);
  await until('it is asked', () => lines.length === 2);
  exactly(t, lines[1], {
    outcome: 'refused_key',
    status: 403,
    reason: 'the credentials are wrong',
    check: true,
  });
});
