/** Tools of conversations in writing. */
import t from '../../../../../fixtures/tap.js';
import type { ConversationTool } from '../../../../../../gateway/agents/conversations/tools/tool.js';
import { waitedFor } from '../../../../../../gateway/agents/conversations/writing/waited-for.js';

t.test('in writing the agent waits for every webhook, whatever its execution_mode (D10)', async (t) => {
  const run = () => Promise.resolve({ ok: true, output: '' });
  const tool = {
    name: 'look',
    description: '',
    parameters: {},
    source: 'webhook',
    act: 'effect',
    run,
  } as const;
  const forgotten: ConversationTool = { ...tool, besideSpeech: true, isForgotten: true };
  const { besideSpeech, isForgotten } = waitedFor(forgotten);
  t.strictSame([besideSpeech, isForgotten], [false, false]);
  const client: ConversationTool = { ...tool, source: 'client', besideSpeech: true };
  t.equal(waitedFor(client), client);
});
