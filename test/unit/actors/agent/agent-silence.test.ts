/** Silence and the end of a conversation: re-engagement, goodbye, and the longest duration, on the simulated clock. */
import t from '../../../fixtures/tap.js';
import { REENGAGE_MS, TIMES } from '../../../../actors/agent/times.js';
import { STATEMENT_MS, Steps } from '../../../fixtures/actors/agent-steps.js';
import { exactly } from '../../../fixtures/exactly.js';
import { answering, LONG, Scene } from '../../../fixtures/actors/scene.js';

t.test('a sound of the user postpones the re-engagement', async (t) => {
  const scene = new Scene({ reengage: true });
  for (let times = 0; times < 5; times += 1) scene.pause(REENGAGE_MS[0] - 2000).say('', 400);
  t.same(scene.told, []);
});

t.test('in silence the agent re-engages the user repeatedly if it may, else never', async (t) => {
  const [first, second, third, last] = REENGAGE_MS as [number, number, number, number];
  const scene = new Scene({ reengage: true, maxDurationMs: 3_600_000 }, { reply: 'There?' });
  const prompts = (): number => scene.told.length;
  for (const [times, silence] of [first, second, third, last, last].entries()) {
    scene.pause(silence - 100);
    t.equal(prompts(), times, `not before ${silence} ms`);
    // The model and the spoken word take half a second.
    scene.pause(600);
    t.equal(prompts(), times + 1, `prompt ${times + 1}`);
  }
  t.same(new Scene({ reengage: false, hangsUp: true }).pause(200_000).told, []);
});

/** Milliseconds of silence in which all prompts are said, each with the time that saying it takes. */
const ALL_PROMPTS = REENGAGE_MS.reduce((sum, ms) => sum + ms + 600, 0);

t.test('in silence an agent that may hang up says goodbye in the end', async (t) => {
  const scene = new Scene({ reengage: true, hangsUp: true }, { reply: 'Hello' }).pause(ALL_PROMPTS);
  t.same(scene.told, ['agent: Hello', 'agent: Hello', 'agent: Hello', 'agent: Hello', 'end: agent_hangup']);
});

t.test('a user who answers a re-engagement restarts the times of silence', async (t) => {
  const scene = new Scene({ reengage: true, hangsUp: true }, { reply: 'Hello' });
  scene
    .pause(ALL_PROMPTS - 30_000)
    .say('I am still looking.')
    .pause(5000);
  t.equal(scene.told.at(-2), 'user: I am still looking.');
  scene.pause(ALL_PROMPTS - 30_000);
  t.notOk(
    scene.told.some((line) => line.startsWith('end')),
    'all prompts are ahead again',
  );
});

t.test('a user who speaks before the goodbye is heard keeps the call', async (t) => {
  const scene = new Scene({ reengage: true, hangsUp: true }, { reply: 'Hello', thinkMs: 3000 });
  scene
    .pause(REENGAGE_MS.reduce((sum, ms) => sum + ms, 0) + 3 * 3300 + 1000)
    .say('I am back.')
    .pause(20_000);
  t.same(scene.told.slice(3, 5), ['user: I am back.', 'agent: Hello']);
  t.notOk(scene.told.includes('end: agent_hangup'));
});

t.test(
  'an endless sound without words keeps the agent neither from re-engaging nor from hanging up',
  async (t) => {
    const scene = new Scene({ reengage: true, hangsUp: true }).voice(true).pause(600);
    for (let guess = 0; guess < 3; guess += 1) scene.guess('').pause(600);
    scene.pause(200_000);
    t.same(scene.causes.at(-1), 'farewell');
    t.equal(scene.told.at(-1), 'end: agent_hangup');
  },
);

t.test('activity of the user at the client postpones the re-engagement', async (t) => {
  const scene = new Scene({ reengage: true });
  for (let times = 0; times < 5; times += 1) {
    scene.pause(REENGAGE_MS[0] - 1000);
    scene.actor.send({ type: 'activity' });
  }
  t.same(scene.told, []);
});

