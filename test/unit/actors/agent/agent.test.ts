/**
 * Conversations, each a scenario on the simulated clock: the four overlap classes of Full-Duplex-Bench 1.5 at each
 * sensitivity, and what users of voice agents complain of (docs/contract/transport.md).
 */
import t from '../../../fixtures/tap.js';
import { TIMES } from '../../../../actors/agent/times.js';
import type { AgentEffect } from '../../../../actors/agent/events.js';
import type { AgentSettings, Sensitivity } from '../../../../actors/agent/settings.js';
import { ENDPOINTING_MS } from '../../../../actors/agent/turns/endpointing.js';
import { exactly } from '../../../fixtures/exactly.js';
import { answering, LONG, Scene, type SceneOptions } from '../../../fixtures/actors/scene.js';

const SENSITIVITIES = ['low', 'balanced', 'high'] as const satisfies Sensitivity[];

t.test('a user who speaks over the agent interrupts it', async (t) => {
  for (const sensitivity of SENSITIVITIES) {
    const scene = answering({ sensitivity }).say('No wait, please count backwards instead.').pause(8000);
    t.match(scene.told[1], /^agent: one two/, `${sensitivity}: the record keeps what was heard`);
    t.not(scene.told[1], `agent: ${LONG}`, `${sensitivity}: the agent yields`);
    t.same(
      [scene.told[2], scene.told[3]],
      ['user: No wait, please count backwards instead.', `agent: ${LONG}`],
      `${sensitivity}: and answers`,
    );
  }
});

t.test('a backchannel while the agent speaks interrupts it only at high sensitivity', async (t) => {
  const expected: Record<Sensitivity, boolean> = { low: true, balanced: true, high: false };
  for (const sensitivity of SENSITIVITIES) {
    const scene = answering({ sensitivity }).say('mm-hm', 350).pause(8000);
    t.equal(scene.told[1] === `agent: ${LONG}`, expected[sensitivity], sensitivity);
    const kept = expected[sensitivity] ? 'user (agrees): mm-hm' : 'user: mm-hm';
    t.equal(scene.told[2], kept, `${sensitivity}: it is kept, and marked where it has no answer`);
    t.equal(
      scene.told.length,
      expected[sensitivity] ? 3 : 4,
      `${sensitivity}: answered only where it interrupts`,
    );
  }
});

t.test('words to somebody else interrupt the agent, except a short aside at low sensitivity', async (t) => {
  // Nobody can tell to whom words are addressed: only at `low` a short aside does not interrupt; it is answered later.
  const aside = 'In a minute.';
  for (const sensitivity of SENSITIVITIES) {
    const scene = answering({ sensitivity }).say(aside, 900).pause(12_000);
    const first = scene.told.find((line) => line.startsWith('agent'));
    t.equal(first === `agent: ${LONG}`, sensitivity === 'low', sensitivity);
    t.ok(scene.told.includes(`user: ${aside}`), `${sensitivity}: the words are kept`);
    t.match(scene.told.at(-1), /^agent: /, `${sensitivity}: and answered`);
  }
});

t.test('background speech without words does not interrupt the agent', async (t) => {
  for (const sensitivity of SENSITIVITIES) {
    const scene = answering({ sensitivity }).say('', 2500).pause(8000);
    t.same(scene.told, ['user: Please count to twelve.', `agent: ${LONG}`], sensitivity);
  }
});

t.test('a cough does not interrupt the agent', async (t) => {
  for (const sensitivity of SENSITIVITIES) {
    const scene = answering({ sensitivity }).say('', 280).pause(8000);
    t.equal(scene.told[1], `agent: ${LONG}`, `${sensitivity}: all of it is heard`);
    t.equal(scene.silences.length, sensitivity === 'low' ? 0 : 1, `${sensitivity}: hesitates`);
  }
});

t.test('after a false interruption the agent resumes where it paused', async (t) => {
  const scene = answering({ sensitivity: 'high' }).say('', 900);
  t.notOk(scene.agentSpeaks, 'held while the sound lasts');
  scene.untilAgentSpeaks().pause(8000);
  t.equal(scene.told[1], `agent: ${LONG}`);
});

t.test('a long pause in the middle of a sentence does not end the turn', async (t) => {
  const scene = new Scene().say('I would like a table for').pause(1400);
  t.same(scene.told, [], 'nothing is answered in the pause');
  scene.say('four people tonight.').pause(3000);
  t.equal(scene.told[0], 'user: I would like a table for four people tonight.');
});

