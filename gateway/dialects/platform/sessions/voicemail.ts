/**
 * What happens where an answering machine takes a placed call, as the agent is configured (`conversation.outbound`): its message with the
 * session's variables, made with the session. A call's own `voicemail` wins over it (../calls/placing.ts).
 */
import type { Variables } from '../../../../contracts/agents/plan.js';
import { render } from '../../../../contracts/agents/placeholders.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { Voicemail } from '../../../../contracts/phone/phone.js';
import type { AgentConfig } from '../../../../contracts/schemas/agent-config.js';
import { invalid, problem } from '../errors.js';

type Outbound = AgentConfig['conversation']['outbound'];
type Action = NonNullable<Outbound['voicemail']>['action'];

/** The names of placed calls, and how long the message may be: one that is said, or what the model is told. */
const ACTIONS: Readonly<Record<Action, readonly [action: Voicemail['action'], longest: number]>> = {
  hangup: ['hang_up', Infinity],
  leave_message: ['leave_message', LIMITS.phone.voicemail.max],
  leave_prompt_message: ['leave_prompt_message', LIMITS.agent.voicemailMessage],
};

/** The language with its most likely region, which providers require. */
export function localeOf(language: string): string {
  const { language: name, region = '' } = new Intl.Locale(language).maximize();
  return region === '' ? name : `${name}-${region}`;
}

/** Null: machines are not detected. Errors: `validation_failed` if the message is too long with its variables. */
export function agentVoicemail(
  { amd_enabled: detects, voicemail }: Outbound,
  variables: Variables,
  language: string,
): Voicemail | null {
  if (!detects) return null;
  const { action: named, message: template } = voicemail ?? { action: 'hangup', message: '' };
  const [action, longest] = ACTIONS[named];
  const message = render(template, new Map(Object.entries(variables)));
  if (message === undefined || message.length > longest)
    throw invalid([
      problem(
        ['dynamic_variables'],
        `conversation.outbound.voicemail.message is longer than ${longest} characters with its variables`,
      ),
    ]);
  // Nothing to say is no reason to be silent on somebody's machine.
  if (action === 'hang_up' || message.trim() === '') return { action: 'hang_up' };
  return { action, message, language: localeOf(language) };
}
