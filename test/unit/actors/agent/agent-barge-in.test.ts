/**
 * Barge-in, as scenarios on the simulated clock: the user's first sound holds the agent, which resumes where it stopped, or
 * is interrupted by words that will not change.
 */
import t from '../../../fixtures/tap.js';
import type { AgentEffect } from '../../../../actors/agent/events.js';
import type { AgentSettings, Sensitivity } from '../../../../actors/agent/settings.js';
import { TIMES } from '../../../../actors/agent/times.js';
import { exactly } from '../../../fixtures/exactly.js';
import { answering, effectsOf, LONG, Scene } from '../../../fixtures/actors/scene.js';

const SENSITIVITIES = ['low', 'balanced', 'high'] as const satisfies Sensitivity[];

const jobOf = (scene: Scene): number => scene.actor.getSnapshot().context.job;
const isCancelled = (effects: readonly AgentEffect[]): boolean =>
  effects.some(({ type }) => type === 'cancel');

t.test("the user's first sound pauses the agent, except at low sensitivity", async (t) => {
  for (const sensitivity of SENSITIVITIES) {
    const scene = answering({ sensitivity }).voice(true);
    t.equal(scene.agentSpeaks, sensitivity === 'low', sensitivity);
  }
});

t.test('after a cough or a backchannel the agent resumes at the word where it paused', async (t) => {
  for (const [sound, ms] of [
    ['', 300],
    ['', 900],
    ['mm-hm', 350],
    ['Yeah, okay.', 600],
    ['M. H. M.', 780],
    ['Mm-mm-hmm.', 780],
    ['Um, right.', 600],
    ['Uh huh.', 300],
    ['That makes sense.', 990],
  ] as const) {
    const scene = answering().say(sound, ms);
    t.notOk(scene.agentSpeaks, `"${sound}", ${ms} ms: held`);
    t.equal(scene.pause(8000).told[1], `agent: ${LONG}`, 'all of it is heard');
    t.equal(scene.silences.length, 1, 'after one pause');
  }
});

t.test('each cough pauses the agent, and after each it resumes', async (t) => {
  const scene = answering();
  for (let cough = 0; cough < 3; cough += 1) scene.say('', 250).pause(700);
  t.equal(scene.silences.length, 3);
  t.equal(scene.pause(6000).told[1], `agent: ${LONG}`);
});

t.test('a cough pauses the first message, which then resumes and is heard whole', async (t) => {
  const scene = new Scene({ opening: { mode: 'fixed', text: LONG } }).pause(1000).say('', 400);
  t.notOk(scene.agentSpeaks);
  t.same(scene.pause(8000).told, [`agent: ${LONG}`]);
});

t.test('words in two partial transcripts interrupt the agent while the user still speaks', async (t) => {
  const words: Record<Sensitivity, string> = {
    low: 'I want another room',
    balanced: 'another room',
    high: 'another',
  };
  for (const sensitivity of SENSITIVITIES) {
    const scene = answering({ sensitivity });
    const effects = effectsOf(scene);
    scene.voice(true).guess(`${words[sensitivity]} w`);
    t.notOk(isCancelled(effects), `${sensitivity}: one guess holds it`);
    t.notOk(scene.agentSpeaks);
    scene.pause(300).guess(`${words[sensitivity]} with`);
    t.ok(isCancelled(effects), `${sensitivity}: two guesses`);
  }
});

t.test('fewer words than the sensitivity asks for interrupt nothing before they are final', async (t) => {
  for (const [sensitivity, few] of [
    ['low', 'another room please'],
    ['balanced', 'another'],
  ] as const) {
    const scene = answering({ sensitivity });
    const effects = effectsOf(scene);
    scene.voice(true).guess(few).pause(300).guess(few).pause(300).guess(few);
    t.notOk(isCancelled(effects), sensitivity);
  }
});

t.test('a command in two partial transcripts interrupts the agent at every sensitivity', async (t) => {
  for (const sensitivity of SENSITIVITIES)
    for (const command of ['Stop.', 'Wait.', 'No, no.', 'Hold on.', '等一下']) {
      const scene = answering({ sensitivity });
      const effects = effectsOf(scene);
      scene.voice(true).guess(command).pause(300).guess(command);
      t.ok(isCancelled(effects), `${sensitivity}: ${command}`);
    }
});

t.test('partial transcripts that change, and backchannels, do not interrupt the agent', async (t) => {
  for (const guesses of [
    ['write it there', 'right at the', 'but either way'],
    ['yeah okay', 'yeah okay', 'yeah okay right'],
    ['That makes', 'That makes', 'That makes sense'],
    ['M. H.', 'M. H.', 'M. H. M.'],
  ]) {
    const scene = answering();
    const effects = effectsOf(scene);
    scene.voice(true);
    for (const guess of guesses) scene.guess(guess).pause(300);
    t.notOk(isCancelled(effects), `${guesses[0]}`);
  }
});

t.test('backchannel words in another order interrupt the agent, and are answered', async (t) => {
  for (const words of ['Is that all?', 'I got that.', 'Right now it is of no use.', 'So, see it?']) {
    const scene = answering().say(words, 900).pause(9000);
    t.match(scene.told[1], /^agent: one/, words);
    t.equal(scene.told[2], `user: ${words}`);
    t.equal(scene.told[3], `agent: ${LONG}`, 'it is answered');
  }
});