t.test('a turn that was cut off too early goes on if the agent was not heard yet', async (t) => {
  const scene = new Scene({ eagerness: 'eager' }, { thinkMs: 1500 });
  scene.say('Book a table.').pause(900).say('And a taxi for two.').pause(6000);
  t.same(scene.told, ['user: Book a table. And a taxi for two.', 'agent: one two three four five six']);
});

t.test('a user who corrects a word gets one answer, to the whole turn', async (t) => {
  const scene = new Scene().say('For Tuesday, no,').pause(600).say('for Wednesday please.').pause(4000);
  t.same(scene.told, ['user: For Tuesday, no, for Wednesday please.', 'agent: one two three four five six']);
});

t.test('when both begin to speak at once, the user goes first', async (t) => {
  const scene = new Scene({ opening: { mode: 'fixed', text: LONG } }, { thinkMs: 50 });
  scene.say('Hello I want to change my booking.').pause(400);
  t.notOk(scene.agentSpeaks);
  scene.pause(8000);
  t.same(scene.told, ['user: Hello I want to change my booking.', 'agent: one two three four five six']);
});

t.test('a microphone muted in mid-sentence counts as silence, which ends the turn', async (t) => {
  const scene = new Scene().say('I need help with my').pause(ENDPOINTING_MS.balanced.unfinished + 1000);
  t.equal(scene.told[0], 'user: I need help with my');
});

t.test('an agent that may not be interrupted finishes, and answers after that', async (t) => {
  const scene = answering({ sensitivity: 'high', interruptible: false })
    .say('Stop please stop now.')
    .pause(12_000);
  t.same(scene.told.slice(1, 3), [`agent: ${LONG}`, 'user: Stop please stop now.']);
  t.match(scene.told[3], /^agent: /);
  t.same(scene.silences, []);
});

t.test('a question that waits for the end of an answer is answered once', async (t) => {
  const waiting = () => answering({ sensitivity: 'low' }).say('In a minute.', 900).pause(1200);
  const typed = waiting();
  typed.actor.send({ type: 'typed', text: 'shorter', aloud: true });
  typed.pause(12_000);
  t.same(typed.told.slice(2), ['user: In a minute.', 'user: shorter', `agent: ${LONG}`], 'a typed one');
  const interrupted = waiting();
  interrupted.actor.send({ type: 'interrupt' });
  interrupted.pause(8000);
  t.same(interrupted.told.slice(2), ['user: In a minute.', `agent: ${LONG}`], 'an interruption');
});

t.test('a sound without words pauses the agent for a minute, and then counts as noise', async (t) => {
  const scene = answering({ sensitivity: 'high' })
    .voice(true)
    .pause(TIMES.noiseMs - 100);
  t.notOk(scene.agentSpeaks, 'it does not talk over what may be the user');
  scene.pause(200);
  t.ok(scene.agentSpeaks, 'it goes on, though the sound does');
  t.equal(scene.pause(8000).told[1], `agent: ${LONG}`);
});

t.test('a steady sound without words pauses the agent only for a moment', async (t) => {
  const humming = (scene: Scene): Scene => {
    scene.voice(true);
    for (let guess = 0; guess < 3; guess += 1) {
      t.notOk(scene.pause(600).agentSpeaks, `before guess ${guess + 1}`);
      scene.guess('');
    }
    return scene;
  };
  const speaking = humming(answering({ sensitivity: 'high' }));
  t.ok(speaking.agentSpeaks, 'an agent that speaks goes on');
  speaking.guess('Well').guess('Well I think');
  t.notOk(speaking.agentSpeaks, 'words hold it all the same');
  const thinking = new Scene({ interruptible: false }, { thinkMs: 1000 }).say('What time is it?').pause(800);
  t.ok(humming(thinking).pause(500).agentSpeaks, 'one that has an answer begins');
  const cough = answering().voice(true).guess('').guess('').voice(false).pause(300);
  t.ok(cough.agentSpeaks);
});

t.test('words before a steady sound are answered when the sound is over', async (t) => {
  const scene = new Scene().say('I want to book').pause(400).voice(true).pause(600);
  for (let guess = 0; guess < 5; guess += 1) scene.guess('').pause(600);
  t.same(scene.told, []);
  exactly(t, scene.voice(false).pause(4000).told, ['user: I want to book', /^agent:/]);
});

t.test('an answer that ends while the agent is paused leaves nothing paused', async (t) => {
  const scene = answering({ sensitivity: 'high' });
  const effects: string[] = [];
  scene.actor.on('*', ({ type }) => effects.push(type));
  scene.voice(true);
  scene.clock.advance(100);
  t.ok(
    scene.actor.getSnapshot().matches({ talking: { agent: { working: { voice: { speaking: 'paused' } } } } }),
  );
  scene.actor.send({ type: 'ended', job: scene.actor.getSnapshot().context.job });
  t.same(effects, ['beginSpan', 'pause', 'resume', 'state']);
});

