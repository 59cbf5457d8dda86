/** A silence of both sides ends the call where the agent is set so: what counts as silence, what restarts it, and the goodbye. */
import t from '../../../fixtures/tap.js';
import { REENGAGE_MS, TIMES } from '../../../../actors/agent/times.js';
import { STATEMENT_MS, Steps } from '../../../fixtures/actors/agent-steps.js';
import { exactly } from '../../../fixtures/exactly.js';
import { LONG, Scene } from '../../../fixtures/actors/scene.js';

const SILENCE_MS = 20_000;
const OVER = 'end conversation_timeout';
const quiet = (settings: object = {}): Steps => new Steps({ hangUpAfterMs: SILENCE_MS, ...settings });

t.test(
  'a call ends after that much silence of both sides, and never where the agent is not set so',
  async (t) => {
    const steps = quiet();
    t.strictSame(steps.pass(SILENCE_MS - 10).took('end'), []);
    t.strictSame(steps.pass(10).took('end', 'goodbye'), [OVER]);
    t.strictSame(new Steps({ saysGoodbye: true }).pass(590_000).took('end', 'goodbye'), []);
  },
);

t.test('it counts from the agent’s last word', async (t) => {
  const scene = new Scene({ hangUpAfterMs: SILENCE_MS }, { reply: LONG, msPerWord: 1000 });
  scene.pause(15_000).say('Please count.').untilAgentSpeaks();
  scene.pause(11_000 + SILENCE_MS - 500);
  t.notOk(scene.told.at(-1)?.startsWith('end'), 'eleven seconds of speech are no silence');
  t.equal(scene.pause(1500).told.at(-1), 'end: conversation_timeout');
});

/** What shows that the user is there, up to the next silence. */
const SIGNS: Readonly<Record<string, (steps: Steps) => Steps>> = {
  words: (steps) => steps.say('I am here.').pass(STATEMENT_MS).job('audible').job('ended'),
  'words that get no answer': (steps) =>
    steps.type('Go on.').job('audible').pass(100).say('okay').pass(1700).job('ended'),
  'a typed message or keys': (steps) => steps.type('[keypad: 12]').job('audible').job('ended'),
  activity: (steps) => steps.send({ type: 'activity' }),
  'an interrupt': (steps) => steps.send({ type: 'interrupt' }),
  'a return': (steps) => steps.send({ type: 'disconnected' }).send({ type: 'connected' }),
  'unclear words': (steps) =>
    steps.voice(true).pass(900).voice(false).final('').pass(5000).job('audible').job('ended'),
};

t.test('every sign of the user, and what the agent tells them, restarts it', async (t) => {
  const told = (steps: Steps) => steps.send({ type: 'news' }).job('audible').job('ended');
  for (const [what, shows] of Object.entries({ ...SIGNS, 'the result of a tool': told })) {
    const steps = shows(quiet().pass(SILENCE_MS - 1000));
    steps.took();
    t.strictSame(steps.pass(SILENCE_MS - 10).took('end'), [], what);
    t.strictSame(steps.pass(20).took('end'), [OVER], what);
  }
});

t.test('a sound without words pauses it, and restarts nothing', async (t) => {
  const steps = quiet().pass(SILENCE_MS - 5000);
  steps.voice(true).pass(300).voice(false).final('').pass(2000);
  t.strictSame(steps.took('end'), []);
  t.strictSame(steps.pass(5000).took('end'), [OVER]);
  const fan = quiet().voice(true).pass(600);
  for (let guess = 0; guess < 3; guess += 1) fan.guess('').pass(600);
  t.strictSame(fan.pass(SILENCE_MS).took('end'), [OVER], 'nor does one that never ends hold it up');
});

t.test('nobody is hung up on who speaks, or whose words are not known yet', async (t) => {
  const steps = quiet()
    .pass(SILENCE_MS - 1000)
    .voice(true)
    .pass(500)
    .guess('I think that')
    .pass(SILENCE_MS);
  t.strictSame(steps.took('end'), []);
  steps.voice(false).pass(8000);
  t.strictSame(steps.took('end'), [], 'a slow recogniser');
  steps.final('I think that is all.').pass(5000);
  exactly(t, steps.took('end', 'reply'), [/^reply \d turn aloud$/]);
});

