/** Each message that the gateway sends to a client is one that the session SDK surfaces (client/src/agent-events.ts). */
import { CHECKOUT } from '../../../../../../contracts/places.js';
import t from '../../../../../fixtures/tap.js';
import type { Turn } from '../../../../../../contracts/sessions/turns.js';
import { AGENT_EVENTS } from '../../../../../../gateway/agents/conversations/client/events.js';
import { exactly } from '../../../../../fixtures/exactly.js';

interface Sdk {
  readonly RELAYED: Readonly<Record<string, (event: object) => readonly [name: string, told: object]>>;
}
const sdk = new URL('client/dist/agent-events.js', CHECKOUT).href;
const { RELAYED } = (await import(sdk)) as Sdk;

const note = { callId: 'call_1', toolName: 'look', toolSource: 'webhook' };
const turn = {
  ...{ number: 3, turnId: 2, cause: 'turn', playedMs: 700, parts: { model: 700 }, interrupted: null },
  requests: [{ askedMs: 0, firstTokenMs: 1, endedMs: 2, cut: 'length' }],
} as unknown as Turn;

/** The gateway's messages, and what the SDK tells; those without are acted upon (client/src/session.ts). */
const MESSAGES: {
  readonly [Name in keyof typeof AGENT_EVENTS]: readonly [sent: object, told?: readonly [string, object]];
} = {
  toolStarted: [
    AGENT_EVENTS.toolStarted(note, '{}'),
    [
      'toolCallStarted',
      { callId: 'call_1', toolName: 'look', source: 'webhook', input: '{}', inputTruncated: false },
    ],
  ],
  toolCompleted: [
    AGENT_EVENTS.toolCompleted(note, '42'),
    [
      'toolCallCompleted',
      { callId: 'call_1', toolName: 'look', source: 'webhook', output: '42', outputTruncated: false },
    ],
  ],
  toolFailed: [
    AGENT_EVENTS.toolFailed(note, 'No'),
    ['toolCallFailed', { callId: 'call_1', toolName: 'look', source: 'webhook', error: 'No' }],
  ],
  clientToolCall: [AGENT_EVENTS.clientToolCall('call_1', 'look', {}, true)],
  turnCompleted: [
    AGENT_EVENTS.turnCompleted(turn),
    [
      'turnCompleted',
      {
        ...{ number: 3, turnId: 2, cause: 'turn', latencyMs: 700, latency: { model: 700 } },
        ...{ interruptedBy: null, answerCut: 'length' },
      },
    ],
  ],
  agentChanged: [AGENT_EVENTS.agentChanged('a', 'Ada'), ['agentChange', { agentId: 'a', agentName: 'Ada' }]],
  languageChanged: [AGENT_EVENTS.languageChanged('de'), ['languageChange', { language: 'de' }]],
  messageDropped: [
    AGENT_EVENTS.messageDropped('user.message', 'too_long'),
    ['messageDropped', { event: 'user.message', reason: 'too_long' }],
  ],
  failed: [AGENT_EVENTS.failed('provider_failed')],
  ended: [AGENT_EVENTS.ended('gone')],
};
/** What a session does itself. */
const HANDLED = ['client_tool.call', 'error', 'session.ended'];

const typeOf = (sent: object): string => (sent as { readonly type: string }).type;

t.test('every message of the gateway is an event of the session, or acted upon', async (t) => {
  for (const [sent, told] of Object.values(MESSAGES)) {
    const relay = RELAYED[typeOf(sent)];
    if (told) t.strictSame(relay?.(JSON.parse(JSON.stringify(sent)) as object), told, typeOf(sent));
    else t.ok(HANDLED.includes(typeOf(sent)) && !relay, typeOf(sent));
  }
  const types = new Set(Object.values(MESSAGES).map(([sent]) => typeOf(sent)));
  t.strictSame(new Set([...Object.keys(RELAYED), ...HANDLED]), types, 'and the SDK knows no other');
});

t.test('an older gateway does not say why an answer was cut', async (t) => {
  exactly(t, RELAYED['turn.completed']?.({ type: 'turn.completed', number: 1 })[1], { answerCut: null });
});
