/**
 * Takeover of a conversation whose process has died (ops/adr/0033-nodes.md): restores its state from the session's
 * record.
 */
import type { AgentSettings } from '../../../actors/agent/settings.js';
import { type Clock, onwards } from '../../../contracts/clock.js';
import { isPlainObject } from '../../../contracts/schemas/plain-object.js';
import type { PublishedAgents } from '../../../contracts/ports/agents/agents.js';
import type { ChatMessage } from '../../../contracts/ports/chat.js';
import { INIT_EVENT } from '../../../contracts/ports/sessions/conversation-init.js';
import type { RunningSession, SessionItem } from '../../../contracts/ports/sessions/sessions.js';
import { AgentInCharge, type HostedSession } from './agent-in-charge.js';
import { parseArguments } from './tools/arguments.js';
import { cutResult } from '../../../contracts/tools/cut.js';
import { isReading } from '../../../contracts/tools/request.js';
import type { Before, ToolCallStep, ToolOutcome } from './dialogue.js';
import { recoveryOf } from './settings.js';
import { HANG_UP, TRANSFER } from './tools/system-tools.js';
import { TOLD, undecided } from './tools/tool.js';

type Result = Extract<SessionItem, { readonly type: 'tool_result' }>;

/** The agents to whom the call was handed over, in order. */
const transfersOf = (items: readonly SessionItem[]): readonly string[] =>
  items.flatMap((item) => {
    if (item.type !== 'tool_result' || item.toolName !== TRANSFER || item.status !== 'completed') return [];
    const output = item.toolSource === 'builtin' ? parseArguments(item.output) : undefined;
    return isPlainObject(output) && typeof output['agent_id'] === 'string' ? [output['agent_id']] : [];
  });

/** Puts the agent in charge that had the call when its process died: the last it was handed over to, or the first one. */
export async function withAgentInCharge(
  session: RunningSession,
  agents: Pick<PublishedAgents, 'version'>,
): Promise<RunningSession> {
  const targets = transfersOf(session.said ?? []);
  if (targets.length === 0) return session;
  const without = (): never => undefined as never;
  const agent = new AgentInCharge(session, { agents, drafts: false, voice: without, model: without });
  const { signal } = new AbortController();
  for (const target of targets) await agent.handOver(target, signal);
  return { ...session, inCharge: agent.plan };
}

/** Times of what is recorded: after all that was said before, whatever the clock of the process that died, or this one's. */
export function timesAfter(said: readonly SessionItem[] = [], clock: Pick<Clock, 'now'>): () => Date {
  const now = onwards(() => clock.now(), Math.max(...said.map(({ createdAt }) => createdAt.getTime())));
  return () => new Date(now());
}

type Passed = Pick<HostedSession, 'record' | 'lastedMs'>;

/** Milliseconds that the call has lasted: as its owners measured, else by the wall clock, which may have been set. */
export const passedMs = ({ record: { startedAt }, lastedMs }: Passed, now: Date): number =>
  lastedMs ?? (startedAt ? Math.max(0, now.getTime() - startedAt.getTime()) : 0);

/** How the agent begins: with its opening, or, after a takeover, with its recovery line and the time that is left. */
export function beginningOf(session: HostedSession, settings: AgentSettings, now: Date): AgentSettings {
  const { plan, inCharge = plan, said } = session;
  if (!said) return settings;
  const text = session.returned ? '' : recoveryOf(inCharge.config);
  return {
    ...settings,
    opening: text === '' ? { mode: 'off' } : { mode: 'fixed', text },
    maxDurationMs: Math.max(0, settings.maxDurationMs - passedMs(session, now)),
  };
}

/** Segment numbers that the client has not been shown yet: there are fewer than ten segments a second. */
export function firstSegments(session: HostedSession, now: Date) {
  const first = session.said ? 1 + Math.ceil(passedMs(session, now) / 100) : 1;
  return { user: first, agent: first };
}

const answerOf = ({ status, output, error }: Result): string =>
  status === 'completed' ? output : JSON.stringify({ error });

const LOST = undecided('The connection to the tool was lost').output;
/** Tools of ours whose effect can be seen: it did not happen. */
const SEEN: ReadonlySet<string> = new Set([TRANSFER, HANG_UP]);

/** ToolCallStep that ran when the process died, and may have had their effect. */
export function lostCalls({ plan, inCharge = plan, said = [] }: HostedSession): readonly ToolOutcome[] {
  const answered = new Set(said.flatMap((item) => (item.type === 'tool_result' ? [item.callId] : [])));
  const lookups = inCharge.tools.filter(({ definition }) => isReading(definition));
  const harmless = new Set([...SEEN, ...lookups.map(({ functionName }) => functionName)]);
  return said
    .filter((item) => item.type === 'tool_call')
    .filter(({ callId, toolName }) => !answered.has(callId) && !harmless.has(toolName))
    .map(({ callId, toolName, toolSource }) => ({
      callId,
      toolName,
      toolSource,
      status: 'failed',
      output: '',
      outputTruncated: false,
      error: LOST,
      latencyMs: 0,
    }));
}

/** State of the dialogue, from its record. */
export const before = (items: readonly SessionItem[] = []): Before => ({
  told: toldOf(items),
  turns: items.reduce((most, { turnId }) => Math.max(most, turnId), 0),
  calls: items.filter(({ type }) => type === 'tool_call').length,
});

function toldOf(items: readonly SessionItem[]): readonly (ChatMessage | ToolCallStep)[] {
  const told: (ChatMessage | ToolCallStep)[] = [];
  const byCall = new Map<string, ToolCallStep>();
  for (const item of items) {
    if (item.type === 'message') {
      const { role, content, filler, background, echo } = item;
      if (!filler && !background && !echo) told.push({ role, content });
    } else if (item.type === 'tool_call') {
      if (item.toolName === INIT_EVENT) continue;
      const { callId: id, toolName: name, input } = item;
      const step: ToolCallStep = {
        role: 'calls',
        content: '',
        calls: [{ id, name, arguments: input }],
        told: new Map(),
      };
      byCall.set(id, step);
      told.push(step);
    } else if (item.type === 'tool_result')
      byCall.get(item.callId)?.told.set(item.callId, cutResult(answerOf(item), TOLD));
  }
  return told;
}
