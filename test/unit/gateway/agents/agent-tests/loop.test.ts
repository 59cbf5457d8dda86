/** The loop that plays the scenarios that wait, and other processes beside it. */
import type { Test } from 'tap';
import t from '../../../../fixtures/tap.js';
import { LIMITS } from '../../../../../contracts/limits.js';
import type { TestQueue } from '../../../../../contracts/ports/agents/agent-tests.js';
import type { ChatEvent, ChatModel, ChatRequest } from '../../../../../contracts/ports/chat.js';
import { startAgentTests } from '../../../../../gateway/agents/agent-tests/loop.js';
import {
  chat,
  fast,
  memoryQueue,
  QUIET,
  partsOf,
  queued,
  type Scene,
  thinkingBy,
} from '../../../../fixtures/agent-tests/queue.js';
import { exactly } from '../../../../fixtures/exactly.js';
import { until } from '../../../../fixtures/until.js';

const { agentTest: limits } = LIMITS;

// The clock's timers keep nothing alive.
const keepAlive = setInterval(() => undefined, 2 ** 30);
t.teardown(() => clearInterval(keepAlive));

async function* endless(signal: AbortSignal): AsyncGenerator<ChatEvent> {
  await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  yield { kind: 'text', text: '' };
}

const stuck = { ...chat(() => []), chat: (_: ChatRequest, signal: AbortSignal) => endless(signal) };

async function started(t: Pick<Test, 'teardown'>, scene: Scene) {
  const { queue, state } = memoryQueue(queued(scene));
  const loop = await startAgentTests({ ...partsOf(scene), queue });
  t.teardown(() => loop.stop());
  return { loop, state };
}

t.test('the loop plays the scenarios that wait, and stores their outcomes', async (t) => {
  const { state } = await started(t, {});
  const [outcome] = await until('it is finished', () => state.finished.length > 0 && state.finished);
  exactly(t, outcome, { status: 'passed' });
});

t.test('a process plays only so many scenarios at once', async (t) => {
  const test = queued({});
  let taken = 0;
  let ended = 0;
  let most = 0;
  const over = () => Promise.resolve(void (ended += 1));
  const queue: TestQueue = {
    take: () => {
      most = Math.max(most, (taken += 1) - ended);
      return Promise.resolve({ ...test, place: taken });
    },
    renew: () => Promise.resolve(true),
    ...QUIET,
    finish: over,
    release: over,
  };
  const loop = await startAgentTests({
    ...partsOf({ parts: { models: thinkingBy(stuck), clock: fast(1000) } }),
    queue,
  });
  t.teardown(() => loop.stop());
  await until('it has taken some', () => taken >= limits.atOnce.process);
  // Long enough for a hundred checks for more. On a busy machine some scenarios time out meanwhile, and others begin.
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.equal(most, limits.atOnce.process);
});

t.test('a process that stops gives back the scenarios that it plays', async (t) => {
  const { loop, state } = await started(t, { parts: { models: thinkingBy(stuck) } });
  await until('it is taken', () => state.taken > 0);
  await loop.stop();
  exactly(t, state, { released: 1, finished: [] });
});

t.test('a scenario that another process has taken is stopped, and nothing of it is stored', async (t) => {
  let asked = false;
  let aborted = false;
  const waits: ChatModel = {
    name: 'test',
    async *chat(_, signal) {
      asked = true;
      signal.addEventListener('abort', () => (aborted = true));
      yield* endless(signal);
    },
  };
  const { loop, state } = await started(t, {
    definition: { max_seconds: 600_000 },
    parts: { models: thinkingBy(waits), clock: fast(1000) },
  });
  await until('the agent is asked', () => asked);
  state.ours = false;
  await until('it is broken off', () => aborted);
  await loop.stop();
  exactly(t, state, { released: 0, finished: [] });
});
