/**
 * Playing scenarios by voice (gateway/agents/agent-tests/voice/converse.ts): places, cancelling, ends of calls, and reports of
 * failures. The call is in memory; its speech is not checked.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from '../../../../../fixtures/tap.js';
import { bytesOf } from '../../../../../../contracts/audio.js';
import { ServiceError } from '../../../../../../contracts/errors.js';
import { LIMITS } from '../../../../../../contracts/limits.js';
import type { TestOutcome, TestQueue } from '../../../../../../contracts/ports/agents/agent-tests.js';
import { TEST_MODES, type TestMode } from '../../../../../../contracts/schemas/agent-tests.js';
import { startAgentTests } from '../../../../../../gateway/agents/agent-tests/loop.js';
import { play } from '../../../../../../gateway/agents/agent-tests/play.js';
import type { VoiceParts } from '../../../../../../gateway/agents/agent-tests/voice/converse.js';
import { fast, memoryQueue, partsOf, queued, type Scene } from '../../../../../fixtures/agent-tests/queue.js';
import { type AgentManner, Answering } from '../../../../../fixtures/agent-tests/answering-line.js';
import { SimulatedClock } from '../../../../../fixtures/clock.js';
import { exactly } from '../../../../../fixtures/exactly.js';
import { until } from '../../../../../fixtures/until.js';
import { standIn } from '../../../../../fixtures/stand-in.js';

const { voice: limits } = LIMITS.agentTest;

// The clock's timers keep nothing alive.
const keepAlive = setInterval(() => undefined, 2 ** 30);
t.teardown(() => clearInterval(keepAlive));

/** A voice whose calls are in memory, and a record of them. */
function voiceOf(manner: AgentManner = {}, more: Partial<VoiceParts> = {}) {
  const line = new Answering(manner);
  const told = { placed: 0, began: 0, closed: 0, over: 0 };
  const voice: VoiceParts = {
    speech: {
      async *synthesize() {
        yield bytesOf(new Int16Array(1000).fill(3000));
      },
    },
    transcription: { transcribe: () => Promise.resolve(standIn({ text: 'heard' })) },
    place: () => {
      told.placed += 1;
      const close = (): Promise<undefined> => {
        told.closed += 1;
        line.end('');
        return Promise.resolve(undefined);
      };
      return Promise.resolve({ sessionId: 'sess', line, close });
    },
    began: () => Promise.resolve((told.began += 1) > 0),
    over: () => Promise.resolve(void (told.over += 1)),
    ...more,
  };
  return { voice, line, told };
}

const VOICE = { mode: 'voice' } as const;

const played = (voice: VoiceParts, { definition = {}, parts = {} }: Scene = {}): Promise<TestOutcome> => {
  const scene = { definition: { ...VOICE, ...definition }, parts: { voice, ...parts } };
  return play(queued(scene), partsOf(scene), new AbortController().signal);
};

const refusing = () => {
  throw new ServiceError('quota_exceeded');
};

t.test("a call's run has the transcript of both sides, and the call's session", async (t) => {
  const { voice, told } = voiceOf();
  const checks = [{ type: 'contains', text: 'heard' }, { type: 'answers_all' }] as const;
  const outcome = await played(voice, { definition: { checks: [...checks] } });
  exactly(t, outcome, { status: 'passed', endedBy: 'user', call: { sessionId: 'sess' } });
  exactly(t, outcome.call?.transcript, [
    { speaker: 'caller', text: 'Hello' },
    { speaker: 'agent', text: 'heard' },
  ]);
  exactly(t, told, { placed: 1, began: 1, over: 1 });
});

t.test('a run cancelled before its call has begun ends the call, and nobody speaks', async (t) => {
  const { voice, line, told } = voiceOf({}, { began: () => Promise.resolve(false) });
  exactly(t, await played(voice), { status: 'error', error: 'The scenario was cancelled', call: null });
  t.same(line.said, []);
  exactly(t, told, { placed: 1, closed: 1, over: 1 });
});

t.test('a scenario that waits too long for a place is an error', async (t) => {
  const clock = new SimulatedClock();
  let asked = 0;
  const place = (): Promise<undefined> => Promise.resolve(void (asked += 1));
  const { voice } = voiceOf({}, { place });
  let outcome: TestOutcome | undefined;
  void played(voice, { parts: { clock } }).then((now) => (outcome = now));
  while (!outcome) {
    await nextTurn();
    clock.advance(1000);
  }
  exactly(t, outcome, {
    status: 'error',
    error: `No place for a call was free for ${limits.placeSeconds} s`,
  });
  t.ok(asked > 1, 'it asks again and again');
});

t.test('a call that takes too long is ended, and its scenario fails', async (t) => {
  const { voice, told } = voiceOf({ answerMs: Infinity });
  const outcome = await played(voice, {
    definition: { max_seconds: 60 },
    parts: { clock: fast(1000) },
  });
  exactly(t, outcome, { status: 'failed', endedBy: 'time_limit', call: { sessionId: 'sess' } });
  t.ok(told.closed > 0);
});

t.test("a scenario's error names the side that failed", async (t) => {
  const failing = (how: Partial<VoiceParts>) => played(voiceOf({}, how).voice);
  exactly(t, await failing({ place: () => Promise.resolve().then(refusing) }), {
    status: 'error',
    error: /^The call could not begin: /,
  });
  exactly(t, await failing({ speech: { synthesize: refusing } }), {
    status: 'error',
    error: /^The caller could not speak: /,
  });
  exactly(t, await failing({ transcription: { transcribe: () => Promise.resolve().then(refusing) } }), {
    status: 'error',
    error: /^What the agent said was not recognised: /,
  });
  const { voice, line } = voiceOf();
  setImmediate(() => line.end('transport_failed'));
  exactly(t, await played(voice), { status: 'error', error: 'The call broke off' });
  const scene = { definition: VOICE };
  exactly(t, await play(queued(scene), partsOf(scene), new AbortController().signal), {
    status: 'error',
    error: /livekit mode/,
  });
});

t.test('only so many calls of tests run at once, and scenarios by text are not held up', async (t) => {
  const { voice } = voiceOf({}, { place: () => Promise.resolve(undefined) });
  const test = queued({ definition: VOICE });
  const asked: (readonly TestMode[])[] = [];
  let taken = 0;
  const { queue: rest } = memoryQueue(test);
  const queue: TestQueue = {
    ...rest,
    take(_, modes = TEST_MODES) {
      asked.push(modes);
      return Promise.resolve(modes.includes('voice') ? { ...test, place: taken++ } : undefined);
    },
  };
  const loop = await startAgentTests({ ...partsOf({ parts: { voice, clock: fast(100) } }), queue });
  t.teardown(() => loop.stop());
  await until('it looks for text alone', () => asked.at(-1)?.includes('voice') === false);
  t.equal(taken, limits.atOnce);
  t.same(asked.at(-1), ['text']);
});

t.test(
  'a process that stops ends the calls of its scenarios, which are errors, as a call cannot be resumed',
  async (t) => {
    const { voice, told } = voiceOf({ answerMs: Infinity });
    const scene = { definition: VOICE, parts: { voice } };
    const { queue, state } = memoryQueue(queued(scene));
    const loop = await startAgentTests({ ...partsOf(scene), queue });
    await until('it calls', () => told.began > 0);
    await loop.stop();
    exactly(t, state, {
      released: 0,
      finished: [{ status: 'error', error: /stopped before the call was over/ }],
    });
    exactly(t, told, { over: 1 });
  },
);
