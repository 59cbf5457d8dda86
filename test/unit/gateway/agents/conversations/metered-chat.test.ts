/** Metering of the language model: the tokens that it reports, else counted ones, however the answer ends. */
import t from '../../../../fixtures/tap.js';
import { ServiceError } from '../../../../../contracts/errors.js';
import type { EndpointFailure } from '../../../../../contracts/ports/sessions/sessions.js';
import type { ChatEvent, ChatModel } from '../../../../../contracts/ports/chat.js';
import { ChatMeter } from '../../../../../gateway/agents/conversations/metered-chat.js';
import type { TurnNote } from '../../../../../gateway/agents/conversations/turns/turn-events.js';
import { rejectsExactly } from '../../../../fixtures/exactly.js';

const REQUEST = { messages: [{ role: 'user', content: 'four' }], tools: [], passages: [] } as const;
const TEXT = { kind: 'text', text: 'answer' } as const;
const TOLD = { kind: 'usage', tokens: { inputTokens: 90, outputTokens: 9 } } as const;

const usedBy = (model: string, inputTokens: number, outputTokens: number) => ({
  ...{ inputTokens, outputTokens },
  models: [{ model, inputTokens, outputTokens }],
});

interface Options {
  readonly hasTokens?: boolean;
  /** The host of an agent's own model. */
  readonly endpoint?: string;
  readonly count?: (text: string) => Promise<number>;
}

function metered(
  events: readonly (ChatEvent | Error)[],
  { hasTokens = true, count, endpoint }: Options = {},
) {
  const chat: ChatModel = {
    ...{ name: 'test', hasTokens, ...(endpoint !== undefined && { endpoint }) },
    async *chat() {
      for (const event of events) {
        if (event instanceof Error) throw event;
        yield event;
      }
    },
  };
  const notes: TurnNote[] = [];
  const tokens = { count: count ?? (async (text: string) => text.length) };
  const failures: EndpointFailure[] = [];
  const meter = new ChatMeter({
    model: () => chat,
    tokens,
    note: (note) => notes.push(note),
    failed: () => undefined,
    endpointFailed: (failure) => failures.push(failure),
  });
  const heard: ChatEvent[] = [];
  const ask = async (): Promise<void> => {
    for await (const event of meter.ask(3, REQUEST, new AbortController().signal)) heard.push(event);
  };
  const usages = () => notes.flatMap((note) => (note.type === 'used' ? [note.usage] : []));
  return { ask, meter, notes, heard, usages, failures };
}

t.test('usage that the model reports is counted, and not passed on', async (t) => {
  const { ask, notes, heard } = metered([TEXT, TEXT, TOLD]);
  await ask();
  t.same(heard, [TEXT, TEXT]);
  t.same(notes[0], { type: 'modelAsked', job: 3 });
  t.same(notes.slice(-2), [
    { type: 'modelEnded', job: 3 },
    { type: 'used', job: 3, usage: usedBy('test', 90, 9) },
  ]);
});

t.test('usage that it does not report is estimated, and marked so; the answer does not wait', async (t) => {
  const { ask, meter, usages } = metered([TEXT]);
  await ask();
  await meter.settled();
  t.same(usages(), [{ ...usedBy('test', 4, 6), tokensEstimated: true }]);
});

t.test('an answer that fails has cost what was asked', async (t) => {
  const { ask, meter, usages } = metered([TEXT, new Error('away')]);
  await rejectsExactly(t, ask(), { message: 'away' });
  await meter.settled();
  t.same(usages(), [{ ...usedBy('test', 4, 6), tokensEstimated: true }]);
});

t.test('without a counter, by its length', async (t) => {
  const { ask, meter, usages } = metered([TEXT], { count: () => Promise.reject(new Error('busy')) });
  await ask();
  await meter.settled();
  t.same(usages(), [{ ...usedBy('test', 1, 2), tokensEstimated: true }]);
});

t.test('a model without tokens has no usage', async (t) => {
  const { ask, meter, usages } = metered([TEXT], { hasTokens: false });
  await ask();
  await meter.settled();
  t.same(usages(), []);
});

const failure = (error: unknown, next?: string): ChatEvent => ({
  kind: 'failed',
  error,
  failure: { model: 'test', address: '', setting: '', code: '', status: 0, next },
});

t.test(
  'each failed request to a model of the agent’s own is told once, and none of the gateway’s',
  async (t) => {
    const away = new ServiceError('provider_failed', { answered: 503 });
    const late = new ServiceError('first_byte_timeout');
    const events = [failure(away, 'again'), failure(late), late];
    const own = metered(events, { endpoint: 'llm.example' });
    await rejectsExactly(t, own.ask(), { code: 'first_byte_timeout' });
    const told = { model: 'test', host: 'llm.example' };
    t.strictSame(own.failures, [
      { ...told, error: 'failed', statusCode: 503, retried: true },
      { ...told, error: 'timeout', statusCode: null, retried: false },
    ]);
    const inMiddle = metered([TEXT, away], { endpoint: 'llm.example' });
    await rejectsExactly(t, inMiddle.ask(), { code: 'provider_failed' });
    t.strictSame(inMiddle.failures, [{ ...told, error: 'failed', statusCode: 503, retried: false }]);
    const gateways = metered(events);
    await rejectsExactly(t, gateways.ask(), { code: 'first_byte_timeout' });
    t.strictSame(gateways.failures, []);
  },
);
