/**
 * Nothing that the user says is lost: scenarios on the simulated clock in which words arrive late, in halves, or while the
 * agent thinks, or are misheard; and commands, which interrupt.
 */
import t from '../../../fixtures/tap.js';
import { TIMES } from '../../../../actors/agent/times.js';
import type { Sensitivity } from '../../../../actors/agent/settings.js';
import { exactly } from '../../../fixtures/exactly.js';
import { answering, effectsOf, LONG, Scene } from '../../../fixtures/actors/scene.js';

const SENSITIVITIES = ['low', 'balanced', 'high'] as const satisfies Sensitivity[];

const jobOf = (scene: Scene): number => scene.actor.getSnapshot().context.job;

t.test("a short answer while the agent thinks joins the user's turn", async (t) => {
  const scene = new Scene({}, { thinkMs: 3000 }).say('Let me see.').pause(1500).say('Yes.').pause(8000);
  t.same(scene.told, ['user: Let me see. Yes.', 'agent: one two three four five six']);
});

t.test('a backchannel while the agent thinks joins the turn and reaches the model', async (t) => {
  for (const sensitivity of SENSITIVITIES) {
    const scene = new Scene({ sensitivity }, { thinkMs: 3000 }).say('Call me back.').pause(1500);
    scene.say('mm-hm', 350).pause(8000);
    t.equal(scene.told[0], 'user: Call me back. mm-hm', sensitivity);
    t.equal(scene.told.length, 2, `${sensitivity}: one answer`);
  }
});

t.test('a backchannel to an agent that may not be interrupted is recorded and marked', async (t) => {
  const scene = answering({ interruptible: false }).say('okay', 400).pause(8000);
  t.same(scene.told.slice(1), [`agent: ${LONG}`, 'user (agrees): okay']);
});

t.test('agreement that ends after the agent has finished is a turn, and is answered', async (t) => {
  const scene = new Scene({}, { reply: 'Shall I book it' }).say('A table please.').untilAgentSpeaks();
  scene.pause(1000).say('Yes', 900).pause(4000);
  t.same(scene.told, [
    'user: A table please.',
    'agent: Shall I book it',
    'user: Yes',
    'agent: Shall I book it',
  ]);
});

/** An agent that finishes a long answer while the user says `words`, which the recogniser takes `hearMs` to understand. */
function overheard(words: string, sensitivity: Sensitivity, hearMs: number): Scene {
  const scene = new Scene({ sensitivity }, { reply: LONG, hearMs });
  scene.actor.send({ type: 'typed', text: 'Count.', aloud: true });
  return scene.untilAgentSpeaks().pause(2000).say(words, 350).pause(1500);
}

const LATE = [2500, 8000, TIMES.wordsMs + 5000];

t.test('a backchannel while the agent speaks stays one, however late it is transcribed', async (t) => {
  for (const sensitivity of ['low', 'balanced'] as const)
    for (const hearMs of LATE) {
      const scene = overheard('mm-hm', sensitivity, hearMs);
      if (sensitivity === 'low') t.same(scene.told, ['user: Count.', `agent: ${LONG}`], 'it has finished');
      else t.notOk(scene.agentSpeaks, 'it waits to know');
      scene.pause(hearMs + 8000);
      t.same(
        scene.told,
        ['user: Count.', `agent: ${LONG}`, 'user (agrees): mm-hm'],
        `${sensitivity}, ${hearMs} ms: no turn of its own`,
      );
    }
});

t.test('a command while the agent speaks is answered, however late it is transcribed', async (t) => {
  for (const sensitivity of ['low', 'balanced'] as const)
    for (const hearMs of LATE) {
      const scene = overheard('Stop.', sensitivity, hearMs).pause(hearMs + 8000);
      t.same(scene.told.slice(2), ['user: Stop.', `agent: ${LONG}`], `${sensitivity}, ${hearMs} ms`);
    }
});

t.test('a backchannel that is transcribed late does not cancel the next answer', async (t) => {
  const scene = overheard('mm-hm', 'low', 4000);
  const effects = effectsOf(scene);
  scene.actor.send({ type: 'typed', text: 'Again.', aloud: true });
  scene.pause(12_000);
  t.notOk(effects.some(({ type }) => type === 'cancel'));
  t.same(scene.told.slice(2).sort(), [`agent: ${LONG}`, 'user (agrees): mm-hm', 'user: Again.']);
});

