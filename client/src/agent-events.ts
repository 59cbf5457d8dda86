/** What a session tells of the gateway's messages that need nothing done: one row for each, to an event and its fields. */
import type { SessionEvents } from './events.js';
import type { AgentEvents } from './protocol.js';

type Told = {
  readonly [Name in keyof SessionEvents]: readonly [Name, SessionEvents[Name]];
}[keyof SessionEvents];

/** Messages that a session acts upon itself. */
export type Handled = 'client_tool.call' | 'error' | 'session.ended';

/** Fields that older gateways do not send have their defaults. */
export const RELAYED: {
  readonly [Type in Exclude<keyof AgentEvents, Handled>]: (event: AgentEvents[Type]) => Told;
} = {
  'tool.started': ({ callId, toolName, toolSource: source, input = '', inputTruncated = false }) => [
    'toolCallStarted',
    { callId, toolName, source, input, inputTruncated },
  ],
  'tool.completed': ({ callId, toolName, toolSource: source, output = '', outputTruncated = false }) => [
    'toolCallCompleted',
    { callId, toolName, source, output, outputTruncated },
  ],
  'tool.failed': ({ callId, toolName, toolSource: source, error = '' }) => [
    'toolCallFailed',
    { callId, toolName, source, error },
  ],
  'turn.completed': ({ number, turnId, cause, latencyMs, latency, interruptedBy, answerCut = null }) => [
    'turnCompleted',
    { number, turnId, cause, latencyMs, latency, interruptedBy, answerCut },
  ],
  'agent.changed': ({ agentId, agentName }) => ['agentChange', { agentId, agentName }],
  'language.changed': ({ language }) => ['languageChange', { language }],
  'message.dropped': ({ event, reason }) => ['messageDropped', { event, reason }],
};
