/** With which model an agent thinks, at a server that keeps what it is asked (docs/contract/platform.md 6.3 `llm`). */
import t from '../../fixtures/tap.js';
import { DEFAULT_CONFIG } from '../../../contracts/schemas/agent-config.js';
import { LLM_TIERS } from '../../../contracts/schemas/agent-model.js';
import { systemClock } from '../../../contracts/clock.js';
import type { ChatModel } from '../../../contracts/ports/chat.js';
import { noKeeper } from '../../../contracts/ports/parts.js';
import { guardedConnections } from '../../../gateway/outbound/connections.js';
import { agentModels } from '../../../gateway/wiring/agent-models.js';
import type { OwnModelParts } from '../../../gateway/wiring/own-model.js';
import { readConfig } from '../../../gateway/config.js';
import { startModel } from '../../fixtures/chat/model.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';

const model = await startModel();
t.teardown(() => model.stop());
const OWN: OwnModelParts = {
  keys: { keyOf: () => Promise.resolve('sesame') },
  connections: guardedConnections({ allow: ['127.0.0.1'] }),
  keeper: noKeeper,
};
const USER = { agentId: 'agent_1', sessionId: 'sess_1', endUserId: null };
const REQUEST = { messages: [{ role: 'user', content: 'Hi' }], tools: [], passages: [] } as const;

/** The names that the server is asked for, by tier. */
async function asked(env: Record<string, string>): Promise<readonly unknown[]> {
  const { modelOf } = agentModels(readConfig(env), OWN, systemClock);
  const names: unknown[] = [];
  for (const tier of LLM_TIERS) {
    const config = { ...DEFAULT_CONFIG, llm: { ...DEFAULT_CONFIG.llm, tier } };
    const before = model.requests.length;
    for await (const _ of modelOf({ config }, USER).chat(REQUEST, new AbortController().signal)) continue;
    names.push(model.requests.slice(before).map(({ body }) => body['model']));
  }
  return names;
}

t.test('each tier has a model of its own, or the usual one', async (t) => {
  const env = { LLM_BASE_URL: model.url, LLM_MODEL: 'usual' };
  exactly(t, await asked(env), [['usual'], ['usual'], ['usual']]);
  const both = { ...env, LLM_MODEL_INSTANT: 'quick', LLM_MODEL_HIGH: 'wise' };
  exactly(t, await asked(both), [['quick'], ['usual'], ['wise']]);
  exactly(t, await asked({ ...env, LLM_MODEL_HIGH: 'wise' }), [['usual'], ['usual'], ['wise']]);
});

t.test('without a server all tiers are builtin-dialogue', async (t) => {
  const { modelOf, named } = agentModels(readConfig({}), OWN, systemClock);
  for (const tier of LLM_TIERS) {
    const config = { ...DEFAULT_CONFIG, llm: { ...DEFAULT_CONFIG.llm, tier } };
    t.equal(modelOf({ config }, USER).name, 'builtin-dialogue', tier);
  }
  exactly(t, named, { model: 'builtin-dialogue' });
});

const CUSTOM = { base_url: model.url, model: 'own', api_key: null, has_secret: true };
const OWN_CONFIG = { ...DEFAULT_CONFIG, llm: { tier: 'medium', custom: CUSTOM } } as const;
const ALONE = new AbortController().signal;

async function answerOf(chat: ChatModel): Promise<string> {
  let said = '';
  for await (const event of chat.chat(REQUEST, ALONE)) if (event.kind === 'text') said += event.text;
  return said;
}

t.test('a key is read for each request; while the database is away, the last one is used', async (t) => {
  const reads: (() => Promise<string | undefined>)[] = [
    () => Promise.resolve('first'),
    () => Promise.resolve('second'),
    () => Promise.reject(new Error('the database is away')),
    () => new Promise(() => undefined),
    () => Promise.resolve(undefined),
  ];
  const keys = { keyOf: () => (reads.shift() ?? (() => Promise.resolve('last')))() };
  const { modelOf } = agentModels(readConfig({}), { ...OWN, keys }, systemClock);
  const chat = modelOf({ config: OWN_CONFIG }, USER);
  exactly(t, chat, { name: 'own', endpoint: new URL(model.url).host });
  model.reset();
  for (let nth = 0; nth < 5; nth += 1) t.equal(await answerOf(chat), 'Yes.');
  t.strictSame(
    model.requests.map(({ authorization }) => authorization),
    ['first', 'second', 'second', 'second', 'second'].map((key) => `Bearer ${key}`),
  );
});

t.test('without any key that is known, nothing is asked', async (t) => {
  const keys = { keyOf: () => Promise.reject(new Error('the database is away')) };
  const { triedModel } = agentModels(readConfig({}), { ...OWN, keys }, systemClock);
  model.reset();
  await rejectsExactly(t, answerOf(triedModel(OWN_CONFIG.llm, 'agent_1')), { code: 'provider_failed' });
  t.strictSame(model.requests, []);
});

t.test('after a hand-over the key is that of the other agent', async (t) => {
  const asked: string[] = [];
  const keyOf = (agentId: string): Promise<string> => {
    asked.push(agentId);
    return Promise.resolve('k');
  };
  const keys = { keyOf };
  const { modelOf } = agentModels(readConfig({}), { ...OWN, keys }, systemClock);
  await answerOf(modelOf({ config: OWN_CONFIG }, USER));
  await answerOf(modelOf({ config: OWN_CONFIG, agentId: 'agent_2' }, USER));
  t.strictSame(asked, ['agent_1', 'agent_2']);
});