t.test('a backchannel that is transcribed late joins the question that follows it', async (t) => {
  const scene = overheard('mm-hm', 'balanced', 3000).say('And then?').pause(14_000);
  t.same(scene.told.slice(2), ['user: mm-hm And then?', `agent: ${LONG}`]);
});

t.test('a misheard partial transcript pauses the agent, which resumes where it paused', async (t) => {
  for (const sensitivity of SENSITIVITIES) {
    const guesses = ['no stop it there'];
    const hears = (words: string, final: boolean): string =>
      final || words !== '' ? words : (guesses.shift() ?? words);
    const scene = answering({ sensitivity }, { hears });
    guesses.push('no stop it there');
    scene.say('', 1200);
    t.notOk(scene.agentSpeaks, `${sensitivity}: held`);
    t.equal(scene.pause(8000).told[1], `agent: ${LONG}`, sensitivity);
    t.equal(scene.told.length, 2, `${sensitivity}: noise is no message`);
  }
});

t.test('a misheard partial transcript withdraws the answer, which is asked for again', async (t) => {
  const hears = (words: string, final: boolean): string =>
    final || words !== '' ? words : 'but I also want';
  const scene = new Scene({}, { thinkMs: 3000, hears }).say('What time is it?').pause(1200);
  const effects = effectsOf(scene);
  scene.say('', 450).pause(8000);
  exactly(
    t,
    effects.filter(({ type }) => type === 'cancel' || type === 'reply').map(({ type }) => type),
    ['cancel', 'reply'],
  );
  t.same(scene.told, ['user: What time is it?', 'agent: one two three four five six']);
});

t.test('words shown from a misheard partial transcript are taken back', async (t) => {
  const hears = (words: string, final: boolean): string => (final || words !== '' ? words : 'right');
  const scene = new Scene({}, { hears });
  const effects = effectsOf(scene);
  scene.say('', 450).pause(3000);
  t.strictSame(
    effects.filter(({ type }) => type === 'words'),
    [
      { type: 'words', text: 'right', final: false },
      { type: 'words', text: '', final: true },
    ],
  );
});

t.test('a transcript is answered, however late it comes', async (t) => {
  for (const hearMs of [4600, 8000, TIMES.wordsMs + 5000]) {
    const scene = new Scene({}, { hearMs }).say('What time is it?').pause(hearMs + 6000);
    t.same(scene.told, ['user: What time is it?', 'agent: one two three four five six'], `${hearMs} ms`);
  }
});

t.test('a late transcript joins the message of its turn, which has one answer', async (t) => {
  const scene = new Scene({}, { thinkMs: 3000 });
  const { actor } = scene;
  scene
    .voice(true)
    .voice(false)
    .voice(true)
    .voice(false)
    .pause(TIMES.wordsMs + 3000);
  t.same(scene.told, [], 'the recogniser has brought nothing so far');
  actor.send({ type: 'transcript', span: 2, text: 'for four people.', final: true });
  scene.pause(500);
  t.same(scene.told, []);
  const late = new Scene({}, { hearMs: 1e9, thinkMs: 3000 });
  late
    .voice(true)
    .voice(false)
    .voice(true)
    .voice(false)
    .pause(TIMES.wordsMs + 3000);
  late.actor.send({ type: 'transcript', span: 2, text: 'for four people.', final: true });
  late.pause(500);
  late.actor.send({ type: 'transcript', span: 1, text: 'A table', final: true });
  late.pause(8000);
  t.same(late.told, ['user: for four people. A table', 'agent: one two three four five six'], 'one message');
});

t.test('two halves of a sentence become one message, and only the whole is answered', async (t) => {
  const scene = new Scene({ eagerness: 'eager' }, { thinkMs: 900 });
  scene.say('I would like a table.').pause(800).say('For four people tonight.').pause(8000);
  t.same(scene.told, [
    'user: I would like a table. For four people tonight.',
    'agent: one two three four five six',
  ]);
});

