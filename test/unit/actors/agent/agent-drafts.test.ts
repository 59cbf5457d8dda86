/**
 * Drafts, as scenarios on the simulated clock: the answer is made while it is uncertain whether the user has finished, and
 * is not played before that is certain.
 */
import t from '../../../fixtures/tap.js';
import type { AgentEffect } from '../../../../actors/agent/events.js';
import { exactly } from '../../../fixtures/exactly.js';
import { Steps } from '../../../fixtures/actors/agent-steps.js';
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

/** What becomes of jobs once the words of the present voice, if it ends now, are known. */
const ofJobs = (steps: Steps): string[] => steps.took('reply', 'cancel', 'message', 'sure');
const foreseen = (text: string, settings = {}): Steps => {
  const steps = new Steps({ drafts: true, ...settings }).voice(true).pass(800);
  return steps.send({ type: 'foreseen', span: steps.lastSpan, text });
};
const QUESTION = 'Are you open?';
const DRAFTED = `reply 1 turn aloud ${QUESTION}`;

t.test('an answer to a question is drafted as the voice pauses, before it has surely ended', async (t) => {
  const steps = foreseen(QUESTION);
  t.strictSame(ofJobs(steps), [DRAFTED]);
  steps.pass(200).job('audible').voice(false).final(QUESTION).pass(220);
  t.strictSame(ofJobs(steps), [], 'its words are known: it is not asked for again, and not spoken yet');
  t.strictSame(ofJobs(steps.pass(20)), [`message ${QUESTION}`, 'sure 1']);
});

t.test('a draft is discarded as the voice goes on, and all of it is answered', async (t) => {
  const steps = foreseen(QUESTION);
  steps.job('audible').took();
  t.strictSame(ofJobs(steps.send({ type: 'foreseen', span: 1, text: '' })), ['cancel 1 voice']);
  steps.pass(800).voice(false).final('Are you open on Sunday?');
  t.strictSame(ofJobs(steps), ['reply 2 turn aloud Are you open on Sunday?']);
  t.strictSame(ofJobs(steps.pass(300)), ['message Are you open on Sunday?', 'sure 2']);
});

t.test('a draft that answers other words than were said is never spoken', async (t) => {
  const after = (text: string, ms: number): string[] => {
    const steps = foreseen(QUESTION).job('audible').pass(200).voice(false);
    steps.took();
    return ofJobs(steps.final(text).pass(ms));
  };
  t.strictSame(
    after('Are you closed?', 300),
    ['cancel 1 words', 'reply 2 turn aloud Are you closed?', 'message Are you closed?', 'sure 2'],
    'it is drafted anew',
  );
  t.strictSame(
    after('Are you open every', 3000),
    ['cancel 1 words', 'message Are you open every', 'reply 2 turn aloud'],
    'or asked for at the end',
  );
  t.strictSame(
    after('', 3000),
    ['cancel 1 words', 'message (unclear)', 'reply 2 turn aloud'],
    'or not at all',
  );
});

t.test('what became of a draft does not count for other words', async (t) => {
  for (const end of ['failed', 'ended'] as const) {
    const steps = foreseen(QUESTION).job(end).voice(false);
    steps.took();
    t.strictSame(ofJobs(steps.final('Are you closed?')), ['reply 2 turn aloud Are you closed?'], end);
    const gone = foreseen(QUESTION).job(end);
    gone.send({ type: 'foreseen', span: 1, text: '' }).voice(false).took();
    t.strictSame(ofJobs(gone.final('Are you closed?')), ['reply 2 turn aloud Are you closed?'], end);
  }
});

t.test('only to words that nothing need follow an answer is drafted that early', async (t) => {
  for (const text of ['', 'I moved to London.', 'I want the', 'My number is 4 5.', 'Are you open every'])
    t.strictSame(ofJobs(foreseen(text)), [], text);
  t.strictSame(ofJobs(foreseen(QUESTION, { drafts: false })), [], 'nor by an agent without drafts');
  const steps = new Steps({ drafts: true }).voice(true).pass(800);
  t.strictSame(ofJobs(steps.send({ type: 'foreseen', span: 7, text: QUESTION })), [], 'nor to an old voice');
  const speaking = new Steps({ drafts: true }).answering().voice(true);
  speaking.took();
  speaking.send({ type: 'foreseen', span: speaking.lastSpan, text: QUESTION });
  t.strictSame(ofJobs(speaking), [], 'nor while the agent speaks');
});
