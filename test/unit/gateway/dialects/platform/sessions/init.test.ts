/** Whom the question before a call is asked about, and what is made of its answer (gateway/dialects/platform/sessions/init.ts). */
import t from '../../../../../fixtures/tap.js';
import type {
  InitQuestion,
  InitReply,
} from '../../../../../../contracts/ports/sessions/conversation-init.js';
import { SESSION_SOURCES } from '../../../../../../contracts/ports/sessions/sessions.js';
import { askedBefore, isAsked } from '../../../../../../gateway/dialects/platform/sessions/init.js';
import { SimulatedClock } from '../../../../../fixtures/clock.js';
import { recordingLog } from '../../../../../fixtures/processes/tools.js';
import { exactly } from '../../../../../fixtures/exactly.js';

const init = {
  url: 'https://crm.example.com/init?key=1',
  has_secret: true,
  timeout_seconds: 2.5,
  web: false,
};
const leg = (direction: 'inbound' | 'outbound') => ({
  ...{ callerNumber: '+14155550123', dialedNumber: '+493012345678' },
  direction,
});

t.test(
  'inbound phone calls ask, placed ones do not; those of clients where it is wished, previews never',
  async (t) => {
    for (const web of [true, false]) {
      const wish = { ...init, web };
      t.equal(isAsked(wish, { source: 'phone', leg: leg('inbound') }), true);
      t.equal(isAsked(wish, { source: 'phone', leg: leg('outbound') }), false);
      const asked = SESSION_SOURCES.filter((source) => isAsked(wish, { source }));
      t.strictSame(asked, web ? ['api_key', 'public'] : []);
    }
  },
);

async function asked(reply: InitReply) {
  const [clock, log] = [new SimulatedClock(), recordingLog()];
  const questions: InitQuestion[] = [];
  const askBeforeCall = (question: InitQuestion) => {
    questions.push(question);
    clock.advance(120);
    return Promise.resolve(reply);
  };
  const coming = { agentId: 'agent_1', source: 'phone', leg: leg('inbound'), timezone: 'UTC' } as const;
  return { ...(await askedBefore(init, coming, { askBeforeCall, clock, log })), questions, log };
}

t.test('its time, its signature, and what the record and the log get', async (t) => {
  const good = await asked({ text: '{"dynamic_variables":{"name":"Ada","vip":true},"more":1}' });
  t.strictSame(good.variables, { name: 'Ada', vip: true });
  exactly(t, good.questions, [{ agentId: 'agent_1', url: init.url, signed: true, timeoutMs: 2500 }]);
  exactly(t, good.outcome, { ok: true, latencyMs: 120, input: good.questions[0]?.body });
  t.strictSame(good.log.lines, []);
  const bad = await asked({ error: 'it did not answer in time' });
  t.strictSame([bad.variables, bad.outcome.ok, bad.outcome.output], [{}, false, 'it did not answer in time']);
  exactly(t, bad.log.lines, [
    {
      fields: {
        part: 'init',
        agentId: 'agent_1',
        host: 'crm.example.com',
        ms: 120,
        reason: 'it did not answer in time',
      },
    },
  ]);
  t.notMatch(JSON.stringify(bad.log.lines), '4155550123', 'nobody’s number is logged');
});