t.test(
  'a user who goes on as the answer begins has one message, and the record keeps what was heard',
  async (t) => {
    const scene = new Scene({}, { thinkMs: 100, reply: LONG })
      .say('I would like a table.')
      .untilAgentSpeaks();
    scene.pause(250).say('For four people tonight please.').pause(8000);
    t.equal(scene.told[0], 'agent: one');
    t.same(scene.told.slice(1), [
      'user: I would like a table. For four people tonight please.',
      `agent: ${LONG}`,
    ]);
  },
);

t.test('words after an answer that was heard are a message of their own', async (t) => {
  const scene = answering().pause(TIMES.joinMs).say('No the other way round please.').pause(8000);
  t.same(scene.told.slice(2), ['user: No the other way round please.', `agent: ${LONG}`]);
});

t.test('words after a tool was called are a message of their own', async (t) => {
  const scene = new Scene({}, { thinkMs: 3000 }).say('Book a table.').pause(1500);
  scene.actor.send({ type: 'acted', job: jobOf(scene) });
  scene.say('And a taxi please.').pause(8000);
  t.same(scene.told, [
    'user: Book a table.',
    'user: And a taxi please.',
    'agent: one two three four five six',
  ]);
});

t.test('a typed message between two spoken halves keeps them apart, and all get one answer', async (t) => {
  const scene = new Scene({}, { thinkMs: 3000 }).say('Book a table.').pause(1500);
  scene.actor.send({ type: 'typed', text: 'for two', aloud: true });
  scene.say('In the garden please.').pause(8000);
  t.same(scene.told.slice(0, 3), ['user: Book a table.', 'user: for two', 'user: In the garden please.']);
  t.equal(scene.told.length, 4, 'and all have one answer');
});

t.test('words that are known when the call ends are in the record, even unanswered', async (t) => {
  const scene = new Scene().say('Cancel my order.').pause(500);
  scene.actor.send({ type: 'left' });
  t.same(scene.told, ['user: Cancel my order.', 'end: user_hangup']);
});

t.test('a paused agent does not resume while the user speaks or a transcript is awaited', async (t) => {
  const scene = answering({ sensitivity: 'high' }, { hearMs: 3000 }).voice(true).pause(5000);
  t.notOk(scene.agentSpeaks, 'while the voice is active');
  scene.voice(false).pause(2900);
  t.notOk(scene.agentSpeaks, 'while the transcript is owed');
  t.ok(scene.pause(200).agentSpeaks, 'it was noise');
});

t.test('a transcript that never comes pauses the agent for a minute at most', async (t) => {
  const scene = new Scene({ sensitivity: 'high' }, { hearMs: 1e9, reply: LONG });
  scene.actor.send({ type: 'typed', text: 'Please count', aloud: true });
  scene.untilAgentSpeaks().voice(true).pause(500).voice(false);
  t.notOk(scene.pause(TIMES.wordsMs).agentSpeaks);
  t.ok(scene.pause(2500).agentSpeaks);
});

t.test(
  'final words pause the agent, even while the transcript of what was said before them is awaited',
  async (t) => {
    const scene = new Scene({ sensitivity: 'low' }, { reply: LONG, hearMs: 1e9 });
    scene.actor.send({ type: 'typed', text: 'Count.', aloud: true });
    scene.untilAgentSpeaks().pause(1000).voice(true).voice(false).voice(true).voice(false);
    t.ok(scene.agentSpeaks);
    scene.actor.send({ type: 'transcript', span: 2, text: 'I want another one now.', final: true });
    t.notOk(scene.agentSpeaks, 'it does not talk over them');
    scene.actor.send({ type: 'transcript', span: 1, text: 'No,', final: true });
    t.equal(scene.pause(3000).told[2], 'user: No, I want another one now.');
  },
);

t.test('partial transcripts do not postpone the pause of the agent', async (t) => {
  const held = (guesses: readonly string[]): number => {
    const scene = answering();
    const began = scene.clock.now();
    scene.voice(true);
    for (const guess of guesses) scene.pause(200).guess(guess);
    scene.pause(2000);
    return (scene.silences[0] ?? Infinity) - began;
  };
  t.equal(held(['yes', 'yes well', 'yes okay']), held([]));
});