t.test('when the user hangs up in mid-word, nothing follows and no timer is left', async (t) => {
  const scene = answering({ sensitivity: 'balanced' });
  scene.actor.send({ type: 'left' });
  t.equal(scene.told.at(-1), 'end: user_hangup');
  const { length } = scene.told;
  t.equal(scene.pause(60_000).told.length, length);
  t.equal(scene.clock.pending, 0, 'no timer is left');
});

t.test('an agent that hangs up ends the call when its last words have been heard', async (t) => {
  const scene = new Scene({}, { hangsUp: true, reply: 'Good bye' }).say('That is all.').pause(6000);
  t.same(scene.told, ['user: That is all.', 'agent: Good bye', 'end: agent_hangup']);
});

t.test('a call of less than a minute ends at its longest duration, without a warning', async (t) => {
  const scene = new Scene({ maxDurationMs: 40_000 }).pause(40_010);
  t.same(scene.told, ['end: conversation_timeout'], 'a short one without a warning');
});

t.test('the user is warned once before the longest duration ends', async (t) => {
  const scene = new Scene({ maxDurationMs: 120_000 }).pause(120_000 - TIMES.warnMs - 100);
  t.same(scene.told, []);
  t.same(scene.pause(3000).told, ['agent: Half a minute left.']);
  t.same(scene.pause(TIMES.warnMs).told, ['agent: Half a minute left.', 'end: conversation_timeout'], 'once');
});

t.test('the warning of the longest duration waits until nobody speaks', async (t) => {
  const scene = new Scene({ maxDurationMs: 120_000 }).pause(120_000 - TIMES.warnMs - 1000);
  scene.say('How long may I talk with you today?').pause(8000);
  t.same(scene.told, [
    'user: How long may I talk with you today?',
    'agent: one two three four five six',
    'agent: Half a minute left.',
  ]);
});

t.test('at the longest duration the agent finishes its sentence, and the call ends', async (t) => {
  const scene = new Scene({ maxDurationMs: 60_000 }, { reply: LONG });
  scene
    .pause(60_000 - TIMES.lastWordsMs - 3000)
    .say('Please count.')
    .pause(10_000);
  // Sentences of the simulated agent are two words long.
  t.match(scene.told.at(-2), /^agent: one two( three four)?( five six)?$/);
  t.equal(scene.told.at(-1), 'end: conversation_timeout');
  t.ok(scene.clock.now() < 62_000);
});

t.test('a call never exceeds its longest duration, whatever the agent says', async (t) => {
  const scene = new Scene({ maxDurationMs: 60_000 }, { reply: LONG, msPerWord: 5000 });
  scene
    .pause(50_000)
    .say('Please count slowly.')
    .pause(60_000 - scene.clock.now() - 10);
  t.notOk(scene.told.some((line) => line.startsWith('end')));
  t.equal(scene.pause(20).told.at(-1), 'end: conversation_timeout');
});

/** Brings the agent to ask whether the user is there, and says it to its end. */
const asked = (steps: Steps, times = 1): Steps => {
  for (const ms of REENGAGE_MS.slice(0, times)) steps.pass(ms).job('audible').job('ended');
  return steps;
};

t.test('the model is told that each prompt is a re-engagement, and the last a goodbye', async (t) => {
  const steps = asked(new Steps({ reengage: true, hangsUp: true }), 3).pass(REENGAGE_MS[3]!);
  t.strictSame(steps.took('reply'), [
    'reply 1 reengage aloud',
    'reply 2 reengage aloud',
    'reply 3 reengage aloud',
    'reply 4 farewell aloud',
  ]);
  t.strictSame(steps.job('ended').took('end'), ['end agent_hangup']);
});

/** What shows that the user is there, up to the agent's next silence. */
const PRESENT: Readonly<Record<string, (steps: Steps) => Steps>> = {
  'a typed message': (steps) => steps.type('Hello').job('audible').job('ended'),
  words: (steps) => steps.say('I am here.').pass(STATEMENT_MS).job('audible').job('ended'),
  'words that interrupt': (steps) =>
    steps
      .pass(REENGAGE_MS[1]!)
      .job('audible')
      .pass(100)
      .say('I am here.')
      .pass(STATEMENT_MS)
      .job('audible')
      .job('ended'),
  agreement: (steps) =>
    steps.pass(REENGAGE_MS[1]!).job('audible').pass(100).say('okay').pass(1700).job('ended'),
};
const DRAFTED: typeof PRESENT = {
  'words that were drafted an answer to': (steps) =>
    steps.say('I am here.').job('audible').pass(STATEMENT_MS).job('ended'),
  'words whose draft failed': (steps) =>
    steps.say('I am here.').job('failed').pass(STATEMENT_MS).job('ended'),
  'words whose draft was empty': (steps) => steps.say('I am here.').job('ended').pass(STATEMENT_MS),
};

