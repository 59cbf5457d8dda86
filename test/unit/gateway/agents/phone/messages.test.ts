/** Messages for answering machines that the language model writes (docs/contract/platform.md 6.14): by whom, in what time, how long. */
import type { Test } from 'tap';
import t from '../../../../fixtures/tap.js';
import { silentLog } from '../../../../../contracts/log.js';
import type { ChatEvent, ChatRequest } from '../../../../../contracts/ports/chat.js';
import type { PlacedCall } from '../../../../../contracts/ports/phone/placed-calls.js';
import type { RunningSession } from '../../../../../contracts/ports/sessions/sessions.js';
import { DEFAULT_CONFIG } from '../../../../../contracts/schemas/agent-config.js';
import { type MessageParts, Messages } from '../../../../../gateway/agents/phone/messages.js';
import { SimulatedClock } from '../../../../fixtures/clock.js';
import { exactly } from '../../../../fixtures/exactly.js';
import { standIn } from '../../../../fixtures/stand-in.js';
import { until } from '../../../../fixtures/until.js';

const CALL = standIn<PlacedCall>({
  ...{ id: 'call_1', sessionId: 'sess_1', agentId: 'agent_1', workspaceId: 'ws_1', endedAt: null },
  voicemail: { action: 'leave_prompt_message', message: 'Remind Ada.', language: 'de-DE' },
});

const prompt = { ...DEFAULT_CONFIG.prompt, system_prompt: 'You are a bakery.' };
const config = {
  ...DEFAULT_CONFIG,
  prompt,
  voice: { ...DEFAULT_CONFIG.voice, speaking_language: 'de' },
} as const;
const SESSION = standIn<RunningSession>({
  record: standIn<RunningSession['record']>({ endUserId: null }),
  plan: standIn<RunningSession['plan']>({ config }),
});

type Answer = (signal: AbortSignal) => AsyncIterable<ChatEvent>;

async function* words(...texts: readonly string[]): AsyncIterable<ChatEvent> {
  for (const text of texts) yield { kind: 'text', text };
}

async function* silence(signal: AbortSignal): AsyncIterable<ChatEvent> {
  yield { kind: 'text', text: 'Hallo' };
  await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
}

/** Messages of a process, and a row of the call that all processes share. */
function process(answer: Answer | undefined, row: { call: PlacedCall | undefined } = { call: CALL }) {
  const clock = new SimulatedClock();
  const asked: ChatRequest[] = [];
  const chat: ReturnType<MessageParts['modelOf']> = answer && {
    chat: (request, signal) => {
      asked.push(request);
      return answer(signal);
    },
  };
  const placed: MessageParts['placed'] = {
    find: () => Promise.resolve(row.call),
    keepText: (_, text) => {
      if (row.call?.voicemail) row.call = { ...row.call, voicemail: { ...row.call.voicemail, text } };
      return Promise.resolve();
    },
  };
  const runs: MessageParts['runs'] = { unowned: () => Promise.resolve(SESSION) };
  const spoken = (text: string): string => text.replaceAll('*', '');
  return {
    clock,
    asked,
    row,
    messages: new Messages({ modelOf: () => chat, placed, runs, spoken, clock, log: silentLog }),
  };
}

const textOf = async ({ messages }: { readonly messages: Messages }) =>
  (await messages.of(CALL))?.voicemail?.text;

t.test('the model is asked once, with the agent’s prompt, the instruction and the language', async (t) => {
  const here = process(() => words('**Hallo', ' Ada**,\n Ihr Kuchen ist fertig.'));
  await here.messages.begin(CALL);
  t.equal(await textOf(here), 'Hallo Ada, Ihr Kuchen ist fertig.');
  const [{ messages, whom } = { messages: [] }] = here.asked;
  exactly(t, messages, [
    { role: 'system', content: 'You are a bakery.' },
    { role: 'user', content: /in German[^]*\nRemind Ada\.$/ },
  ]);
  t.strictSame(whom, { sessionId: 'sess_1', agentId: 'agent_1', workspaceId: 'ws_1' });
  t.equal(here.asked.length, 1);
});

t.test('other calls ask nobody, and are as they are', async (t) => {
  const here = process(() => words('x'));
  const plain = { ...CALL, voicemail: { action: 'leave_message', message: 'm' } } as const;
  await here.messages.begin(plain);
  t.equal(await here.messages.of(plain), plain);
  t.same(here.asked, []);
});

t.test('a long message ends after a sentence', async (t) => {
  const here = process(() => words(`${'Ja. '.repeat(240)}${'nein '.repeat(100)}`));
  await here.messages.begin(CALL);
  const text = await textOf(here);
  t.ok(text && text.length <= 1000 && text.endsWith('Ja.'), `${text?.length}`);
});

t.test('without a model, or if it fails, says nothing or takes too long, there is no message', async (t) => {
  const modelless = process(undefined);
  await modelless.messages.begin(CALL);
  t.equal(await textOf(modelless), undefined, 'without one, at once');
  const refused: Answer = () => {
    throw new Error('refused');
  };
  for (const answer of [refused, () => words(' * '), silence] satisfies Answer[]) {
    const here = process(answer);
    await here.messages.begin(CALL);
    await pass(t, here.clock, here.messages.settled());
    t.equal(await textOf(here), undefined);
    t.equal(here.row.call?.voicemail?.text, '', 'and no process waits for it');
  }
});

t.test('another process waits for the one that writes, and not for a call that is over', async (t) => {
  const row: { call: PlacedCall | undefined } = { call: CALL };
  const there = process(() => words('unused'), row);
  const message = textOf(there);
  await until('it looks again', () => there.clock.pending > 0);
  row.call = { ...CALL, voicemail: { ...CALL.voicemail!, text: 'Hallo.' } };
  there.clock.advance(250);
  t.equal(await message, 'Hallo.');
  for (const over of [undefined, { ...CALL, endedAt: new Date(0) }])
    t.equal(await textOf(process(() => words('x'), { call: over })), undefined);
});

/** Lets time pass until the promise has settled. */
async function pass(t: Test, clock: SimulatedClock, promise: Promise<unknown>): Promise<void> {
  let settled = false;
  void promise.finally(() => (settled = true));
  await until('the time is up', () => {
    clock.advance(250);
    return settled;
  });
  t.ok(clock.now() <= 10_000, `${clock.now()} ms`);
}
