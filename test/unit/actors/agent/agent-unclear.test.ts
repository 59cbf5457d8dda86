/** A voice without words, to which the agent has listened: it is "(unclear)", and the agent asks (actors/agent/turns/stretches.ts). */
import t from '../../../fixtures/tap.js';
import { MOST_UNCLEAR_TURNS, TIMES } from '../../../../actors/agent/times.js';
import { Steps } from '../../../fixtures/actors/agent-steps.js';
import { exactly } from '../../../fixtures/exactly.js';
import { answering, LONG, Scene } from '../../../fixtures/actors/scene.js';

const ANSWER = 'agent: one two three four five six';
/** Longer than a cough. */
const LONG_MS = TIMES.unclearMs + 200;
const SHORT_MS = TIMES.unclearMs - 100;

/** The user makes a sound of `ms` without a word: effects of the answer, if there is any. */
const sound = (steps: Steps, ms: number): string[] => {
  steps.took();
  steps.voice(true).pass(ms).send({ type: 'voice', active: false, at: steps.clock.now(), silentMs: 0 });
  return steps.final('').pass(3000).took('message', 'reply', 'endOfTurn', 'cancel', 'pause', 'excuse');
};

t.test('a voice without words becomes a message that says so, and is answered', async (t) => {
  t.strictSame(sound(new Steps(), LONG_MS), [
    'endOfTurn tables open 1350',
    'message (unclear)',
    'reply 1 turn aloud',
  ]);
});

t.test('a sound as short as a cough stays without effect', async (t) => {
  t.strictSame(sound(new Steps(), SHORT_MS), []);
  t.strictSame(
    sound(new Steps(), TIMES.unclearMs - TIMES.noticedMs - 1),
    [],
    'it began a moment before it was noticed',
  );
  exactly(t, sound(new Steps(), TIMES.unclearMs - TIMES.noticedMs), [
    /^endOfTurn/,
    'message (unclear)',
    /^reply/,
  ]);
});

t.test('silence that a detector has heard before it reports an end is no voice', async (t) => {
  const steps = new Steps().voice(true).pass(LONG_MS);
  const heard = (silentMs?: number): string[] => {
    steps.send({ type: 'voice', active: false, at: steps.clock.now(), ...(silentMs && { silentMs }) });
    return steps.final('').pass(3000).took('message');
  };
  t.strictSame(heard(400), []);
  steps.voice(true).pass(600);
  t.strictSame(heard(), [], 'a quarter of a second, if it is not known');
});

t.test('a part of a turn that was not understood is marked where it was said', async (t) => {
  const scene = new Scene().say('Five five five.').pause(400).say('', LONG_MS).pause(400);
  scene.say('Eight one zero nine.').pause(8000);
  t.same(scene.told, ['user: Five five five. (unclear) Eight one zero nine.', ANSWER]);
  const last = new Scene().say('Five five five.').pause(400).say('', LONG_MS).pause(8000);
  t.same(last.told, ['user: Five five five. (unclear)', ANSWER], 'at its end, too');
  const twice = new Scene().say('', LONG_MS).pause(400).say('', LONG_MS).pause(8000);
  t.same(twice.told, ['user: (unclear)', ANSWER], 'once for what follows each other');
});

t.test('an unclear part that follows while the agent thinks belongs to the turn', async (t) => {
  const scene = new Scene({}, { thinkMs: 3000 }).say('What time is it?').pause(1500);
  scene.say('', LONG_MS).pause(9000);
  t.same(scene.told, ['user: What time is it? (unclear)', ANSWER]);
  const called = new Scene({}, { thinkMs: 5000 }).say('What time is it?').pause(1500);
  called.actor.send({ type: 'acted', job: 1 });
  called.say('', LONG_MS).pause(9000);
  t.same(called.told, ['user: What time is it?', ANSWER], 'not once its tools have been called');
});