t.test('words, typing and backchannels restart the re-engagement, and noise does not', async (t) => {
  for (const drafts of [false, true])
    for (const [what, shows] of Object.entries(drafts ? DRAFTED : PRESENT)) {
      const steps = shows(asked(new Steps({ reengage: true, drafts }), 1));
      steps.took();
      t.strictSame(steps.pass(REENGAGE_MS[0] - 10).took('reply'), [], what);
      exactly(t, steps.pass(20).took('reply'), [/^reply \d+ reengage/], what);
    }
  const waiting = asked(new Steps({ reengage: true, sensitivity: 'low' }), 1).pass(REENGAGE_MS[1]!);
  waiting
    .job('audible')
    .pass(100)
    .say('In a minute.')
    .pass(STATEMENT_MS)
    .job('ended')
    .job('audible')
    .job('ended')
    .took();
  exactly(t, waiting.pass(REENGAGE_MS[0] + 10).took('reply'), [/reengage/], 'a question that waits');
  const noise = asked(new Steps({ reengage: true }), 1)
    .say('')
    .pass(2000);
  noise.took();
  t.strictSame(noise.pass(REENGAGE_MS[0] + 10).took('reply'), [], 'a sound without words does not');
});

t.test('a user who speaks for long is neither re-engaged nor said goodbye to', async (t) => {
  for (const times of [0, 3]) {
    const steps = asked(new Steps({ reengage: true, hangsUp: true, maxDurationMs: 3_600_000 }), times);
    steps.took();
    steps.voice(true);
    for (let word = 0; word < 70; word += 1) steps.pass(1000).guess(`word ${word} and`);
    t.strictSame(steps.took('reply'), []);
  }
});

t.test('the agent does not speak to a disconnected user, and does after a reconnect', async (t) => {
  const drop = (steps: Steps) => steps.send({ type: 'disconnected' });
  const back = (steps: Steps) => steps.send({ type: 'connected' });
  const news = drop(new Steps()).send({ type: 'news' }).pass(1000);
  t.strictSame(news.took('reply'), []);
  t.strictSame(back(news).took('reply'), ['reply 1 news aloud']);
  const warned = drop(new Steps({ maxDurationMs: 120_000 }).pass(85_000)).pass(10_000);
  t.strictSame(warned.took('warn'), []);
  t.strictSame(back(warned).took('warn'), ['warn 1']);
  const silent = drop(new Steps({ reengage: true })).pass(REENGAGE_MS[0] + 5000);
  t.strictSame(silent.took('reply'), []);
  t.strictSame(back(silent).pass(REENGAGE_MS[0]).took('reply'), ['reply 1 reengage aloud']);
  const leaving = asked(new Steps({ reengage: true, hangsUp: true }), 3).pass(REENGAGE_MS[3]! - 5000);
  leaving.took();
  t.strictSame(drop(leaving).pass(10_000).took('reply'), [], 'nor is a goodbye said');
});

t.test("a tool's news wait for a sound to end, but no longer than TIMES.noiseMs", async (t) => {
  const steps = new Steps()
    .voice(true)
    .send({ type: 'news' })
    .pass(TIMES.noiseMs - 10);
  t.strictSame(steps.took('reply'), []);
  t.strictSame(steps.pass(20).took('reply'), ['reply 1 news aloud']);
});

t.test('a call whose longest duration is under a minute gets no warning', async (t) => {
  const warned = (maxDurationMs: number) => new Steps({ maxDurationMs }).pass(maxDurationMs - 1).took('warn');
  t.strictSame(warned(2 * TIMES.warnMs), ['warn 1']);
  t.strictSame(warned(2 * TIMES.warnMs - 1), []);
});
