/** What an agent's owner was asked before the call (contracts/ports/sessions/conversation-init.ts), in its record. */
import { INIT_EVENT } from '../../../contracts/ports/sessions/conversation-init.js';
import type { HostedSession } from './agent-in-charge.js';
import type { Dialogue } from './dialogue.js';

/** Notes it as a call of a tool, of which the model knows nothing: once, by the process that begins the call. */
export function noteAskedBefore({ plan: { init }, said }: HostedSession, dialogue: Dialogue): void {
  if (!init || said) return;
  const { ok, input, output, latencyMs } = init;
  const note = { callId: dialogue.nextCallId(), toolName: INIT_EVENT, toolSource: 'webhook' } as const;
  dialogue.called(note.callId, note.toolName, note.toolSource, input);
  dialogue.outcome({
    ...note,
    status: ok ? 'completed' : 'failed',
    output: ok ? output : '',
    outputTruncated: false,
    error: ok ? null : output,
    latencyMs,
  });
}
