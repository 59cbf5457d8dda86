/** When what an agent does in the world may begin (actors/agent/effects.ts), step by step. */
import t from '../../../fixtures/tap.js';
import { Steps } from '../../../fixtures/actors/agent-steps.js';

const thinking = (settings = {}) => new Steps(settings).type('Book for four.');
const decided = (steps: Steps) => steps.took('proceed', 'desist', 'cancel', 'end');

t.test('an effect begins at once while the user is silent, and a lookup always', async (t) => {
  t.strictSame(decided(thinking().wants('effect')), ['proceed 1']);
  t.strictSame(decided(thinking().voice(true).wants('read')), ['proceed 1']);
  t.strictSame(decided(thinking().voice(true).wants('read', 'effect')), []);
});

t.test('an effect waits for the user’s voice and for the transcript that is owed', async (t) => {
  for (const act of ['effect', 'handOver', 'transfer', 'hangUp'] as const) {
    const steps = thinking().voice(true).wants(act);
    t.strictSame(decided(steps.pass(2000).voice(false).pass(5000)), [], act);
    t.strictSame(decided(steps.final('').pass(5000)), ['proceed 1'], act);
  }
});

t.test('words that come before it belong to the turn: nothing begins', async (t) => {
  const steps = thinking().voice(true).wants('effect');
  steps.pass(500).voice(false).final('No, make it six.').pass(3000);
  t.strictSame(decided(steps), ['cancel 1 words']);
});

t.test('words that an agent answers later refuse the tools of the answer before', async (t) => {
  const steps = new Steps({ interruptible: false }).answering();
  steps.voice(true).wants('effect').pass(500).voice(false).final('No, make it six.').pass(3000);
  t.strictSame(steps.took('desist', 'proceed'), ['desist 1']);
  t.strictSame(steps.job('ended').took('reply'), ['reply 2 turn aloud']);
});

t.test('a voice in which no words are found for three seconds holds nothing back', async (t) => {
  const steps = thinking().voice(true).wants('effect');
  t.strictSame(decided(steps.pass(2999)), []);
  t.strictSame(decided(steps.pass(1)), ['proceed 1']);
  const spoken = thinking({ interruptible: false }).voice(true).wants('effect').guess('well now I');
  t.strictSame(decided(spoken.pass(10_000)).slice(0, 1), ['cancel 1 words'], 'words do');
});

t.test('a crowd that pauses is still one, but the transcript of a pause is waited for', async (t) => {
  const steps = thinking().voice(true).wants('effect').pass(1000).voice(false).pass(100).voice(true);
  t.strictSame(decided(steps.pass(2500)), []);
  t.strictSame(decided(steps.final('', 1)), ['proceed 1']);
});

t.test('the call does not end over the user, who is answered if it was words', async (t) => {
  const parting = () => new Steps().answering().job('hangUp').job('ending').voice(true).job('ended');
  t.strictSame(decided(parting()), []);
  t.strictSame(decided(parting().pass(500).voice(false).final('').pass(3000)), ['end agent_hangup']);
  const asked = parting().pass(500).voice(false).final('But I have one more question.').pass(3000);
  t.strictSame(asked.took('reply', 'end').slice(-1), ['reply 2 turn aloud']);
});
