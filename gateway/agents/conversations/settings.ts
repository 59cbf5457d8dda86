/** Derives an agent's behaviour from its published configuration (docs/contract/platform.md 6.3). */
import type { AgentSettings, Opening } from '../../../actors/agent/settings.js';
import { speaksFirst } from '../../../contracts/schemas/agent-config.js';
import type { SessionPlan } from '../../../contracts/ports/sessions/sessions.js';
import type { Detector, TurnListening } from '../../../contracts/ports/speech/turns.js';
import { fillerIn, recoveryIn } from './lines.js';

function openingOf({ config: { prompt } }: SessionPlan): Opening {
  const { first_message_mode: mode, first_message: text } = prompt;
  if (mode === 'prompt') return { mode };
  return mode === 'fixed' && speaksFirst({ prompt }) ? { mode, text } : { mode: 'off' };
}

/** The agent's sentence while tools take long; empty for none. */
export function fillerOf({ tools, voice }: SessionPlan['config']): string {
  if (tools.filler_mode === 'auto') return fillerIn(voice.speaking_language);
  return tools.filler_mode === 'fixed' ? tools.filler_message.trim() : '';
}

/** The agent's sentence when the call continues after its node was lost; empty for none. */
export function recoveryOf({ conversation, voice }: SessionPlan['config']): string {
  const { recovery_mode: mode, recovery_message: text } = conversation;
  if (mode === 'auto') return recoveryIn(voice.speaking_language);
  return mode === 'fixed' ? text.trim() : '';
}

/** The detector of the ends of the user's turns: the agent's choice, but always the tables if no model listens. */
function detectorOf({ config }: SessionPlan, usual: TurnListening['detector'] | undefined): Detector {
  const wanted = config.conversation.turn_detector;
  if (usual === undefined) return 'tables';
  return wanted === 'auto' ? usual : wanted;
}

/** What the gateway's own settings say about every agent. */
export interface GatewayTurns {
  /** The gateway's own detector; undefined if it has no model that listens. */
  readonly detector?: TurnListening['detector'] | undefined;
  /** Whether agents may draft answers. */
  readonly drafts: boolean;
}

/** The silence that ends a call. */
function silenceOf({ hangup_after_seconds: seconds }: SessionPlan['config']['conversation']) {
  return seconds === null ? undefined : seconds * 1000;
}

export const settingsOf = (plan: SessionPlan, gateway: GatewayTurns): AgentSettings => ({
  opening: openingOf(plan),
  detector: detectorOf(plan, gateway.detector),
  eagerness: plan.config.conversation.eagerness,
  drafts: gateway.drafts && plan.config.conversation.drafts,
  interruptible: plan.config.conversation.interruptible,
  sensitivity: plan.config.conversation.interruption_sensitivity,
  reengage: plan.config.conversation.reengage_enabled,
  hangUpAfterMs: silenceOf(plan.config.conversation),
  saysGoodbye: plan.config.conversation.hangup_farewell_enabled,
  hangsUp: plan.config.tools.system_tools.hang_up_call,
  fills: fillerOf(plan.config) !== '',
  maxDurationMs: plan.maxDurationSeconds * 1000,
  language: plan.config.voice.speaking_language,
});