t.test('a partial transcript without new words does not restart the minute of a sound', async (t) => {
  const scene = answering({ sensitivity: 'high' }).voice(true);
  for (let ms = 0; ms < TIMES.noiseMs + 2000; ms += 1000) scene.guess('la la la').pause(1000);
  t.ok(scene.agentSpeaks, 'it goes on');
});

t.test('words transcribed as the call ends are recorded after the answer that they met', async (t) => {
  const scene = answering().voice(true).voice(false);
  scene.actor.send({ type: 'transcript', span: 2, text: 'okay', final: true });
  scene.actor.send({ type: 'left' });
  t.match(scene.told[1], /^agent: one/);
  t.same(scene.told.slice(2), ['user (agrees): okay', 'end: user_hangup']);
});

t.test("a ready answer waits for the user's sound to end", async (t) => {
  for (const sensitivity of SENSITIVITIES) {
    const scene = new Scene({ sensitivity }, { thinkMs: 1000 }).say('What time is it?').pause(1100);
    scene.voice(true).pause(450);
    t.notOk(scene.agentSpeaks, `${sensitivity}: waits`);
    t.ok(scene.voice(false).pause(500).agentSpeaks, `${sensitivity}: begins`);
    t.equal(scene.pause(4000).told.length, 2, `${sensitivity}: one answer`);
  }
});

t.test("an agent that may not be interrupted does not begin over the user's voice either", async (t) => {
  const scene = new Scene({ interruptible: false }, { thinkMs: 1000 }).say('What time is it?').pause(1100);
  t.notOk(scene.voice(true).pause(450).agentSpeaks);
  t.ok(scene.voice(false).pause(500).agentSpeaks);
});

t.test('words before an endless sound are answered after TIMES.noiseMs', async (t) => {
  const scene = new Scene()
    .say('What time is it?')
    .pause(400)
    .voice(true)
    .pause(TIMES.noiseMs - 100);
  t.same(scene.told, [], 'the sound may be more of it');
  scene.pause(3000);
  t.same(scene.told, ['user: What time is it?', 'agent: one two three four five six']);
});

t.test('a withdrawn answer is asked for again when the sound turns out to be noise', async (t) => {
  const scene = new Scene({}, { thinkMs: 3000 }).say('What time is it?').pause(1200);
  scene
    .voice(true)
    .guess('but I also want')
    .pause(TIMES.noiseMs + 8000);
  t.same(scene.told, ['user: What time is it?', 'agent: one two three four five six']);
});

t.test('a spoken command interrupts the agent at every sensitivity', async (t) => {
  for (const sensitivity of SENSITIVITIES)
    for (const command of ['Stop.', 'Wait.', 'No.', 'Hold on.']) {
      const scene = answering({ sensitivity }).say(command, 500).pause(6000);
      t.not(scene.told[1], `agent: ${LONG}`, `${sensitivity}: ${command}`);
      t.same(scene.told.slice(2), [`user: ${command}`, `agent: ${LONG}`].slice(0, scene.told.length - 2));
    }
});

t.test(
  'a command to an agent that may not be interrupted is answered when the agent has finished speaking',
  async (t) => {
    const scene = answering({ interruptible: false }).say('Stop.', 500).pause(12_000);
    t.same(scene.told.slice(1, 3), [`agent: ${LONG}`, 'user: Stop.']);
  },
);

t.test('a spoken command interrupts the agent in every language of agents', async (t) => {
  const commands = {
    ...{ en: 'Hold on a second.', es: 'Espere, por favor.', fr: 'Attendez !', de: 'Moment mal, bitte.' },
    ...{ ja: 'ちょっと待ってください。', zh: '等一下。', ko: '잠깐만요.' },
  };
  for (const [language, command] of Object.entries(commands)) {
    const scene = answering({ sensitivity: 'low', language }).say(command, 600).pause(1500);
    t.not(scene.told[1], undefined, language);
    t.not(scene.told[1], `agent: ${LONG}`, `${language}: ${command}`);
  }
});
