/**
 * All conversations of one process, whatever carries them: ended by whoever ends them, and by nobody twice. A session
 * that another process has ended is ended here as well.
 */
import type { EndReason } from '../../actors/agent/events.js';
import { PLAYOUT_RATE } from '../../contracts/audio.js';
import type { Clock } from '../../contracts/clock.js';
import type { Log } from '../../contracts/log.js';
import { DEFAULT_SYNTHESIS_MODEL, DEFAULT_TRANSCRIPTION_MODEL } from '../../contracts/models.js';
import type { Call } from '../../contracts/ports/calls.js';
import type { ChatModel } from '../../contracts/ports/chat.js';
import type { Admission, Caller } from '../../contracts/ports/identity.js';
import type { KnowledgeSearch } from '../../contracts/ports/knowledge.js';
import type { Outbound } from '../../contracts/ports/outbound.js';
import type { EndedReason, RunningSession, SessionRuns } from '../../contracts/ports/sessions.js';
import type { Speech, SpeechOptions, Transcription } from '../../contracts/ports/speech.js';
import type { ToolCredentials } from '../../contracts/ports/tools.js';
import { Conversation, type ConversationParts } from './conversation.js';

export interface LiveParts {
  readonly runs: SessionRuns;
  readonly speech: Speech;
  readonly transcription: Transcription;
  readonly chat: ChatModel;
  readonly knowledge: KnowledgeSearch;
  readonly outbound: Outbound;
  readonly credentials: ToolCredentials;
  readonly admission: Pick<Admission, 'use'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The default voice has several names in configurations, and none here. */
const DEFAULT_VOICES = new Set(['', 'default']);
/** Pieces of this length begin soon and still sound whole. */
const PIECE_CHARACTERS = 200;

const voiceOptions = ({ config }: RunningSession['plan']): SpeechOptions => ({
  model: DEFAULT_SYNTHESIS_MODEL,
  voice: DEFAULT_VOICES.has(config.voice.voice_id) ? '' : config.voice.voice_id,
  language: config.voice.speaking_language,
  references: [],
  output: { format: 'pcm', sampleRate: PLAYOUT_RATE },
  latency: 'low',
  speed: 1,
  volume: 0,
  normalizeLoudness: false,
  chunkLength: PIECE_CHARACTERS,
  sampling: {},
});

/** One conversation, and what it owes its session. */
export class LiveConversation {
  readonly #conversation: Conversation;
  /** When the user was connected first. */
  #since: number | undefined;
  #abandoned = false;

  constructor(
    call: Call,
    private readonly session: RunningSession,
    private readonly parts: LiveParts,
    /** The user is connected for the first time; false where the session has ended meanwhile. */
    private readonly activate: () => Promise<boolean>,
  ) {
    this.#conversation = new Conversation(call, session, this.#hosted());
  }

  /** Whether the user was ever connected. */
  get begun(): boolean {
    return this.#since !== undefined;
  }

  get ending(): boolean {
    return this.#conversation.ending;
  }

  get over(): Promise<void> {
    return this.#conversation.over;
  }

  end(reason: EndReason): void {
    this.#conversation.end(reason);
  }

  /** Ends, and the session goes on without it. */
  abandon(): void {
    this.#abandoned = true;
    this.end('error');
  }

  #hosted(): ConversationParts {
    const { parts, session } = this;
    const { runs, clock, log, transcription, chat, knowledge, outbound, credentials, speech } = parts;
    const caller: Caller = { workspaceId: session.record.workspaceId, keyId: 'session' };
    const { speaking_language: language } = session.plan.config.voice;
    return {
      clock,
      log,
      voice: {
        speech,
        options: voiceOptions(session.plan),
        caller,
        substituted: () =>
          log.warn({ session: session.record.id }, 'an agent’s voice is gone: the default speaks'),
      },
      listening: { transcription, model: DEFAULT_TRANSCRIPTION_MODEL, caller, language },
      thinking: { chat, knowledge },
      tools: { outbound, credentials },
      append: (items) => runs.append(session.record.id, items),
      activate: () => {
        this.#since = clock.monotonic();
        return this.activate();
      },
      end: (reason) => this.#settle(reason),
    };
  }

  async #settle(reason: EndedReason): Promise<void> {
    const { admission, clock, runs } = this.parts;
    const { id, workspaceId } = this.session.record;
    if (this.#since !== undefined)
      admission.use(workspaceId, 'conversation_ms', Math.round(clock.monotonic() - this.#since));
    if (!this.#abandoned) await runs.end(id, reason);
  }
}

export class LiveConversations {
  readonly #live = new Map<string, LiveConversation>();
  readonly #stopListening: () => void;

  constructor(private readonly parts: LiveParts) {
    this.#stopListening = parts.runs.onEnded((id) => this.find(id)?.end('ended_by_api'));
  }

  find(id: string): LiveConversation | undefined {
    return this.#live.get(id);
  }

  /** Nothing of that session may be live here. */
  begin(call: Call, session: RunningSession, activate: () => Promise<boolean>): LiveConversation {
    const { id } = session.record;
    const live = new LiveConversation(call, session, this.parts, activate);
    this.#live.set(id, live);
    void live.over.then(() => this.forget(id, live));
    return live;
  }

  forget(id: string, live: LiveConversation): void {
    if (this.#live.get(id) === live) this.#live.delete(id);
  }

  /** Ends all of them, once they have had `graceMs` to end by themselves. */
  async stop(graceMs: number): Promise<void> {
    const stopTimer = this.parts.clock.after(graceMs, () => {
      for (const live of this.#live.values()) live.end('error');
    });
    await Promise.all([...this.#live.values()].map(({ over }) => over));
    stopTimer();
    this.#stopListening();
  }
}
