/**
 * Drafts, as scenarios on the simulated clock: the answer is made while it is uncertain whether the user has finished, and
 * is not played before that is certain.
 */
import t from '../../../fixtures/tap.js';
import type { AgentEffect } from '../../../../actors/agent/events.js';
import { exactly } from '../../../fixtures/exactly.js';
import { Scene, type SceneOptions } from '../../../fixtures/actors/scene.js';

const ANSWER = 'one two three four five six';

function watched(options: SceneOptions = {}): { scene: Scene; types: () => string[] } {
  const scene = new Scene({}, options);
  const effects: AgentEffect[] = [];
  scene.actor.on('*', (effect) => effects.push(effect));
  const isOfJob = ({ type }: AgentEffect): boolean =>
    ['reply', 'sure', 'cancel', 'message', 'excuse', 'pause', 'resume'].includes(type);
  return { scene, types: () => effects.filter(isOfJob).map(({ type }) => type) };
}

/** How long the user waits for an answer that takes `thinkMs` to make. */
function waited(thinkMs: number): number {
  const scene = new Scene({}, { thinkMs }).say('I would like a room.');
  const spoken = scene.clock.now();
  return scene.untilAgentSpeaks().clock.now() - spoken;
}

t.test('an answer is drafted during the silence that ends the turn, which saves its time', async (t) => {
  const [none, half, long] = [waited(0), waited(300), waited(2000)];
  t.equal(half, none, 'what is made meanwhile costs nothing');
  t.ok(long < none + 2000, `${long} ms with ${none} ms of silence`);
});

t.test('a draft that is ready is spoken when the turn is over, and not before', async (t) => {
  const { scene, types } = watched({ thinkMs: 0 });
  scene.say('I would like a room.').pause(500);
  t.same(types(), ['reply', 'pause'], 'it is ready');
  t.notOk(scene.agentSpeaks);
  t.same(scene.told, [], 'and nothing is in the record');
  scene.pause(8000);
  t.same(types(), ['reply', 'pause', 'resume', 'message', 'sure']);
  t.same(scene.told, ['user: I would like a room.', `agent: ${ANSWER}`]);
});

t.test('a user who goes on gets one answer to all of it, and the draft is never heard', async (t) => {
  for (const thinkMs of [0, 3000]) {
    const { scene, types } = watched({ thinkMs });
    scene.say('I would like a room.').pause(450);
    scene.say('For two people please.').pause(9000);
    t.same(
      types().filter((type) => type !== 'pause' && type !== 'resume'),
      ['reply', 'cancel', 'reply', 'message', 'sure'],
    );
    t.same(scene.told, ['user: I would like a room. For two people please.', `agent: ${ANSWER}`]);
  }
});

t.test('a sound in the silence discards the draft, and the turn is still answered', async (t) => {
  const { scene } = watched();
  scene.say('I would like a room.').pause(450).say('', 200).pause(8000);
  t.same(scene.told, ['user: I would like a room.', `agent: ${ANSWER}`]);
});

t.test('without drafts the model is asked only when the turn is over', async (t) => {
  const scene = new Scene({ drafts: false });
  const asked: boolean[] = [];
  scene.actor.on('reply', ({ draft }) => asked.push(draft !== undefined));
  scene.say('I would like a room.').pause(8000);
  t.same(asked, [false]);
  t.same(scene.told, ['user: I would like a room.', `agent: ${ANSWER}`]);
});

t.test('no answer is drafted to an unfinished sentence', async (t) => {
  const { scene, types } = watched();
  scene.say('I would like a room for the').pause(1000);
  t.same(types(), []);
});

t.test('a number in groups asks the model for one draft, once the silence has lasted', async (t) => {
  const { scene, types } = watched({ thinkMs: 100 });
  const asked = (): number => types().filter((type) => type === 'reply').length;
  for (const group of ['My number is 5 5 5.', '2 6 7.', '8 1 0 9.']) scene.say(group).pause(600);
  t.equal(asked(), 0, 'no group is taken for the end');
  scene.pause(800);
  t.equal(asked(), 1, 'the last one is, while it is still waited for more');
  t.same(scene.told, []);
  scene.pause(8000);
  t.equal(asked(), 1, 'and its answer is spoken');
  t.same(scene.told, ['user: My number is 5 5 5. 2 6 7. 8 1 0 9.', `agent: ${ANSWER}`]);
});

t.test('an answer to words that interrupt the agent is drafted before the turn is over', async (t) => {
  const { scene, types } = watched({ reply: 'one two three four five six seven eight nine ten' });
  scene.say('Please count.').untilAgentSpeaks().pause(1000);
  const before = types().length;
  scene.say('No, please count backwards.').pause(420);
  exactly(t, types().slice(before), ['pause', 'resume', 'cancel', 'reply'], 'before the turn is over');
  t.equal(scene.pause(9000).told.at(-2), 'user: No, please count backwards.');
});

t.test('no answer is drafted to a backchannel', async (t) => {
  const { scene, types } = watched({ reply: 'one two three four five six seven eight nine ten' });
  scene.say('Please count.').untilAgentSpeaks().pause(1000).say('mm-hm', 350).pause(8000);
  t.equal(types().filter((type) => type === 'reply').length, 1);
});

t.test("a draft that fails is excused at the turn's end, and the model is asked once", async (t) => {
  const { scene, types } = watched({ fails: true, thinkMs: 0 });
  scene.say('I would like a room.').pause(6000);
  t.same(scene.told, ['user: I would like a room.', 'agent: Sorry, I could not answer.']);
  t.equal(types().filter((type) => type === 'reply').length, 1);
});

t.test('when the user goes on, a draft that failed is forgotten and all is answered anew', async (t) => {
  const { scene } = watched({ fails: true, thinkMs: 0 });
  scene.say('I would like a room.').pause(450).say('For two please.').pause(6000);
  t.same(scene.told, ['user: I would like a room. For two please.', 'agent: Sorry, I could not answer.']);
});

t.test('a typed message or `interrupt` discards the draft, and the words are answered', async (t) => {
  for (const thinkMs of [0, 3000]) {
    const { scene } = watched({ thinkMs });
    scene.say('I would like a room.').pause(450);
    scene.actor.send({ type: 'typed', text: 'Two rooms', aloud: true });
    const { told } = scene.pause(9000);
    t.same(told.filter((line) => line.startsWith('user')).sort(), [
      'user: I would like a room.',
      'user: Two rooms',
    ]);
    t.equal(told.at(-1), `agent: ${ANSWER}`);
    const interrupted = watched({ thinkMs });
    interrupted.scene.say('I would like a room.').pause(450);
    interrupted.scene.actor.send({ type: 'interrupt' });
    t.ok(interrupted.types().includes('cancel'));
    t.same(interrupted.scene.pause(9000).told, ['user: I would like a room.', `agent: ${ANSWER}`]);
  }
});

t.test("when a call ends during a draft, the user's words are in the record", async (t) => {
  const { scene } = watched({ thinkMs: 0 });
  scene.say('Cancel my order.').pause(450);
  scene.actor.send({ type: 'left' });
  t.same(scene.told, ['user: Cancel my order.', 'end: user_hangup']);
});
