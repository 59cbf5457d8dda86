/** Which answer a client's `response.cancel` means, when it crosses with the beginning of the next one. */
import { Answers } from '../../../../../gateway/dialects/agent-realtime/answers.js';
import { Items } from '../../../../../gateway/dialects/agent-realtime/items.js';
import { ServerEvents } from '../../../../../gateway/dialects/protocol-a/realtime/server-events.js';
import type { MemoryShare } from '../../../../../contracts/ports/accounts/memory.js';
import { standIn } from '../../../../fixtures/stand-in.js';
import t from '../../../../fixtures/tap.js';

function answersAt(clock: { now: number }) {
  const sent: { type: string; response?: { id: string } }[] = [];
  const events = new ServerEvents({ send: (frame) => void sent.push(JSON.parse(String(frame))) }, 'test');
  const share = standIn<MemoryShare>({ bytes: 0, charge: () => true, release: () => undefined });
  const look = { conversationId: 'conv', audio: () => ({}), byRtp: false };
  const items = new Items(events, share);
  const answers = new Answers(events, items, look, { monotonic: () => clock.now });
  const responses = () =>
    sent.flatMap(({ type, response }) => (type === 'response.created' ? [response?.id] : []));
  return { answers, responses };
}

/** An answer that is heard and then interrupted, and the beginning of the next one. */
function interrupted(clock: { now: number }, answers: Answers): void {
  answers.begin();
  answers.audio(new Uint8Array(960), 1);
  clock.now += 1000;
  answers.cleared();
  answers.begin();
}

t.test('soon after an interruption it means what was interrupted', async (t) => {
  const clock = { now: 0 };
  const { answers } = answersAt(clock);
  interrupted(clock, answers);
  t.notOk(answers.isMeant(undefined), 'the next answer goes on');
  clock.now += 499;
  t.notOk(answers.isMeant(undefined));
  clock.now += 1;
  t.ok(answers.isMeant(undefined), 'later it means the next one');
});

t.test('it means the next answer once something of that has come', async (t) => {
  const clock = { now: 0 };
  const { answers } = answersAt(clock);
  interrupted(clock, answers);
  answers.made({ on: 'made', utterance: 2, ms: 20 });
  answers.audio(new Uint8Array(960), 2);
  t.ok(answers.isMeant(undefined));
});

t.test('it means the answer that it names', async (t) => {
  const clock = { now: 0 };
  const { answers, responses } = answersAt(clock);
  interrupted(clock, answers);
  const [before, next] = responses();
  t.ok(answers.isMeant(next));
  t.notOk(answers.isMeant(before));
});

t.test('what the client itself has cancelled is no interruption', async (t) => {
  const clock = { now: 0 };
  const { answers } = answersAt(clock);
  answers.begin();
  answers.cancelled();
  answers.cleared();
  answers.begin();
  t.ok(answers.isMeant(undefined));
});
