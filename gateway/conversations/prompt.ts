/** The messages for the language model: prompt, time, why it is asked, and the conversation. */
import type { Cause } from '../../actors/agent/events.js';
import type { ChatMessage } from '../../contracts/ports/chat.js';
import type { SessionPlan } from '../../contracts/ports/sessions/sessions.js';

const system = (content: string): ChatMessage => ({ role: 'system', content });

/** Our addition, so that any prompt sounds right when it is spoken. */
const SPOKEN =
  'You speak with the user on a voice call. Answer in short spoken sentences, without lists, headings, emoji or markup.';

/** Date and time as people say them, in the session's timezone. */
export function worldContext(now: Date, timezone: string): string {
  const timeZone = timezone === '' ? 'UTC' : timezone;
  const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone });
  return `It is ${format.format(now)} (${timeZone}).`;
}

/** For calls without a telephone, and for providers that cannot transfer (docs/contract/decisions.md 20). */
const NO_PHONE =
  'You cannot transfer this call or reach anybody by telephone. Say so plainly when the user asks for it.';

const REENGAGE = 'The user has been silent for a while. Ask briefly whether they are still there.';

const FAREWELL =
  'The user has not answered for a long while. Say goodbye in one short sentence: the call ends with it.';

const NEWS =
  'A tool that ran beside the conversation has answered. Tell the user briefly what it means for them.';

const HANDOVER =
  'You have just taken this call over from another agent, whose note is in its call of transfer_to_agent. ' +
  'Say in one short sentence who you are, and go on with what the user needs.';

const CONTINUE =
  'A noise broke you off. Go on from there in a natural way, without repeating what was heard.';

/** The occasion of a reply, if it is not the user's words. */
const OCCASIONS: Readonly<Record<Cause, (plan: SessionPlan) => ChatMessage[]>> = {
  turn: () => [],
  opener: ({ config }) => [system(`Begin the conversation. ${config.prompt.first_message_prompt}`)],
  reengage: () => [system(REENGAGE)],
  farewell: () => [system(FAREWELL)],
  news: () => [system(NEWS)],
  handover: () => [system(HANDOVER)],
  continue: () => [system(CONTINUE)],
};

/** The messages of one request. `said`: the conversation so far. */
export function messagesFor(
  cause: Cause,
  plan: SessionPlan,
  said: readonly ChatMessage[],
  now: Date,
  transfersCalls: boolean,
): readonly ChatMessage[] {
  const language = `Speak ${new Intl.DisplayNames('en', { type: 'language' }).of(plan.config.voice.speaking_language) ?? 'English'}.`;
  return [
    system(plan.config.prompt.system_prompt),
    system(`${SPOKEN} ${language}`),
    ...(plan.config.conversation.transfer_destinations.length > 0 && !transfersCalls
      ? [system(NO_PHONE)]
      : []),
    ...(plan.worldContext ? [system(worldContext(now, plan.timezone))] : []),
    ...said,
    ...OCCASIONS[cause](plan),
  ];
}
