/** A silence of both sides ends a call: what its record, its client and its caller get of that. */
import t from '../../../../fixtures/tap.js';
import type { ChatMessage } from '../../../../../contracts/ports/chat.js';
import { SimulatedClock } from '../../../../fixtures/clock.js';
import {
  type Answer,
  type Hosted,
  type HostedOptions,
  joined,
  saying,
  webhookTool,
} from '../../../../fixtures/conversation/hosted.js';
import { exactly } from '../../../../fixtures/exactly.js';
import { until } from '../../../../fixtures/until.js';

const GOODBYE = 'I cannot hear you any more, so I will end this call now. Goodbye.';
const conversation = { hangup_after_seconds: 30, hangup_farewell_enabled: true };

/** A call on a clock that stands still unless the test lets it go on, in whole seconds. */
function silentCall(t: Parameters<typeof joined>[0], options: HostedOptions = {}) {
  const clock = new SimulatedClock();
  const hosted = joined(t, { clock, conversation, ...options });
  const pass = (seconds: number): void => {
    for (let second = 0; second < seconds; second += 1) clock.advance(1000);
  };
  return { hosted, pass };
}

/** Lets time go on until the call has ended, and its record is written. */
async function ended({ hosted, pass }: { hosted: Hosted; pass: (seconds: number) => void }): Promise<void> {
  let isOver = false;
  void hosted.conversation.over.then(() => (isOver = true));
  await until('it is over', () => (pass(1), isOver));
}

t.test('the goodbye is said and recorded, and both sides are told that a limit ended the call', async (t) => {
  const call = silentCall(t);
  const { hosted, pass } = call;
  await until('the agent listens', () => hosted.activated > 0);
  pass(29);
  t.same(hosted.messages, []);
  pass(1);
  await until('it is said', () => hosted.messages.length > 0);
  t.same(hosted.messages, [`assistant: ${GOODBYE}`]);
  await ended(call);
  exactly(t, hosted.sent.at(-1), { type: 'session.ended', reason: 'conversation_timeout' });
  t.same(hosted.endedReasons, ['timeout']);
  exactly(t, hosted.turns, [{ cause: 'farewell' }]);
});

t.test('without a goodbye it ends in silence, and after a takeover by another machine, too', async (t) => {
  const createdAt = new Date();
  const said = [{ type: 'message', role: 'user', content: 'before', turnId: 1, createdAt }] as const;
  const mute = { hangup_after_seconds: 10, recovery_mode: 'off' } as const;
  for (const more of [{}, { said }]) {
    const call = silentCall(t, { conversation: mute, ...more });
    await until('the agent listens', () => call.hosted.activated > 0);
    await ended(call);
    t.same([call.hosted.messages, call.hosted.endedReasons], [[], ['timeout']]);
  }
});

t.test('a tool that goes on after the caller’s words is waited for, and its result told', async (t) => {
  const told = (messages: readonly ChatMessage[]): boolean => JSON.stringify(messages).includes('booked');
  const books: Answer = async function* (request, signal) {
    const isAsked = request.messages.at(-1)?.role === 'user' && !told(request.messages);
    const calls = [{ id: 'a', name: 'book', arguments: '{}' }];
    if (isAsked && request.messages.length < 4) yield { kind: 'calls', calls };
    else yield* saying('Fine.')(request, signal);
  };
  let answer = (_text: string): void => undefined;
  const toolSays = () => new Promise<string>((resolve) => (answer = resolve));
  const tools = [webhookTool('book', { method: 'POST' })];
  const call = silentCall(t, { answer: books, tools, toolSays });
  const { hosted, pass } = call;
  hosted.client({ type: 'user.message', text: 'Book it.' });
  await until('it runs', () => hosted.requests.length > 0);
  hosted.client({ type: 'user.message', text: 'And hurry.' });
  await until('it is answered', () => hosted.messages.includes('assistant: Fine.'));
  pass(100);
  t.notOk(hosted.messages.includes(`assistant: ${GOODBYE}`), 'the caller waits for the result');
  answer('booked');
  await until('it is told', () => hosted.messages.filter((line) => line === 'assistant: Fine.').length > 1);
  await ended(call);
  t.equal(hosted.messages.at(-1), `assistant: ${GOODBYE}`);
});
