/** What an agent's owner was asked before the call, in its record: once, and not for the model. */
import t from '../../../../fixtures/tap.js';
import type { SessionItem, SessionPlan } from '../../../../../contracts/ports/sessions/sessions.js';
import type { HostedSession } from '../../../../../gateway/agents/conversations/agent-in-charge.js';
import { noteAskedBefore } from '../../../../../gateway/agents/conversations/asked-before.js';
import { Dialogue } from '../../../../../gateway/agents/conversations/dialogue.js';
import { before } from '../../../../../gateway/agents/conversations/recovery.js';
import { exactly } from '../../../../fixtures/exactly.js';
import { standIn } from '../../../../fixtures/stand-in.js';

const init = { ok: false, input: '{"event":"conversation.init"}', output: 'it answered 500', latencyMs: 7 };

function noted(session: Partial<HostedSession>): { items: SessionItem[]; dialogue: Dialogue } {
  const items: SessionItem[] = [];
  const dialogue = new Dialogue(
    () => new Date(),
    (item) => void items.push(item),
  );
  noteAskedBefore(standIn<HostedSession>(session), dialogue);
  return { items, dialogue };
}

t.test(
  'the question and its failure are a call of a tool in the record, of which the model is not told',
  async (t) => {
    const plan = standIn<SessionPlan>({ init });
    const { items, dialogue } = noted({ plan });
    exactly(t, items, [
      { type: 'tool_call', toolName: 'conversation.init', toolSource: 'webhook', input: init.input },
      { type: 'tool_result', status: 'failed', error: 'it answered 500', output: '', latencyMs: 7 },
    ]);
    t.strictSame(dialogue.messages, []);
    t.strictSame(before(items), { told: [], turns: 0, calls: 1 }, 'nor after a takeover');
    t.strictSame(noted({ plan, said: items }).items, [], 'which does not note it again');
  },
);

t.test('without a question there is nothing', async (t) => {
  t.strictSame(noted({ plan: standIn<SessionPlan>({}) }).items, []);
});
