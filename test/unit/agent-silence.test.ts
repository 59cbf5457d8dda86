/** Silence and the end of a conversation: re-engagement, goodbye, and the longest duration, on the simulated clock. */
import t from 'tap';
import { REENGAGE_MS, TIMES } from '../../actors/agent/times.js';
import { answering, LONG, Scene } from '../fixtures/scene.js';

t.test('a sound of the user puts the re-engagement off', async (t) => {
  const scene = new Scene({ reengage: true });
  for (let times = 0; times < 5; times += 1) scene.pause(REENGAGE_MS[0] - 2000).say('', 400);
  t.same(scene.told, []);
});

t.test('silence: the agent speaks up again and again where it may, and never where it may not', async (t) => {
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

t.test('silence: an agent that may hang up says goodbye in the end', async (t) => {
  const scene = new Scene({ reengage: true, hangsUp: true }, { reply: 'Hello' }).pause(ALL_PROMPTS);
  t.same(scene.told, ['agent: Hello', 'agent: Hello', 'agent: Hello', 'agent: Hello', 'end: agent_hangup']);
});

t.test('silence: whoever answers a prompt begins the silence anew', async (t) => {
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

t.test('silence: a user who speaks before the goodbye is heard stays', async (t) => {
  const scene = new Scene({ reengage: true, hangsUp: true }, { reply: 'Hello', thinkMs: 3000 });
  scene
    .pause(REENGAGE_MS.reduce((sum, ms) => sum + ms, 0) + 3 * 3300 + 1000)
    .say('I am back.')
    .pause(20_000);
  t.same(scene.told.slice(3, 5), ['user: I am back.', 'agent: Hello']);
  t.notOk(scene.told.includes('end: agent_hangup'));
});

t.test(
  'silence: a sound that goes on for ever keeps no agent from asking, and from hanging up',
  async (t) => {
    const scene = new Scene({ reengage: true, hangsUp: true }).voice(true).pause(600);
    for (let guess = 0; guess < 3; guess += 1) scene.guess('').pause(600);
    scene.pause(200_000);
    t.same(scene.causes.at(-1), 'farewell');
    t.equal(scene.told.at(-1), 'end: agent_hangup');
  },
);

t.test('activity of the user puts the re-engagement off', async (t) => {
  const scene = new Scene({ reengage: true });
  for (let times = 0; times < 5; times += 1) {
    scene.pause(REENGAGE_MS[0] - 1000);
    scene.actor.send({ type: 'activity' });
  }
  t.same(scene.told, []);
});

t.test('hang-up in mid-word: nothing follows', async (t) => {
  const scene = answering({ sensitivity: 'balanced' });
  scene.actor.send({ type: 'left' });
  t.equal(scene.told.at(-1), 'end: user_hangup');
  const { length } = scene.told;
  t.equal(scene.pause(60_000).told.length, length);
  t.equal(scene.clock.pending, 0, 'no timer is left');
});

t.test('the agent hangs up when its last words have been heard', async (t) => {
  const scene = new Scene({}, { hangsUp: true, reply: 'Good bye' }).say('That is all.').pause(6000);
  t.same(scene.told, ['user: That is all.', 'agent: Good bye', 'end: agent_hangup']);
});

t.test('the longest duration ends the call', async (t) => {
  const scene = new Scene({ maxDurationMs: 40_000 }).pause(40_010);
  t.same(scene.told, ['end: conversation_timeout'], 'a short one without a warning');
});

t.test('the longest duration: the user is warned before it ends', async (t) => {
  const scene = new Scene({ maxDurationMs: 120_000 }).pause(120_000 - TIMES.warnMs - 100);
  t.same(scene.told, []);
  t.same(scene.pause(3000).told, ['agent: Half a minute left.']);
  t.same(scene.pause(TIMES.warnMs).told, ['agent: Half a minute left.', 'end: conversation_timeout'], 'once');
});

t.test('the longest duration: the warning waits until nobody speaks', async (t) => {
  const scene = new Scene({ maxDurationMs: 120_000 }).pause(120_000 - TIMES.warnMs - 1000);
  scene.say('How long may I talk with you today?').pause(8000);
  t.same(scene.told, [
    'user: How long may I talk with you today?',
    'agent: one two three four five six',
    'agent: Half a minute left.',
  ]);
});

t.test('the longest duration: the agent finishes its sentence, and the call ends with it', async (t) => {
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

t.test('the longest duration is never exceeded, whatever the agent says', async (t) => {
  const scene = new Scene({ maxDurationMs: 60_000 }, { reply: LONG, msPerWord: 5000 });
  scene
    .pause(50_000)
    .say('Please count slowly.')
    .pause(60_000 - scene.clock.now() - 10);
  t.notOk(scene.told.some((line) => line.startsWith('end')));
  t.equal(scene.pause(20).told.at(-1), 'end: conversation_timeout');
});
