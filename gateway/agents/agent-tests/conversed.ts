/**
 * One conversation of the real agent with a simulated user, without media: the host and the statechart of every call
 * (gateway/agents/conversations), with a silent voice and mocks of its tools.
 */
import type { Clock } from '../../../contracts/clock.js';
import type { Log } from '../../../contracts/log.js';
import { DEFAULT_TRANSCRIPTION_MODEL } from '../../../contracts/speech/models.js';
import type { PublishedAgents } from '../../../contracts/ports/agents/agents.js';
import type { VoiceTestReport, QueuedTest } from '../../../contracts/ports/agents/agent-tests.js';
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import type { AgentModels } from '../../../contracts/ports/agents/models.js';
import type { KnowledgeSearch } from '../../../contracts/ports/agents/knowledge.js';
import type { OpenMcp } from '../../../contracts/ports/agents/mcp.js';
import type { Outbound } from '../../../contracts/ports/outbound.js';
import type { SessionItem } from '../../../contracts/ports/sessions/sessions.js';
import type { ToolCredentials } from '../../../contracts/ports/agents/tools.js';
import type { EndedBy } from '../../../contracts/schemas/agent-tests.js';
import { Conversation } from '../conversations/conversation.js';
import type { ConversationParts } from '../conversations/conversation-parts.js';
import { CALL_SPEECH } from '../conversations/call-speech.js';
import { DEAF, SILENT_VOICE } from '../conversations/writing/silent-voice.js';
import { TextCall } from '../conversations/writing/text-call.js';
import { waitedFor } from '../conversations/writing/waited-for.js';
import type { SimulatedUser } from './simulated-user.js';
import { mcpFor, standInFor } from './stand-ins.js';

export interface TestedAgentParts {
  readonly models: AgentModels;
  readonly knowledge: KnowledgeSearch;
  readonly outbound: Outbound;
  readonly credentials: ToolCredentials;
  readonly mcp: OpenMcp;
  readonly agents: Pick<PublishedAgents, 'version'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface ConversationOutcome {
  /** In the order in which they happened. */
  readonly items: readonly SessionItem[];
  readonly endedBy: EndedBy;
  /** For conversations by voice: the call, and the items with the words as heard, which rules use instead of `items`. */
  readonly call?: VoiceTestReport;
  readonly heard?: readonly SessionItem[];
}

/** Usage of tests is not counted. */
const UNCOUNTED = { count: () => Promise.resolve(0) };

/**
 * Without media, a whole conversation takes milliseconds. This clock's `now` grows with each call, so that the transcript
 * keeps its order.
 */
function ticking(clock: Clock): Clock {
  let last = 0;
  return { ...clock, now: () => (last = Math.max(clock.now(), last + 1)) };
}

const inOrder = (items: readonly SessionItem[]): readonly SessionItem[] =>
  [...items].sort((one, other) => one.createdAt.getTime() - other.createdAt.getTime());

function hosted(
  { plan, workspaceId, definition, agent, runId, place }: QueuedTest,
  parts: TestedAgentParts,
  items: SessionItem[],
) {
  const { log, agents, models, knowledge, outbound, credentials, mcp } = parts;
  const caller: Caller = { workspaceId, keyId: 'test' };
  const voice = { speech: SILENT_VOICE, options: CALL_SPEECH, caller, substituted: () => undefined };
  const { speaking_language: language } = plan.config.voice;
  const standIn = standInFor(definition);
  // There is no session that could have an id.
  const user = { agentId: agent.id, sessionId: `${runId}_${place}`, endUserId: null };
  return {
    clock: ticking(parts.clock),
    log,
    agent: {
      agents,
      drafts: false,
      voice: () => voice,
      model: (asked) => models.modelOf(asked, user),
    },
    listening: { transcription: DEAF, model: DEFAULT_TRANSCRIPTION_MODEL, caller, language },
    thinking: { knowledge, tokens: UNCOUNTED },
    tools: {
      outbound,
      credentials,
      mcp: mcpFor(definition, plan, mcp),
      standIn: (tool) => waitedFor(standIn(tool)),
    },
    append: (added) => {
      items.push(...added);
      return Promise.resolve();
    },
    keepTurn: () => Promise.resolve(),
    turnOver: () => undefined,
    activate: () => Promise.resolve(true),
    end: () => Promise.resolve(),
  } satisfies ConversationParts;
}

/** Takes turns with the agent. Returns why the user's side ended it; undefined if the agent did. */
async function talk(
  call: TextCall,
  user: SimulatedUser,
  { items, most }: { readonly items: readonly SessionItem[]; readonly most: number },
  signal: AbortSignal,
): Promise<EndedBy | undefined> {
  for (let turns = 0; await call.untilListening(); turns += 1) {
    const line = await call.thinking(user.next(inOrder(items), signal));
    if (line === undefined || turns === most) {
      call.hangUp();
      return line === undefined ? 'user' : 'turn_limit';
    }
    await call.say(line);
  }
  return undefined;
}

const late = new Error('the scenario took too long');

/** Errors: those of the user's model; the signal's reason. */
export async function converse(
  test: QueuedTest,
  user: SimulatedUser,
  parts: TestedAgentParts,
  signal: AbortSignal,
): Promise<ConversationOutcome> {
  const { plan, workspaceId, definition } = test;
  const items: SessionItem[] = [];
  const call = new TextCall(parts.clock);
  const session = { record: { workspaceId }, plan };
  const conversation = new Conversation(call, session, hosted(test, parts, items));
  const limit = new AbortController();
  const stopTimer = parts.clock.after(definition.max_seconds * 1000, () => limit.abort(late));
  const either = AbortSignal.any([limit.signal, signal]);
  const stop = (): void => conversation.closedBy('session');
  either.addEventListener('abort', stop);
  try {
    if (either.aborted) stop();
    const said = { items, most: definition.max_turns };
    const ended = await talk(call, user, said, either).catch((error: unknown) => {
      if (!limit.signal.aborted) throw error;
      return undefined;
    });
    await conversation.over;
    signal.throwIfAborted();
    const agents = call.ended === 'agent_hangup' ? 'agent' : 'time_limit';
    return { items: inOrder(items), endedBy: limit.signal.aborted ? 'time_limit' : (ended ?? agents) };
  } finally {
    stopTimer();
    stop();
    await conversation.over;
  }
}
