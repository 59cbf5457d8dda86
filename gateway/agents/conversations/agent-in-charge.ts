/**
 * The agent that talks now: its plan, its voice, its model and its lines. Another one of the same workspace takes its place when the
 * model hands the call over (docs/contract/platform.md 6.5).
 */
import type { Excuse } from '../../../actors/agent/events.js';
import type { AgentSettings } from '../../../actors/agent/settings.js';
import { takenOver } from '../../../contracts/agents/plan.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Language } from '../../../contracts/speech/languages.js';
import type { AgentChanges } from '../../../contracts/ports/calls/agent-changes.js';
import type { PublishedAgents } from '../../../contracts/ports/agents/agents.js';
import type { ChatModel } from '../../../contracts/ports/chat.js';
import type {
  RunningSession,
  SessionPlan,
  SessionRecord,
} from '../../../contracts/ports/sessions/sessions.js';
import type { TurnListening } from '../../../contracts/ports/speech/turns.js';
import { apologyIn, excuseIn, goodbyeIn, greetingIn, notUnderstoodIn, warningIn } from './lines.js';
import type { ListeningSettings } from './listening/listening.js';
import { languagesOf, type SpeakerOf, spokenIn } from './hearing/spoken-language.js';
import { reachableFrom } from './tools/reachable.js';
import { fillerOf, settingsOf } from './settings.js';
import type { AgentVoice } from './utterance.js';

/** A session as its conversation knows it; that of a test has no record. */
export interface HostedSession extends Omit<RunningSession, 'record'> {
  readonly record: Pick<SessionRecord, 'workspaceId'> &
    Partial<Pick<SessionRecord, 'id' | 'agentId' | 'startedAt'>>;
}

export interface AgentInChargeParts {
  readonly agents: Pick<PublishedAgents, 'version'>;
  /** Whether agents may ask the model for drafts of answers. */
  readonly drafts: boolean;
  voice(plan: SessionPlan): AgentVoice;
  /** Who speaks that language: the agent's voice, else the default one. Absent: its own does. Never rejects. */
  speakerOf?(plan: SessionPlan, language: Language): Promise<SpeakerOf>;
  model(plan: SessionPlan): ChatModel;
}

/** The plan as the client of its call has changed it. */
export function amended(
  plan: SessionPlan,
  { tools, instructions, eagerness, interruptible }: AgentChanges,
): SessionPlan {
  const { prompt, conversation } = plan.config;
  const config = {
    ...plan.config,
    prompt: { ...prompt, ...(instructions !== undefined && { system_prompt: instructions }) },
    conversation: {
      ...conversation,
      ...(eagerness && { eagerness }),
      ...(interruptible !== undefined && { interruptible }),
    },
  };
  return { ...plan, config, ...(tools && { clientTools: tools }) };
}

export class AgentInCharge {
  /** As it is configured, in its own language. */
  #own: SessionPlan;
  /** In the language of the call. */
  #plan: SessionPlan;
  /** That the caller has changed to; undefined: none. */
  #spoken: Language | undefined;
  /** Who speaks its other languages, as far as that is known. */
  #speakers = new Map<Language, SpeakerOf>();
  #voice: AgentVoice;
  #model: ChatModel;
  #transfers = 0;
  #changes: AgentChanges = {};

  constructor(
    private readonly session: HostedSession,
    private readonly parts: AgentInChargeParts,
    /** The gateway's detector, if it has a model that listens. */
    private readonly usualDetector?: TurnListening['detector'],
  ) {
    this.#own = session.inCharge ?? session.plan;
    this.#spoken = session.language;
    this.#plan = this.#inLanguage();
    this.#voice = parts.voice(this.#plan);
    this.#model = parts.model(this.#plan);
    this.#askVoice();
  }

  get plan(): SessionPlan {
    return this.#plan;
  }

  get voice(): AgentVoice {
    return this.#voice;
  }

  get model(): ChatModel {
    return this.#model;
  }

