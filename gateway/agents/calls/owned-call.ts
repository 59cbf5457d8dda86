/** One call that this process owns: its conversation, and what its session is told of it. */
import type { Clock } from '../../../contracts/clock.js';
import type { Log } from '../../../contracts/log.js';
import type { Language } from '../../../contracts/speech/languages.js';
import { DEFAULT_TRANSCRIPTION_MODEL } from '../../../contracts/speech/models.js';
import type { PublishedAgents } from '../../../contracts/ports/agents/agents.js';
import type { Call } from '../../../contracts/ports/calls/calls.js';
import type { Admission, Caller } from '../../../contracts/ports/accounts/identity.js';
import type { AgentModels } from '../../../contracts/ports/agents/models.js';
import type { KnowledgeSearch } from '../../../contracts/ports/agents/knowledge.js';
import type { OpenMcp } from '../../../contracts/ports/agents/mcp.js';
import type { HeldLease } from '../../../contracts/ports/calls/nodes.js';
import type { Outbound } from '../../../contracts/ports/outbound.js';
import { askingFor, type Keeper, whomOf } from '../../../contracts/ports/parts.js';
import type { EndedReason, RunningSession, SessionRuns } from '../../../contracts/ports/sessions/sessions.js';
import type { Speech, SpeechOptions, Transcription } from '../../../contracts/ports/speech/speech.js';
import type { TokenCounter } from '../../../contracts/ports/tokens.js';
import type { AgentConfig } from '../../../contracts/schemas/agent-config.js';
import type { ToolCredentials } from '../../../contracts/ports/agents/tools.js';
import type { Briefing } from '../../../contracts/phone/transfers.js';
import type { TurnsInUse } from '../../../contracts/ports/speech/turns.js';
import type { ClosedBy } from '../conversations/closing.js';
import { type Carrier, CARRIERS, goesOn } from './carriers.js';
import type { CallMetrics } from './call-metrics.js';
import { CallTrace } from './call-trace.js';
import { FencedCall } from './fenced-call.js';
import { Conversation } from '../conversations/conversation.js';
import type { ConversationParts } from '../conversations/conversation-parts.js';
import { followsCues } from '../conversations/cues.js';
import type { SpeakerOf } from '../conversations/hearing/spoken-language.js';
import { pause } from '../conversations/record.js';
import { passedMs } from '../conversations/recovery.js';
import type { SpokenLines } from '../conversations/spoken-lines.js';
import { CALL_SPEECH } from '../conversations/call-speech.js';

export interface CallParts {
  readonly runs: SessionRuns;
  readonly speech: Pick<Speech, 'synthesizeTimed' | 'checkVoice'>;
  readonly transcription: Transcription;
  /** Undefined where nobody is heard. */
  readonly turns: TurnsInUse | undefined;
  readonly models: AgentModels;
  /** Whether agents may ask it for drafts of answers. */
  readonly drafts: boolean;
  readonly tokens: Pick<TokenCounter, 'countTokens'>;
  readonly knowledge: KnowledgeSearch;
  readonly outbound: Outbound;
  readonly credentials: ToolCredentials;
  readonly mcp: OpenMcp;
  readonly keeper: Keeper;
  /** In chats and tests: replaces tools. */
  readonly standIn?: NonNullable<ConversationParts['tools']['standIn']>;
  readonly agents: Pick<PublishedAgents, 'version'>;
  readonly admission: Pick<Admission, 'use'>;
  /** This process's right to act for its calls. */
  readonly held: HeldLease;
  /** Fixed lines of agents as sound. */
  readonly lines?: SpokenLines;
  readonly metrics: Pick<CallMetrics, 'started' | 'ended' | 'turn'>;
  readonly clock: Clock;
  readonly log: Log;
}

type VoiceSettings = AgentConfig['voice'];

/** The default voice has several names in configurations, and none here. */
const DEFAULT_VOICES = new Set(['', 'default']);

export const voiceOptions = ({
  voiceId,
  language,
}: Pick<Briefing, 'voiceId' | 'language'>): SpeechOptions => ({
  ...CALL_SPEECH,
  voice: DEFAULT_VOICES.has(voiceId) ? '' : voiceId,
  likelyLanguage: language,
});

/** Never rejects: where it cannot be told, the default voice speaks. */
async function speakerOf(
  voiceId: string,
  language: Language,
  speech: Pick<Speech, 'checkVoice'>,
  caller: Caller,
): Promise<SpeakerOf> {
  const { model } = CALL_SPEECH;
  const speaks = (voice: string): Promise<boolean> =>
    speech.checkVoice({ model, voice, language }, caller).then(
      () => true,
      () => false,
    );
  const { voice } = voiceOptions({ voiceId, language });
  if (await speaks(voice)) return 'own';
  return (await speaks('')) ? 'default' : 'nobody';
}

/** Interval and longest time of attempts to write the end of a session. */
const AGAIN_MS = 2000;
const TAKEN_MS = 600_000;

export class OwnedCall<Carried extends Carrier = Carrier> {
  readonly id: string;
  readonly #conversation: Conversation;
  /** When the user first connected, less the time of the call before a takeover. */
  #since: number | undefined;
  #trace: CallTrace | undefined;
  /** Id of the last recorded turn. */
  #turns = 0;
  /** The process is stopping: others will notice that it has gone. */
  #hurried = false;

  constructor(
    call: Call,
    readonly session: RunningSession,
    private readonly parts: CallParts,
    readonly carrier: Carried,
  ) {
    this.id = session.record.id;
    this.#conversation = new Conversation(new FencedCall(call, parts.held), session, this.#hosted());
  }

