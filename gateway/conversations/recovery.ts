/**
 * Takeover of a conversation whose process has died (ops/adr/0033-nodes.md): restores its state from the session's
 * record.
 */
import type { AgentSettings } from '../../actors/agent/settings.js';
import { type Clock, onwards } from '../../contracts/clock.js';
import { isPlainObject } from '../../contracts/schemas/plain-object.js';
import type { PublishedAgents } from '../../contracts/ports/agents/agents.js';
import type { ChatMessage } from '../../contracts/ports/chat.js';
import type { RunningSession, SessionItem } from '../../contracts/ports/sessions/sessions.js';
import { AgentInCharge, type AgentParts, type HostedSession } from './agent-in-charge.js';
import { parseArguments } from './tools/arguments.js';
import type { Before, Calls } from './dialogue.js';
import { recoveryOf } from './settings.js';
import { TRANSFER } from './tools/system-tools.js';
import { TOLD } from './tools/tool.js';

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
  const silent = (): ReturnType<AgentParts['voice']> => undefined as never;
  const agent = new AgentInCharge(session, { agents, voice: silent });
  const { signal } = new AbortController();
  for (const target of targets) await agent.handOver(target, signal);
  return { ...session, inCharge: agent.plan };
}

/** Times of what is recorded: after all that was said before, whatever the clock of the process that died, or this one's. */
export function timesAfter(said: readonly SessionItem[] = [], clock: Pick<Clock, 'now'>): () => Date {
  const now = onwards(() => clock.now(), Math.max(...said.map(({ createdAt }) => createdAt.getTime())));
  return () => new Date(now());
}

/** How the agent begins: with its opening, or, after a takeover, with its recovery line and the time that is left. */
export function beginningOf(session: HostedSession, settings: AgentSettings, now: Date): AgentSettings {
  const { record, plan, inCharge = plan, said, lastedMs } = session;
  if (!said) return settings;
  const text = session.returned ? '' : recoveryOf(inCharge.config);
  const passed = lastedMs ?? (record.startedAt ? now.getTime() - record.startedAt.getTime() : 0);
  return {
    ...settings,
    opening: text === '' ? { mode: 'off' } : { mode: 'fixed', text },
    maxDurationMs: Math.max(0, settings.maxDurationMs - passed),
  };
}

/** Segment numbers that the client has not been shown yet: there are fewer than ten segments a second. */
export function firstSegments({ record: { startedAt }, said }: HostedSession, now: Date) {
  const first =
    said && startedAt ? 1 + Math.max(0, Math.ceil((now.getTime() - startedAt.getTime()) / 100)) : 1;
  return { user: first, agent: first };
}

const answerOf = ({ status, output, error }: Result): string =>
  status === 'completed' ? output : JSON.stringify({ error });

/** State of the dialogue, from its record. */
export const before = (items: readonly SessionItem[] = []): Before => ({
  told: toldOf(items),
  turns: items.reduce((most, { turnId }) => Math.max(most, turnId), 0),
  calls: items.filter(({ type }) => type === 'tool_call').length,
});

function toldOf(items: readonly SessionItem[]): readonly (ChatMessage | Calls)[] {
  const told: (ChatMessage | Calls)[] = [];
  const byCall = new Map<string, Calls>();
  for (const item of items) {
    if (item.type === 'message') {
      const { role, content, filler, background, echo } = item;
      if (!filler && !background && !echo) told.push({ role, content });
    } else if (item.type === 'tool_call') {
      const { callId: id, toolName: name, input } = item;
      const step: Calls = {
        role: 'calls',
        content: '',
        calls: [{ id, name, arguments: input }],
        told: new Map(),
      };
      byCall.set(id, step);
      told.push(step);
    } else byCall.get(item.callId)?.told.set(item.callId, answerOf(item).slice(0, TOLD));
  }
  return told;
}