  get settings(): AgentSettings {
    return settingsOf(this.#plan, { detector: this.usualDetector, drafts: this.parts.drafts });
  }

  get listening(): ListeningSettings {
    const { detector } = this.settings;
    const { noise_reduction: reducesNoise } = this.#plan.config.conversation;
    return { language: this.language, languages: this.languages, detector, reducesNoise };
  }

  get language() {
    return this.#plan.config.voice.speaking_language;
  }

  /** Those in which it hears the user, its own first. */
  get languages() {
    return languagesOf(this.#own.config.voice);
  }

  get lines() {
    return {
      excuse: this.#excuses,
      warning: warningIn(this.language),
      goodbye: goodbyeIn(this.language),
      filler: fillerOf(this.#plan.config),
    };
  }

  /** The lines that may be due at any moment. */
  get linesAtHand(): readonly string[] {
    const { filler, warning, goodbye } = this.lines;
    const { hangUpAfterMs, saysGoodbye } = this.settings;
    const { answer, opener, understood, apology } = this.#excuses;
    const farewell = hangUpAfterMs !== undefined && saysGoodbye ? [goodbye] : [];
    return [filler, answer, understood, apology, warning, opener, ...farewell];
  }

  /** What the agent says in place of an answer. */
  get #excuses(): Readonly<Record<Excuse, string>> {
    const { first_message: greeting } = this.#plan.config.prompt;
    return {
      answer: excuseIn(this.language),
      opener: greeting.trim() || greetingIn(this.language),
      understood: notUnderstoodIn(this.language),
      apology: apologyIn(this.language),
    };
  }

  /** Changes what the client may change of it; its instructions end with a hand-over. */
  amend(changes: AgentChanges): void {
    this.#changes = { ...this.#changes, ...changes };
    this.#own = amended(this.#own, this.#changes);
    this.#plan = this.#inLanguage();
  }

  /** The caller has changed to that language: everything that it says is in it from now on. False if no engine speaks it. */
  speakIn(language: Language): boolean {
    if (this.#speakers.get(language) === 'nobody') return false;
    this.#spoken = language;
    this.#plan = this.#inLanguage();
    this.#voice = this.parts.voice(this.#plan);
    return true;
  }

  /** The plan in the language of the call, if that is one of the agent's. */
  #inLanguage(): SessionPlan {
    const { voice } = this.#own.config;
    const language = this.#spoken;
    if (language === undefined || !languagesOf(voice).includes(language)) return this.#own;
    return spokenIn(this.#own, language, this.#speakers.get(language) ?? 'default');
  }

  /** Asks in advance who speaks its other languages: the caller does not wait for that when they change. */
  #askVoice(): void {
    const [, ...others] = this.languages;
    const speakers = (this.#speakers = new Map<Language, SpeakerOf>());
    for (const language of others)
      void this.parts.speakerOf?.(this.#own, language).then((found) => speakers.set(language, found));
  }

  /** Lets another agent take over. Resolves to the reason of a refusal, as text for the model; undefined if it took over. */
  async handOver(agentId: string, signal: AbortSignal): Promise<string | undefined> {
    const plan = this.#plan;
    const target = reachableFrom(plan).find((agent) => agent.agentId === agentId);
    if (!target) return 'There is no such agent to transfer to';
    if (this.#transfers >= LIMITS.session.transfers) return 'The call has been transferred too often already';
    const { workspaceId } = this.session.record;
    const found = await this.parts.agents.version(agentId, workspaceId, target.versionNumber);
    if (!found?.version || found.agent.status === 'archived') return 'This agent takes no calls any more';
    const next = takenOver(plan, agentId, found.version);
    if (!next) return 'This agent cannot take this call';
    if (signal.aborted) return 'The call was cancelled';
    // A model may call the tool twice in one step.
    if (this.#plan !== plan) return 'The call has been handed over already';
    this.#transfers += 1;
    const { instructions: _of, ...changes } = this.#changes;
    this.#changes = changes;
    this.#own = amended(next, changes);
    this.#plan = this.#inLanguage();
    this.#voice = this.parts.voice(this.#plan);
    this.#model = this.parts.model(this.#plan);
    this.#askVoice();
    return undefined;
  }
}