t.test('a backchannel that is transcribed late pauses the agent longer, and all is heard', async (t) => {
  const scene = answering({}, { hearMs: 3000 }).say('Okay.', 540).pause(2500);
  t.notOk(scene.agentSpeaks, 'nobody knows yet');
  t.same(scene.pause(9000).told.slice(1), [`agent: ${LONG}`, 'user (agrees): Okay.']);
});

t.test('an interruption is one message with one answer, and the record keeps what was heard', async (t) => {
  for (const sensitivity of SENSITIVITIES) {
    const scene = answering({ sensitivity }).say('No please start again with seven.').pause(9000);
    t.match(scene.told[1], /^agent: one two/, sensitivity);
    t.same(scene.told.slice(2), ['user: No please start again with seven.', `agent: ${LONG}`], sensitivity);
  }
});

/** An agent that two equal partial transcripts interrupt, of a sound that turns out to have no words. */
function brokenOff(settings: Partial<AgentSettings> = {}): { scene: Scene; effects: AgentEffect[] } {
  const scene = answering(settings);
  const effects = effectsOf(scene);
  scene.voice(true).guess('stop it now').pause(300).guess('stop it now').voice(false);
  return { scene, effects };
}

t.test('an agent interrupted by misheard partial transcripts goes on with what it said', async (t) => {
  for (const sensitivity of SENSITIVITIES) {
    const { scene, effects } = brokenOff({ sensitivity });
    t.ok(isCancelled(effects));
    scene.pause(8000);
    const replies = effects.filter(({ type }) => type === 'reply');
    exactly(t, replies, [{ cause: 'continue' }], sensitivity);
    t.equal(replies.length, 1);
    t.notOk(
      scene.told.slice(1).some((line) => line.startsWith('user')),
      'nothing was said',
    );
  }
});

t.test('an agent interrupted by mistake while a question waits answers the question', async (t) => {
  const scene = answering({ sensitivity: 'low' }).say('In a minute.', 900).pause(700);
  const effects = effectsOf(scene);
  scene.voice(true).guess('stop it now').pause(300).guess('stop it now').voice(false).pause(8000);
  exactly(
    t,
    effects.filter(({ type }) => type === 'reply'),
    [{ cause: 'turn' }],
  );
});

t.test('a typed message or `interrupt` keeps a mistakenly interrupted agent from resuming', async (t) => {
  const typed = brokenOff().scene;
  typed.actor.send({ type: 'typed', text: 'shorter', aloud: true });
  t.same(typed.pause(8000).told.slice(2), ['user: shorter', `agent: ${LONG}`]);
  const { scene, effects } = brokenOff();
  scene.actor.send({ type: 'interrupt' });
  scene.pause(8000);
  t.notOk(effects.some(({ type }) => type === 'reply'));
});

t.test("a user who interrupts the agent's goodbye keeps the call", async (t) => {
  const scene = new Scene({}, { hangsUp: true, reply: LONG }).say('That is all.').untilAgentSpeaks();
  scene.pause(1000).say('Wait, one more question please.').pause(1000);
  t.notOk(scene.told.some((line) => line.startsWith('end')));
});

t.test('an agent that may not be interrupted is neither paused nor interrupted', async (t) => {
  const scene = answering({ interruptible: false, sensitivity: 'high' });
  const effects = effectsOf(scene);
  scene.voice(true).guess('stop it now').pause(300).guess('stop it now please').pause(300);
  t.ok(scene.agentSpeaks);
  t.notOk(isCancelled(effects));
});

t.test("a user who answers during a question's last words does not pause it, and is answered", async (t) => {
  for (const sensitivity of ['low', 'balanced'] as const) {
    const scene = new Scene({ sensitivity }, { reply: 'Shall I book it for you now' });
    const ms = 7 * 300 - TIMES.endingMs + 150;
    scene.say('A table please.').untilAgentSpeaks().pause(ms).say('Yes.', 300).pause(6000);
    t.same(scene.silences, [], `${sensitivity}: all of the question is heard`);
    t.same(
      scene.told.slice(1),
      ['agent: Shall I book it for you now', 'user: Yes.', 'agent: Shall I book it for you now'],
      sensitivity,
    );
  }
});

t.test("a command during the agent's last words interrupts them once it is transcribed", async (t) => {
  const scene = new Scene({}, { reply: 'I book it for you now', msPerWord: 900 });
  scene.say('A table please.').untilAgentSpeaks().pause(4600);
  const effects = effectsOf(scene);
  scene.voice(true);
  t.ok(scene.agentSpeaks);
  scene.guess('no').pause(200).guess('no');
  t.ok(isCancelled(effects));
});

t.test("a late report of an earlier job's last words does not keep the agent from pausing", async (t) => {
  const scene = answering();
  scene.actor.send({ type: 'ending', job: jobOf(scene) - 1 });
  t.notOk(scene.voice(true).agentSpeaks, 'it is held');
});

t.test('an agent that hears its own echo is paused by words, and not by sounds', async (t) => {
  for (const sensitivity of ['balanced', 'high'] as const) {
    const scene = answering({ sensitivity });
    scene.actor.send({ type: 'echo' });
    scene.voice(true);
    t.ok(scene.agentSpeaks, sensitivity);
    scene.guess('I want another room').pause(100);
    t.notOk(scene.agentSpeaks, `${sensitivity}: words`);
  }
});

t.test('an agent that hears its own echo is still interrupted by final words', async (t) => {
  const scene = answering();
  scene.actor.send({ type: 'echo' });
  scene.say('No please start again with seven.').pause(9000);
  t.same(scene.told.slice(2), ['user: No please start again with seven.', `agent: ${LONG}`]);
});