  /** Whether the user was ever connected. */
  get begun(): boolean {
    return this.#since !== undefined;
  }

  /** Whether it is ending: nobody may join it any more. */
  get ending(): boolean {
    return this.#conversation.ending;
  }

  /** Resolves when the call has ended and its record is kept. */
  get over(): Promise<void> {
    return this.#conversation.over;
  }

  /** Ends the call, unless it has ended; its session continues if no client has claimed it. Idempotent. */
  closedBy(cause: ClosedBy): void {
    if (cause === 'shutdown') this.#hurried = true;
    this.carrier.closing(cause);
    this.#conversation.closedBy(cause);
  }

  /** The user is connected for the first time. */
  #connected(): void {
    const { clock } = this.parts;
    const { said, returned } = this.session;
    // The time before a takeover was not counted by the owner that died.
    const before = said && !returned ? passedMs(this.session, new Date(clock.now())) : 0;
    this.#since = clock.monotonic() - before;
    this.#trace = new CallTrace(this.id, this.session.record.agentId, new Date(clock.now()));
    this.parts.metrics.started();
    this.parts.log.info(this.#who(), 'call started');
    this.carrier.connected();
  }

  /** Whose work in speech engines its own is. */
  #caller(): Caller {
    const { workspaceId, agentId } = this.session.record;
    const call = { sessionId: this.id, agentId };
    const { isLive } = CARRIERS[this.carrier.name];
    return { workspaceId, keyId: 'session', isLive, isCall: true, call };
  }

  /** How an agent with that voice speaks in this call. */
  #voiceOf({ voice_id: voiceId, speaking_language: language, expressive }: VoiceSettings, caller: Caller) {
    const { speech, log } = this.parts;
    const options = voiceOptions({ voiceId, language });
    return {
      speech,
      options,
      caller,
      ...(expressive && { cues: followsCues(speech, options, caller) }),
      substituted: () => log.warn({ session: this.id }, 'an agent’s voice is gone: the default speaks'),
    };
  }

  #hosted(): ConversationParts {
    const { parts, session, id } = this;
    const { runs, clock, log, transcription, models, knowledge, outbound, credentials, mcp, agents, speech } =
      parts;
    const { agentId, endUserId } = session.record;
    const caller = this.#caller();
    const whom = whomOf(caller);
    const { speaking_language: language } = (session.inCharge ?? session.plan).config.voice;
    return {
      clock,
      log,
      ...(parts.lines && { lines: parts.lines }),
      agent: {
        agents,
        drafts: parts.drafts,
        voice: ({ config: { voice } }) => this.#voiceOf(voice, caller),
        speakerOf: ({ config: { voice } }, spoken) => speakerOf(voice.voice_id, spoken, speech, caller),
        model: (plan) => models.modelOf(plan, { agentId, sessionId: id, endUserId }),
      },
      listening: {
        transcription,
        model: DEFAULT_TRANSCRIPTION_MODEL,
        caller,
        language,
        turns: parts.turns?.inUse,
      },
      thinking: {
        whom,
        knowledge,
        tokens: { count: (text) => parts.tokens.countTokens(text, caller) },
      },
      tools: {
        outbound,
        credentials,
        mcp,
        asks: askingFor(parts.keeper, whom),
        ...(parts.standIn && { standIn: parts.standIn }),
        ...this.carrier.line,
      },
      append: (items) => {
        this.#turns = Math.max(this.#turns, ...items.map(({ turnId }) => turnId));
        return runs.append(id, items);
      },
      keepTurn: (turn) => runs.keepTurn(id, turn),
      turnOver: (turn) => {
        parts.metrics.turn(turn);
        this.#trace?.turn(turn);
      },
      activate: () => {
        this.#connected();
        return this.carrier.activate();
      },
      end: (reason, cause) => this.#settle(reason, cause),
    };
  }

  async #settle(told: EndedReason, cause: ClosedBy | undefined): Promise<void> {
    const { admission, clock, runs, metrics, log } = this.parts;
    const reason = await this.carrier.endedFor(told);
    const without = goesOn(this.carrier, cause);
    // Each message of a chat is a trace of its own.
    if (cause === 'parked') this.#trace?.end(reason, new Date(clock.now()));
    if (this.#since !== undefined && without && cause !== 'connecting') metrics.ended(reason);
    else if (this.#since !== undefined) {
      const ms = Math.round(clock.monotonic() - this.#since);
      admission.use(this.session.record.workspaceId, 'conversation_ms', ms);
      metrics.ended(reason);
      this.#trace?.end(reason, new Date(clock.now()));
      log.info({ ...this.#who(), reason, ms, turns: this.#turns }, 'call ended');
    }
    const leaves = { kept: () => Promise.resolve(), released: () => this.carrier.release() };
    await this.#untilTaken(without ? leaves[without] : () => runs.finish(this.id, reason));
  }

  /** Waits for a database that is away: a session that nobody ends or releases would last for its longest duration. */
  async #untilTaken(write: () => Promise<unknown>): Promise<void> {
    const { clock, log } = this.parts;
    const end = clock.monotonic() + TAKEN_MS;
    for (;;) {
      try {
        await write();
        return;
      } catch (error) {
        if (this.#hurried || clock.monotonic() >= end) throw error;
        log.warn({ err: error, sessionId: this.id }, 'a session could not be ended yet');
        await pause(clock, AGAIN_MS);
      }
    }
  }

  /** Ids only: logs hold neither callers nor words. */
  #who() {
    const { id: sessionId, workspaceId, agentId, source } = this.session.record;
    return { sessionId, workspaceId, agentId, source, transport: CARRIERS[this.carrier.name].transport };
  }
}