t.test('a running tool is no silence, whether the agent waits for it or goes on beside it', async (t) => {
  const steps = quiet().type('Look it up.').wants('read').job('acted');
  t.strictSame(steps.pass(100_000).took('end'), []);
  steps.send({ type: 'interrupt' }).send({ type: 'runsBeside', runs: true });
  t.strictSame(steps.pass(100_000).took('end'), []);
  steps.send({ type: 'runsBeside', runs: false });
  t.strictSame(steps.pass(SILENCE_MS).took('end'), [OVER]);
});

t.test('a user who is away is waited for as ever, and has the whole silence on return', async (t) => {
  const steps = quiet()
    .pass(SILENCE_MS - 1000)
    .send({ type: 'disconnected' })
    .pass(TIMES.goneMs - 10);
  t.strictSame(steps.took('end'), []);
  steps.send({ type: 'connected' }).pass(SILENCE_MS - 10);
  t.strictSame(steps.took('end'), []);
  t.strictSame(steps.pass(20).took('end'), [OVER]);
});

t.test(
  'the agent’s questions into the silence do not restart it, and none comes right before the end',
  async (t) => {
    const scene = new Scene({ reengage: true, hangUpAfterMs: 60_000 }, { reply: 'There?' });
    const [first, second] = REENGAGE_MS as [number, number];
    scene.pause(first + second + 2000);
    t.same(scene.told, ['agent: There?', 'agent: There?']);
    scene.pause(60_000);
    t.same(scene.told.slice(2), ['agent: There?', 'end: conversation_timeout']);
    const time = scene.clock.now();
    t.ok(time > 60_000 && time < 90_000);
    const short = quiet({ reengage: true, hangUpAfterMs: first + 4000 }).pass(first + 4000);
    t.strictSame(short.took('reply', 'end'), [OVER], 'four seconds are too short to answer in');
  },
);

t.test('where it says goodbye, the call ends with that', async (t) => {
  const steps = quiet({ saysGoodbye: true }).pass(SILENCE_MS);
  t.strictSame(steps.took('goodbye', 'reply', 'end'), ['goodbye 1']);
  t.strictSame(steps.job('audible').pass(3000).took('end'), []);
  t.strictSame(steps.job('ended').took('end'), [OVER]);
  const mute = quiet({ saysGoodbye: true }).pass(SILENCE_MS).job('failed');
  t.strictSame(mute.took('end', 'excuse'), [OVER], 'nor does a voice that fails keep it');
});

t.test('whoever answers the goodbye keeps the call; a cough does not', async (t) => {
  const goodbye = () => quiet({ saysGoodbye: true }).pass(SILENCE_MS).job('audible').pass(500);
  const back = goodbye().say('Wait, I am here.').pass(STATEMENT_MS).job('audible').job('ended');
  t.strictSame(back.took('reply', 'end'), ['reply 2 turn aloud']);
  t.strictSame(back.pass(SILENCE_MS - 10).took('goodbye'), []);
  t.strictSame(back.pass(20).took('goodbye'), ['goodbye 3']);
  const cough = goodbye().voice(true).job('ended').pass(300);
  t.strictSame(cough.took('end'), [], 'its words may follow');
  t.strictSame(cough.voice(false).final('').pass(3000).took('end'), [OVER]);
  const stopped = goodbye()
    .send({ type: 'interrupt' })
    .pass(SILENCE_MS - 10);
  t.strictSame(stopped.took('end'), [], 'a client that stops it is there');
});

t.test('after a hand-over the other agent’s setting counts', async (t) => {
  const scene = new Scene({ hangUpAfterMs: 15_000 }, { handsOver: { hangUpAfterMs: undefined } });
  scene.say('The other one, please.').pause(120_000);
  t.notOk(scene.told.at(-1)?.startsWith('end'));
  const other = new Scene({}, { handsOver: { hangUpAfterMs: 15_000, saysGoodbye: true } });
  t.equal(other.say('The other one, please.').pause(40_000).told.at(-1), 'end: conversation_timeout');
});