t.test('the agent does not begin to speak over the user', async (t) => {
  const effects = (sensitivity: Sensitivity): string[] => {
    const told: string[] = [];
    const scene = new Scene({ sensitivity }, { thinkMs: 60_000 }).say('What time is it?').pause(1500);
    scene.actor.on('*', ({ type }) => told.push(type));
    scene.voice(true);
    scene.actor.send({ type: 'audible', job: 1 });
    return told;
  };
  for (const sensitivity of SENSITIVITIES) t.same(effects(sensitivity), ['beginSpan', 'pause'], sensitivity);
});

t.test("the client's `interrupt` stops the agent even at low sensitivity", async (t) => {
  const scene = answering({ sensitivity: 'low' });
  scene.actor.send({ type: 'interrupt' });
  t.notOk(scene.agentSpeaks);
  t.match(scene.pause(3000).told[1], /^agent: one two/);
  t.equal(scene.told.length, 2);
});

t.test('after a dropped connection the conversation goes on', async (t) => {
  const scene = new Scene().say('Are you there?').pause(100);
  scene.actor.send({ type: 'disconnected' });
  scene.pause(TIMES.goneMs - 5000);
  scene.actor.send({ type: 'connected' });
  scene.pause(TIMES.goneMs).say('And now?').pause(4000);
  t.same(
    scene.told.filter((line) => line.startsWith('user')),
    ['user: Are you there?', 'user: And now?'],
  );
});

t.test('a user who is gone for 20 s has hung up (decision 13)', async (t) => {
  const scene = new Scene();
  scene.actor.send({ type: 'disconnected' });
  scene.pause(TIMES.goneMs + 10);
  t.same(scene.told, ['end: gone']);
});

t.test('an agent whose model fails says so once, and listens again (decision 11)', async (t) => {
  const scene = new Scene({}, { fails: true }).say('What time is it?').pause(6000);
  t.same(scene.told, ['user: What time is it?', 'agent: Sorry, I could not answer.']);
  t.ok(scene.actor.getSnapshot().matches({ talking: { agent: { floor: 'idle' } } }));
});

t.test('a written answer that fails is excused in writing', async (t) => {
  const scene = new Scene({}, { thinkMs: 60_000 });
  const effects: AgentEffect[] = [];
  scene.actor.on('*', (effect) => effects.push(effect));
  scene.actor.send({ type: 'typed', text: 'Hello', aloud: false });
  scene.actor.send({ type: 'failed', job: 1 });
  exactly(
    t,
    effects.filter(({ type }) => type === 'reply' || type === 'excuse'),
    [
      { type: 'reply', aloud: false },
      { type: 'excuse', aloud: false },
    ],
  );
});

t.test('the first message is none, fixed, or made by the model, as configured', async (t) => {
  t.same(new Scene({ opening: { mode: 'off' } }).pause(5000).told, []);
  t.same(new Scene({ opening: { mode: 'fixed', text: 'Hi there' } }).pause(5000).told, ['agent: Hi there']);
  t.same(new Scene({ opening: { mode: 'prompt' } }, { reply: 'Well hello' }).pause(5000).told, [
    'agent: Well hello',
  ]);
});

t.test('a typed message is a turn at once, and interrupts the agent', async (t) => {
  const scene = answering({ sensitivity: 'low' });
  scene.actor.send({ type: 'typed', text: 'shorter', aloud: true });
  scene.pause(8000);
  t.match(scene.told[1], /^agent: one two/);
  t.same(scene.told.slice(2), ['user: shorter', `agent: ${LONG}`]);
});

t.test('the eagerness sets how long a silence ends a turn', async (t) => {
  const answered = (eagerness: 'eager' | 'balanced' | 'relaxed'): number => {
    const scene = new Scene({ eagerness }, { thinkMs: 0 }).say('What is your name?');
    const spoken = scene.clock.now();
    return scene.untilAgentSpeaks().clock.now() - spoken;
  };
  const [eager, balanced, relaxed] = [answered('eager'), answered('balanced'), answered('relaxed')];
  t.ok(eager < balanced && balanced < relaxed, `${eager} < ${balanced} < ${relaxed}`);
});

t.test('a tool that takes longer than a second gets a filler, and the answer follows', async (t) => {
  const scene = new Scene({}, { toolsMs: [3000], reply: 'It is sunny' }).say('What is the weather?');
  scene.untilAgentSpeaks();
  const { told, fillers } = scene.pause(8000);
  t.same(told, ['user: What is the weather?', 'agent: It is sunny']);
  t.equal(fillers.length, 1);
});

