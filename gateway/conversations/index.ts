/**
 * All conversations of one process: begun when a session is joined, ended by whoever ends them, and by nobody twice.
 * A session that another process has ended is ended here as well.
 */
import type { Clock } from '../../contracts/clock.js';
import type { Log } from '../../contracts/log.js';
import { LIMITS } from '../../contracts/limits.js';
import { DEFAULT_SYNTHESIS_MODEL, DEFAULT_TRANSCRIPTION_MODEL } from '../../contracts/models.js';
import type { Call, Calls, SignalEnd } from '../../contracts/ports/calls.js';
import type { ChatModel } from '../../contracts/ports/chat.js';
import type { Conversations } from '../../contracts/ports/conversations.js';
import type { Admission, Caller } from '../../contracts/ports/identity.js';
import type { JoinTokens } from '../../contracts/ports/join-tokens.js';
import type { KnowledgeSearch } from '../../contracts/ports/knowledge.js';
import type { Outbound } from '../../contracts/ports/outbound.js';
import type { RunningSession, SessionRuns } from '../../contracts/ports/sessions.js';
import type { Speech, SpeechOptions, Transcription } from '../../contracts/ports/speech.js';
import type { ToolCredentials } from '../../contracts/ports/tools.js';
import { Conversation, type ConversationParts } from './conversation.js';
import { PLAYOUT_RATE } from './utterance.js';

export interface ConversationsParts {
  readonly calls: Calls;
  readonly runs: SessionRuns;
  readonly joinTokens: JoinTokens;
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

export interface HeldConversations extends Conversations {
  /** How many live here. */
  readonly live: number;
  /** Ends all of them, once they have had `graceMs` to end by themselves. */
  stop(graceMs: number): Promise<void>;
}

/** Who the user is to LiveKit's clients; the agent's name is for people. */
export const IDENTITIES = { user: 'user', agent: 'agent' } as const;

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

interface Held {
  readonly call: Call;
  readonly conversation: Conversation;
  /** Signalling connections that are open. */
  links: number;
  /** Whether the session goes on without this conversation. */
  abandoned: boolean;
  /** When the user was connected first. */
  since: number | undefined;
}

export function createConversations(parts: ConversationsParts): HeldConversations {
  const held = new Map<string, Held>();
  const returning = new Map<string, Promise<void>>();
  const stopListening = parts.runs.onEnded((id) => held.get(id)?.conversation.end('ended_by_api'));

  function partsOf({ record, plan }: RunningSession, entry: () => Held): ConversationParts {
    const { runs, clock, log, transcription, chat, knowledge, outbound, credentials, speech } = parts;
    const caller: Caller = { workspaceId: record.workspaceId, keyId: 'session' };
    return {
      clock,
      log,
      voice: { speech, options: voiceOptions(plan), caller },
      listening: {
        transcription,
        model: DEFAULT_TRANSCRIPTION_MODEL,
        caller,
        language: plan.config.voice.speaking_language,
      },
      thinking: { chat, knowledge },
      tools: { outbound, credentials },
      append: (items) => runs.append(record.id, items),
      activate() {
        entry().since = clock.monotonic();
        return runs.activate(record.id);
      },
      async end(reason) {
        const { since, abandoned } = entry();
        if (since !== undefined)
          parts.admission.use(record.workspaceId, 'conversation_ms', Math.round(clock.monotonic() - since));
        if (!abandoned) await runs.end(record.id, reason);
      },
    };
  }

  function begin(session: RunningSession): void {
    const { id, agentName } = session.record;
    if (held.has(id)) return;
    const abort = new AbortController();
    const expiresAt = new Date(
      parts.clock.now() + session.plan.maxDurationSeconds * 1000 + LIMITS.session.goneMs,
    );
    const call = parts.calls.open(
      {
        sessionId: id,
        user: { identity: IDENTITIES.user, name: '' },
        agent: { identity: IDENTITIES.agent, name: agentName },
        rotatedToken: () =>
          parts.joinTokens.issue({ sessionId: id, identity: IDENTITIES.user, use: 'rejoin' }, expiresAt),
        record: session.plan.recordAudio,
      },
      abort.signal,
    );
    const conversation = new Conversation(
      call,
      session,
      partsOf(session, () => entry),
    );
    const entry: Held = { call, conversation, links: 0, abandoned: false, since: undefined };
    held.set(id, entry);
    void conversation.over.then(() => held.get(id) === entry && held.delete(id));
  }

  /**
   * A client that goes before its media is up may have no token to return with: it may use the first one again. Whoever
   * returns begins anew, here or in another process.
   */
  function giveBack(id: string, entry: Held): void {
    entry.abandoned = true;
    entry.conversation.end('error');
    held.delete(id);
    const given = parts.runs
      .unjoin(id)
      .catch((error: unknown) => parts.log.warn({ err: error }, 'a token was not given back'))
      .finally(() => returning.delete(id));
    returning.set(id, given);
  }

  return {
    get live() {
      return held.size;
    },
    holds: (id) => held.get(id)?.conversation.ending === false,
    settled: (id) => returning.get(id) ?? Promise.resolve(),
    begin,
    connect(id, how, link): SignalEnd | undefined {
      const entry = held.get(id);
      if (!entry || entry.conversation.ending) return undefined;
      const end = entry.call.connect(how, link);
      entry.links += 1;
      return {
        receive: (frame) => end.receive(frame),
        closed() {
          end.closed();
          entry.links -= 1;
          const goes = entry.links === 0 && entry.since === undefined && held.get(id) === entry;
          if (goes) giveBack(id, entry);
        },
      };
    },
    async stop(graceMs) {
      const over = () => Promise.all([...held.values()].map(({ conversation }) => conversation.over));
      const stopTimer = parts.clock.after(graceMs, () => {
        for (const { conversation } of held.values()) conversation.end('error');
      });
      await over();
      stopTimer();
      stopListening();
      await Promise.all(returning.values());
    },
  };
}