t.test('the agent asks twice in a row, then waits for words', async (t) => {
  const steps = new Steps();
  const asked = (): boolean => sound(steps, LONG_MS).length > 0;
  const answered = (): void => void steps.job('audible').job('ended');
  for (let times = 0; times < MOST_UNCLEAR_TURNS; times += 1) {
    t.ok(asked(), `time ${times + 1}`);
    answered();
  }
  t.notOk(asked());
  t.notOk(asked());
  steps.say('A table, please.').pass(3000);
  answered();
  t.ok(asked(), 'again, once it has understood something');
});

t.test('a voice without words is neither a failure nor a sign of life', async (t) => {
  const steps = new Steps();
  steps.type('One.').job('failed').job('audible').job('ended');
  steps.type('Two.').job('failed').job('audible').job('ended');
  exactly(
    t,
    sound(steps, LONG_MS),
    [/^endOfTurn/, 'message (unclear)', /^reply/],
    'two answers have failed before',
  );
  const scene = new Scene({ reengage: true, hangsUp: true, maxDurationMs: 3_600_000 });
  for (let times = 0; times < 10; times += 1) scene.pause(40_000).say('', LONG_MS).pause(40_000);
  t.equal(scene.told.at(-1), 'end: agent_hangup', 'and who is only noise is said goodbye to');
});

t.test('over an agent that speaks a voice without words changes nothing', async (t) => {
  for (const sensitivity of ['low', 'balanced', 'high'] as const) {
    const scene = answering({ sensitivity }).say('', 1500).pause(12_000);
    t.same(scene.told, ['user: Please count to twelve.', `agent: ${LONG}`], sensitivity);
  }
  const steps = new Steps().answering().voice(true).pass(200).job('ended').pass(LONG_MS).voice(false);
  t.strictSame(
    steps.final('').pass(3000).took('message'),
    ['message Count. typed'],
    'nor if it ends behind it',
  );
});

t.test("behind the agent's last words it may be an answer", async (t) => {
  const steps = new Steps().answering().job('ending').voice(true).pass(300).job('ended').pass(LONG_MS);
  steps.took();
  t.strictSame(steps.voice(false).final('').pass(3000).took('message', 'reply'), [
    'message (unclear)',
    'reply 2 turn aloud',
  ]);
});

t.test("the agent's own voice, and a noise that goes on, are nothing unclear", async (t) => {
  const echo = new Steps().voice(true).pass(1000).voice(false);
  echo.send({ type: 'transcript', span: 1, text: '', final: true, echo: true });
  t.strictSame(echo.pass(3000).took('message', 'reply'), []);
  const hum = new Steps().voice(true);
  for (let guess = 0; guess < 3; guess += 1) hum.pass(600).guess('');
  t.strictSame(hum.voice(false).final('').pass(3000).took('message', 'reply'), []);
});

t.test('a part that is understood together with the next one is not unclear', async (t) => {
  const steps = new Steps().voice(true).pass(1000).voice(false).final('').pass(300);
  steps.voice(true).pass(1000).voice(false);
  steps.send({ type: 'transcript', span: 2, text: '830 551.', final: true, joins: 1 }).pass(3000);
  t.strictSame(steps.took('beginSpan', 'message'), ['beginSpan 1', 'beginSpan 2 1', 'message 830 551.']);
});

t.test('words that a recogniser which failed did not hear are marked as unclear', async (t) => {
  const steps = new Steps().say('Five five five.').pass(300).voice(true).pass(1000).voice(false);
  steps.send({ type: 'transcript', span: 2, text: '', final: true, lost: true }).pass(3000);
  t.strictSame(steps.took('message', 'reply', 'excuse'), [
    'message Five five five. (unclear)',
    'reply 1 turn aloud',
  ]);
  const alone = (ms: number): string[] => {
    const deaf = new Steps().voice(true).pass(ms).voice(false);
    deaf.send({ type: 'transcript', span: 1, text: '', final: true, lost: true }).pass(3000);
    return deaf.took('message', 'reply', 'excuse');
  };
  t.strictSame(alone(1000), ['message (unclear)', 'excuse 1 aloud understood']);
  t.strictSame(alone(300), ['excuse 1 aloud understood'], 'even a word may have been missed');
});