/** When fillers were said, in ms after the end of the user's voice. */
function fillersOf(settings: Partial<AgentSettings>, options: SceneOptions): number[] {
  const scene = new Scene(settings, { reply: 'It is sunny', ...options }).say('What is the weather?');
  const silent = scene.clock.now();
  t.same(scene.pause(40_000).told, ['user: What is the weather?', 'agent: It is sunny']);
  return scene.fillers.map((at) => at - silent);
}

t.test('a quick tool gets no filler, nor does anything where fillers are off', async (t) => {
  t.same(fillersOf({}, { toolsMs: [TIMES.fillerMs - 10] }), []);
  t.same(fillersOf({ fills: false }, { toolsMs: [5000] }), []);
  t.same(fillersOf({ fills: false }, { thinkMs: 9000 }), []);
});

t.test('an answer that nobody hears within two seconds gets a filler, whatever takes long', async (t) => {
  for (const options of [{ thinkMs: 3500 }, { toolsMs: [900, 900, 900] }]) {
    const [first = 0, ...others] = fillersOf({}, options);
    t.ok(first >= 1900 && first < 3000, `after ${first} ms`);
    t.same(others, []);
  }
});

t.test('another filler follows soon after the end of each, until the answer is heard', async (t) => {
  for (const options of [{ thinkMs: 16_000 }, { toolsMs: [4000, 4000, 8000] }]) {
    const fillers = fillersOf({}, options);
    t.equal(fillers.length, 3);
    for (const [index, at] of fillers.slice(1).entries())
      t.ok(
        Math.abs(at - (fillers[index] ?? 0) - 1000 - TIMES.fillerAgainMs) < 100,
        'a second of filler, then silence',
      );
  }
});

t.test('a filler is never said over the user’s voice, and pauses if the user speaks', async (t) => {
  const scene = new Scene({}, { toolsMs: [6000], reply: 'It is sunny' }).say('What is the weather?');
  scene.pause(1200).voice(true).pause(2000);
  t.notOk(scene.agentSpeaks, 'the user makes a sound');
  scene.voice(false).untilAgentSpeaks().pause(10_000);
  t.same(scene.told, ['user: What is the weather?', 'agent: It is sunny']);
  t.equal(scene.fillers.length, 1);
});

t.test('words over a filler belong to the turn whose answer it waits for', async (t) => {
  const scene = new Scene({}, { toolsMs: [9000], reply: 'It is sunny' }).say('What is the weather?');
  scene.pause(2500);
  t.equal(scene.fillers.length, 1);
  scene.say('No, stop, never mind that please.').pause(1500);
  t.same(scene.told, ['user: What is the weather?', 'user: No, stop, never mind that please.']);
});

t.test('the result of a tool in the background is told once, as soon as nobody speaks', async (t) => {
  const scene = new Scene({}, { reply: 'It is sunny' });
  scene.actor.send({ type: 'news' });
  t.same(scene.pause(5000).told, ['agent: It is sunny']);
  scene.voice(true).pause(200).actor.send({ type: 'news' });
  scene.pause(250);
  t.same(scene.told.length, 1, 'not over the user');
  t.same(scene.voice(false).pause(9000).told, ['agent: It is sunny', 'agent: It is sunny']);
});

t.test(
  'an answer that is asked for meanwhile tells the result of a tool in the background, and nothing else does',
  async (t) => {
    const scene = new Scene({}, { reply: 'It is sunny' });
    scene.say('What is the weather?').actor.send({ type: 'news' });
    t.same(scene.pause(20_000).told, ['user: What is the weather?', 'agent: It is sunny']);
  },
);

t.test(
  'after a hand-over the next agent speaks when the first has finished, with settings of its own',
  async (t) => {
    const scene = new Scene({}, { reply: 'I pass you on', handsOver: { sensitivity: 'low' } });
    scene.say('Tea please.').pause(9000);
    t.same(scene.told, ['user: Tea please.', 'agent: I pass you on', 'agent: I pass you on']);
  },
);

t.test('a user who interrupts during a hand-over is answered by the next agent', async (t) => {
  const scene = new Scene({}, { reply: LONG, handsOver: {} });
  scene.say('Tea please.').untilAgentSpeaks().pause(900).say('No wait, coffee please.').pause(12_000);
  t.same(scene.told[2], 'user: No wait, coffee please.');
  t.equal(scene.causes.join(' '), 'turn turn', 'and does not begin by itself');
});
