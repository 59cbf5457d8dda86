/** What one ended call adds to the figures of its workspace (contracts/sessions/call-figures.ts). */
import t from '../../../fixtures/tap.js';
import { kindOfCall, sumsOfCall, wordsIn } from '../../../../contracts/sessions/call-figures.js';
import { latencyCounts } from '../../../../contracts/sessions/latency-counts.js';
import { TURN } from '../../../fixtures/calls/turns.js';

const said = (role: 'user' | 'assistant', content: string) => ({ role, content });

t.test('a call adds its answers, tools, words, length and cost', async (t) => {
  const opener = { ...TURN, cause: 'opener' as const, tools: [], playedMs: 300 };
  const failed = { ...TURN, playedMs: null, error: 'provider_failed', tools: [] };
  const messages = [said('assistant', 'Hello there'), said('user', 'I’d like two, please.')];
  const prices = { currency: 'EUR', call_minute: 0.5 };
  t.strictSame(sumsOfCall({ turns: [opener, TURN, failed], messages, callMs: 120_000, prices }), {
    ...{ calls: 1, answers: 3, failedAnswers: 1, tools: 1, failedTools: 1 },
    ...{ wordsUser: 4, wordsAgent: 2, callMs: 120_000, cost: 1 },
    latencies: latencyCounts([1020]),
  });
});

t.test('only answers that somebody waited for have a latency', async (t) => {
  const turns = (['turn', 'typed', 'opener', 'reengage', 'farewell', 'news'] as const).map((cause) => ({
    ...TURN,
    cause,
  }));
  const { answers, latencies } = sumsOfCall({ turns, messages: [], callMs: 0, prices: null });
  t.equal(answers, 6);
  t.strictSame(latencies, latencyCounts([1020, 1020]));
});

t.test('words are counted in any script', async (t) => {
  const texts = {
    '': 0,
    '… – !': 0,
    "It's 7.30, twenty-two": 3,
    'größer als ÄÖÜ': 3,
    'Привет, мир': 2,
    営業時間は九時: 4,
  };
  for (const [text, words] of Object.entries(texts)) t.equal(wordsIn(text), words, text);
});

t.test('a call by telephone has its direction', async (t) => {
  t.equal(kindOfCall('phone', 'outbound'), 'phone_outbound');
  t.equal(kindOfCall('phone', null), 'phone_inbound');
  t.equal(kindOfCall('public', null), 'public');
});
